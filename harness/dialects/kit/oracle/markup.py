"""Text, reasoning or a call that contains the markup of text calls -> a reading that abstains.

Models also write calls in their text, and engines leak the tokens of a template. The contract of
the API does not define which of it is a call, an example or a draft. If the request has tools, the
oracle therefore abstains on text, reasoning and calls of such a turn. The notations are listed
here a second time, from the published chat templates, and more broadly than any reader finds them.
No code is shared with `text_calls`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, get_args

import msgspec

from harness.dialects.kit.oracle.reading import CallReading, Deviation, OracleReading, Part

# Words in the names of XML-like tags, opening or closing, with a namespace or without.
_TAG_WORDS: Final = "tool|func|call|invoke|action|param|arg_|turn|escape"
_LABELS: Final = "(?:Action|Tool|Function)(?: Input| Args)?|Thought|Observation|Final Answer"
_THOUGHTS: Final = "(?:seed:)?(?:think|thinking|thought|reasoning)"
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
_BARS: Final = "|\uff5c\u2016"  # upright, full width, double
_MARKER: Final = re.compile(
    "|".join(
        (
            # A tag, perhaps cut: <tool_call>, <ns:invoke name=, <function=, <end_of_turn>
            rf"</?[\w:-]{{0,40}}(?:{_TAG_WORDS})[\w-]{{0,40}}(?=[\s>=/]|\Z)",
            # A template's special token: <|python_tag|>, DeepSeek's and DSML's wide bars, Gemma's
            rf"</?[{_BARS}]",
            r"[\w\"'>\]][|]>",
            "[\u25c1\u25b7\u2581]|<unused\\d|\\]<\\]|\\[>\\[",
            r"\[/?(?:TOOL_CALLS?|TOOL_REQUEST|END_TOOL_REQUEST|ARGS|CALL_ID)\b",
            r"\bto=functions\b|\bfunctions\.\w|\bfunctools\[|```tool_",
            # The labels of ReAct, each at the start of a line
            rf"(?:^|\n)[ \t>*_#]*(?:{_LABELS})[ \t*_]*:",
        )
    ),
    re.IGNORECASE,
)
# One tag, of which nothing is left if it is removed.
_MARK: Final = re.compile(rf"<[\w:-]{{0,40}}(?:{_TAG_WORDS})[\w-]{{0,40}}>", re.IGNORECASE)
_ARGUMENTS: Final = re.compile(r"[{}()\[\]=:|]|</")
# Keys that make JSON a call, or the reply of a protocol whose replies are JSON.
_CALL_KEY_PATTERN = r'\\?"(?:name|tool|tool_name|function|action|tool_calls|function_call)\\?"\s*:'
_CALL_KEY: Final = re.compile(_CALL_KEY_PATTERN)
# At the start of the reply, or right after its reasoning; perhaps in a code fence.
_JSON_REPLY: Final = re.compile(
    r'(?:\A|think(?:ing)?[>\u25b7]|THINK\])\s*(?:(?:```|~~~)[^\n`]*\n\s*)?["{\[]'
)


def abstain_on_markup(reading: OracleReading, names: frozenset[str]) -> OracleReading:
    """Return `reading` without what markup makes ambiguous; `names` are those of the tools.

    A native call stays certain if only the reasoning has markup, for what a model drafts there is
    no call next to a call in the API's own field, or if the markup of the text is one bare tag.
    """
    truncated = reading.error is not None or not reading.ended
    in_text = _may_contain_calls(reading.text, names, truncated=truncated)
    in_reasoning = _may_contain_calls(reading.reasoning, names, truncated=truncated)
    polluted = any(_is_polluted(call, names) for call in reading.calls or ())
    if not (in_text or polluted or in_reasoning):
        return reading
    if reading.calls and not polluted and (not in_text or _is_bare_mark(reading.text, names)):
        return reading
    reason = "markup in the " + ("text" if in_text else "reasoning" if in_reasoning else "calls")
    unknown = dict.fromkeys(get_args(Part)[:3], reason) | dict(reading.unknown)
    return msgspec.structs.replace(
        reading,
        calls=None,
        unknown=tuple(unknown.items()),
        text_marks=reading.text_marks if reading.knows("text") else (),
        text_markup=True,
    )


def with_marked_reasoning(reading: OracleReading) -> Iterator[OracleReading]:
    """Yield `reading`, and what it is if reasoning that is marked up in the text is split off.

    A client may take a block at the start of the text for reasoning, or each block, or only
    remove the tags; a template may have opened the first block, and the end of the turn may
    close the last.
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


def _may_contain_calls(text: str, names: Iterable[str], *, truncated: bool) -> bool:
    """Whether there is markup; truncated JSON may lack the part with the key of a call."""
    if _MARKER.search(text):
        return True
    if _JSON_REPLY.search(text) and (truncated or _CALL_KEY.search(text)):
        return True
    return any(name in text for name in names) and bool(_name_pattern(names).search(text))


def _is_bare_mark(text: str, names: Iterable[str]) -> bool:
    """Whether the only markup is one opening tag, without a call or arguments behind it."""
    found = list(_MARK.finditer(text))
    if len(found) != 1 or _ARGUMENTS.search(text):
        return False
    return not text[found[0].end() :].lstrip().startswith(tuple(names))


def _name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Match JSON or Python that calls one of `names`, anywhere."""
    any_name = "|".join(map(re.escape, sorted(names)))
    python = r"(?:\A|[\[,;(.]|\n)\s{0,20}"
    return re.compile(rf'{_CALL_KEY_PATTERN}\s*\\?"(?:{any_name})\\?"|{python}(?:{any_name})\s*\(')


def _is_polluted(call: CallReading, names: Iterable[str]) -> bool:
    """Whether a call in the API's field has more than its name in it, or markup."""
    if call.name not in names and any(name in call.name for name in names):
        return True
    return bool(_MARKER.search(call.name) or _MARKER.search(_unescaped(call.arguments)))


def _unescaped(json_text: str) -> str:
    """Undo the escapes under which a marker may hide in JSON."""
    return json_text.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u003C", "<")
