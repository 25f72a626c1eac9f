"""Find markup of text calls in a turn, and decide how certain the turn's meaning is then.

Models also write calls in their text, and engines leak the tokens of a template. The contract of
the API does not define which of it is a call, an example or a draft. If the request has tools, the
oracle therefore abstains on text, reasoning and calls of such a turn. The exception is text in
exactly the format of one text dialect: it is text, or calls. This module lists the text dialects a
second time, from the published chat templates, and more broadly than any reader finds them. It
shares no code with `text_calls`.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, get_args

import msgspec

from harness.dialects.kit.oracle.values import same_object
from harness.dialects.kit.oracle.written_calls import (
    WrittenReply,
    reply_in_reasoning,
    written_reply,
)
from harness.turns.deltas import FinishReason
from harness.turns.oracle_reading import CallReading, Deviation, OracleReading, Part

# Words in the names of XML-like tags, opening or closing, with a namespace or without.
_TAG_WORDS: Final = "tool|func|call|invoke|action|param|arg_|turn|escape"
_LABELS: Final = "(?:Action|Tool|Function)(?: Input| Args)?|Thought|Observation|Final Answer"
_THOUGHTS: Final = (
    r"(?:seed:|mm:|longcat_|ifm\|)?"
    "(?:think|thinking|thought|reasoning)(?::opensource|_fast(?:er)?)?"
)
_THINKING: Final = re.compile(rf"</?{_THOUGHTS}\b|\[/?THINK\]|\u25c1/?think", re.IGNORECASE)
_OPENER: Final = rf"(?:<{_THOUGHTS}>|\[THINK\]|\u25c1think\u25b7)"
_CLOSER: Final = rf"(?:</{_THOUGHTS}>|\[/THINK\]|\u25c1/think\u25b7)"
# A closing tag without an opening one closes what the template opened; the end closes the last.
_EACH_BLOCK: Final = re.compile(
    rf"{_OPENER}(.*?)(?:{_CLOSER}|\Z)|\A((?:(?!{_OPENER}).)*?){_CLOSER}", re.DOTALL | re.IGNORECASE
)
_FIRST_BLOCK: Final = re.compile(
    rf"\A(?:\s*{_OPENER}(.*?)(?:{_CLOSER}|\Z)|(.*?){_CLOSER})", re.DOTALL | re.IGNORECASE
)
_TAG: Final = re.compile(f"{_OPENER}|{_CLOSER}", re.IGNORECASE)
# Reasoning at the start of the text that is closed.
_THOUGHT: Final = re.compile(
    rf"\A\s*{_OPENER}(?:(?!{_OPENER}).)*?{_CLOSER}\s*", re.DOTALL | re.IGNORECASE
)
# Calls were announced and came in no field of the API: they may be those in the text.
_ANNOUNCED: Final = "FINISH-TOOLCALLS-WITHOUT-CALLS"
_BARS: Final = "|\uff5c\u2016"  # upright, full width, double
_MARKER: Final = re.compile(
    "|".join(
        (
            # A tag, perhaps cut: <tool_call>, <ns:invoke name=, <function=, <end_of_turn>
            rf"</?[\w:|-]{{0,40}}(?:{_TAG_WORDS})[\w-]{{0,40}}(?=[\s>=/]|\Z)",
            # A template's special token: <|python_tag|>, DeepSeek's and DSML's wide bars, Gemma's
            rf"</?[{_BARS}]",
            r"[\w\"'>\]][|]>",
            "[\u25c1\u25b7\u2581\u273f]|[<[]unused\\d|\\]<\\]|\\[>\\[",
            r"\[/?(?:TOOL_CALLS?|TOOL_REQUEST|END_TOOL_REQUEST|ARGS|CALL_ID)\b",
            r"\bto=functions\b|\bfunctions\.\w|\bfunctools\[|```tool_",
            # functionary's recipient on a line
            r">>>[\w.:/-]{1,128}(?:\s{0,8}\n|\Z)",
            # The labels of ReAct, each at the start of a line
            rf"(?:^|\n)[ \t>*_#]*(?:{_LABELS})[ \t*_]*:",
        )
    ),
    re.IGNORECASE,
)
# The tags of templates around the declarations of tools contain no call.
_DECLARATIONS: Final = re.compile("</?tools>")
# One tag, of which nothing is left if it is removed.
_MARK: Final = re.compile(rf"<[\w:-]{{0,40}}(?:{_TAG_WORDS})[\w-]{{0,40}}>", re.IGNORECASE)
_ARGUMENTS: Final = re.compile(r"[<{}()\[\]=:|]")
# JSON in a string has escaped quotes, with more escapes for each string around that.
_QUOTE = r'\\{0,15}"'
# Keys that make JSON a call, or the reply of a protocol whose replies are JSON.
_CALL_KEYS = "name|tool|tool_name|function|action|tool_calls|function_call"
_CALL_KEY_PATTERN = rf'"(?:{_CALL_KEYS}){_QUOTE}\s*:'
_CALL_KEY: Final = re.compile(_CALL_KEY_PATTERN)
# A structured answer may have the key `name`, too. It is a call only with arguments, or alone.
_NAME_KEY: Final = re.compile(rf'"name{_QUOTE}\s*:')
_ARGUMENT_KEY: Final = re.compile(
    rf'"(?:arguments|args|parameters|params|input|kwargs){_QUOTE}\s*:|\{{\s*"name{_QUOTE}[^,]*\Z'
)
_REPLY_KEY: Final = re.compile(rf'"(?:reasoning|content|text|response|result){_QUOTE}\s*:')
_DECODE: Final = json.JSONDecoder().raw_decode
# At the start of the reply, or right after its reasoning; perhaps in a code fence. Some clients
# take a byte order mark for white space.
_JSON_REPLY: Final = re.compile(
    r'(?:\A|think(?:ing|:opensource)?[>\u25b7]|THINK\])[\s\ufeff]*(?:(?:```|~~~)[^\n`]*\n\s*)?["{\[]'
)


def markup_readings(
    reading: OracleReading, names: frozenset[str], described: frozenset[str] | None
) -> Iterator[OracleReading]:
    """Yield the readings that markup of text calls admits; `reading` itself if it has no markup.

    A native call stays certain in two cases. Only the reasoning has markup, because a draft is not
    a call next to a call in the API's own field. Or the markup of the text is one opening tag
    alone.
    JSON or Python in the text next to native calls is text if the prompt describes no text dialect,
    except for clients that read bare JSON anywhere as calls.

    Args:
        reading: the reading of the body.
        names: the names of the tools; empty if they are not known.
        described: the text dialects that the prompt describes; None if the prompt is not known.
    """
    # Truncated JSON may lack the part with the key of a call.
    truncated = reading.error is not None or not reading.ended or not reading.finish
    # The action protocol does not define what a reply without an action means.
    is_asked = "action-protocol" in (described or ())
    any_json = truncated or (is_asked and _REPLY_KEY.search(reading.text) is not None)
    in_text = _may_contain_calls(reading.text, names, any_json=any_json)
    in_reasoning = _may_contain_calls(reading.reasoning, names, any_json=truncated)
    polluted = any(_is_polluted(call, names) for call in reading.calls or ())
    certain = not in_text or _is_bare_mark(reading.text, names)
    if not (in_text or polluted or in_reasoning) or (reading.calls and not polluted and certain):
        yield reading
        return
    where = "text" if in_text else "reasoning" if in_reasoning else "calls"
    abstained = _abstained(reading, f"markup in the {where}")
    written = [] if polluted else _written_readings(reading, names, described)
    if not polluted and not written:
        written = _readings_of_reasoning(reading, names)
    if written:
        yield from written
    elif reading.calls and not polluted and described == frozenset() and _is_draft(reading.text):
        yield _decided(reading, "bare", "whole")
        yield _decided(abstained, "bare", "anywhere")
    else:
        yield abstained


def _abstained(reading: OracleReading, reason: str) -> OracleReading:
    unknown = dict.fromkeys(get_args(Part)[:3], reason) | dict(reading.unknown)
    return msgspec.structs.replace(
        reading,
        calls=None,
        unknown=tuple(unknown.items()),
        text_marks=reading.text_marks if reading.knows("text") else (),
        text_markup=True,
    )


def _is_draft(text: str) -> bool:
    """Return whether the markup is neither a template's nor at the start of the text."""
    rest = _DECLARATIONS.sub("", text)
    return not _MARKER.search(rest) and not _JSON_REPLY.search(rest)


def _written_readings(
    reading: OracleReading, names: frozenset[str], described: frozenset[str] | None
) -> list[OracleReading]:
    """Return the readings of text in exactly the format of one text dialect: text, or calls.

    If the prompt describes the dialect, a client that reads it must find the calls.
    """
    if reading.error or not reading.ended or reading.meaning is not FinishReason.STOP:
        return []
    if reading.calls is None or not reading.knows("text") or not reading.knows("reasoning"):
        return []
    thought = _THOUGHT.match(reading.text)
    head = thought[0] if thought else ""
    written = written_reply(reading.text[len(head) :], names)
    if written is None or any(
        _may_contain_calls(it, names, any_json=False)
        for it in (head, reading.reasoning, written.text if written.calls else "")
    ):
        return []
    is_due = written.dialect in (described or ()) and not reading.calls
    is_due = is_due and not _THINKING.search(written.text)
    if _ANNOUNCED in reading.quirks and not (is_due and written.calls):
        return []
    as_text = msgspec.structs.replace(reading, text_marks=(), text_markup=not is_due)
    readings = [_with_written(as_text, head, written, calls) for calls in _merged(reading, written)]
    if not is_due:
        return [as_text, *readings]
    return [
        *(_decided(it, written.dialect, "calls") for it in readings),
        _decided(as_text, written.dialect, "text"),
    ]


def _readings_of_reasoning(reading: OracleReading, names: frozenset[str]) -> list[OracleReading]:
    """Return the readings of a turn whose reasoning ends with calls: calls, or only reasoning.

    A client that reads the text dialect must find the calls, if it knows the tools.
    """
    if not names or reading.error or not reading.ended or reading.meaning is not FinishReason.STOP:
        return []
    if reading.calls != () or reading.text.strip() or not reading.knows("reasoning"):
        return []
    written = reply_in_reasoning(reading.reasoning)
    if written is None or any(call.name not in names for call in written.calls):
        return []
    found = tuple(CallReading("", it.name, it.arguments, 0) for it in written.calls)
    called = msgspec.structs.replace(
        reading, reasoning=written.reasoning, calls=found, loose_space=True
    )
    return [
        _decided(called, written.dialect, "calls"),
        _decided(msgspec.structs.replace(reading, text_markup=True), written.dialect, "text"),
    ]


def _decided(reading: OracleReading, question: str, answer: str) -> OracleReading:
    decisions = (*reading.decisions, (question, answer))
    return msgspec.structs.replace(reading, decisions=decisions)


def _merged(reading: OracleReading, written: WrittenReply) -> Iterator[tuple[CallReading, ...]]:
    """Yield the native calls with all written calls, and with only the new ones of them."""
    native = reading.calls or ()
    added = tuple(CallReading("", it.name, it.arguments, 0) for it in written.calls)
    new = tuple(
        it
        for it in added
        if not any(
            it.name == call.name and same_object(it.arguments, call.arguments) for call in native
        )
    )
    yield from dict.fromkeys(((*native, *added), (*native, *new)))


def _with_written(
    reading: OracleReading, head: str, written: WrittenReply, calls: tuple[CallReading, ...]
) -> OracleReading:
    unsure = written.reasoning and (head or reading.reasoning)
    parts: dict[Part, bool] = {
        "text": not written.text_known,
        "reasoning": bool(unsure or not written.text_known),
    }
    reason = "text around written calls"
    unknown = tuple((part, reason) for part, is_open in parts.items() if is_open)
    return msgspec.structs.replace(
        reading,
        text=head + written.text,
        reasoning=reading.reasoning or written.reasoning,
        calls=calls,
        unknown=(*reading.unknown, *unknown),
        deviations=tuple(it for it in reading.deviations if it.quirk != _ANNOUNCED),
        loose_space=True,
    )


def with_marked_reasoning(reading: OracleReading) -> Iterator[OracleReading]:
    """Yield `reading`, and variants in which tagged reasoning is removed from the text.

    A client may treat as reasoning a block at the start of the text, or each block, or it may only
    remove the tags. A template may have opened the first block, and the end of the turn may
    close the last one.
    """
    text = reading.text
    splits: tuple[re.Pattern[str], ...] = ()
    if _THINKING.search(text) and reading.knows("text"):
        splits = (_EACH_BLOCK, _FIRST_BLOCK, _TAG)
        noted = Deviation("REASONING-FIELD-NAMES", 0, ambiguous=False)
        reading = msgspec.structs.replace(
            reading, text_marks=(), deviations=(noted, *reading.deviations)
        )
    elif reading.calls and _MARK.search(text):  # only a tag, next to a native call
        splits = (_MARK,)
        reading = msgspec.structs.replace(reading, text_marks=())
    yield reading
    for blocks in splits:
        rest = blocks.sub("", text)
        thoughts = (thought for block in blocks.finditer(text) for thought in block.groups(""))
        yield msgspec.structs.replace(
            reading,
            text=rest,
            reasoning=reading.reasoning + "".join(thoughts),
            loose_space=True,
        )


def _may_contain_calls(text: str, names: Iterable[str], *, any_json: bool) -> bool:
    """Return whether the text has markup, or JSON with a key of calls; any JSON with `any_json`."""
    if _MARKER.search(text):
        return True
    reply = _JSON_REPLY.search(text)
    if reply and (any_json or _has_call_key(text) or _is_broken_object(text, reply.end() - 1)):
        return True
    return any(name in text for name in names) and bool(_name_pattern(names).search(text))


def _has_call_key(text: str) -> bool:
    """Return whether JSON has a key that only calls have, or a name with arguments."""
    if _CALL_KEY.search(_NAME_KEY.sub("", text)):
        return True
    return bool(_NAME_KEY.search(text) and _ARGUMENT_KEY.search(text))


def _is_broken_object(text: str, start: int) -> bool:
    """Return whether `text` has an object at `start` that is incomplete or not JSON."""
    try:
        return text[start] == "{" and not _DECODE(text, start)
    except (ValueError, RecursionError):
        return True


def _is_bare_mark(text: str, names: Iterable[str]) -> bool:
    """Return whether the only markup is one opening tag without a call or arguments after it."""
    found = list(_MARK.finditer(text))
    if len(found) != 1:
        return False
    before, behind = text[: found[0].start()], text[found[0].end() :]
    if _ARGUMENTS.search(before) or _ARGUMENTS.search(behind):
        return False
    return not behind.lstrip().startswith(tuple(names))


def _name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of JSON or Python that calls one of `names`."""
    any_name = "|".join(map(re.escape, sorted(names)))
    python = r"(?:\A|[\[,;(.]|\n)\s{0,20}"
    quoted = rf"{_QUOTE}(?:{any_name}){_QUOTE}"
    return re.compile(rf"{_CALL_KEY_PATTERN}\s*{quoted}|{python}(?:{any_name})\s*\(")


def _is_polluted(call: CallReading, names: Iterable[str]) -> bool:
    """Return whether the name or arguments of a native call contain markup or other text."""
    if call.name not in names and any(name in call.name for name in names):
        return True
    return bool(_MARKER.search(call.name) or _MARKER.search(_unescaped(call.arguments)))


def _unescaped(json_text: str) -> str:
    """Return the JSON text without the escapes that can hide a marker."""
    return (
        json_text.replace("\\/", "/")
        .replace("\\u003c", "<")
        .replace("\\u003e", ">")
        .replace("\\u003C", "<")
    )
