"""Read `{"reasoning", "action", "tool_calls" | "content"}`: a reply that is one JSON object.

A prompt describes this format to services that guarantee JSON and have no field for tools. `action`
is `tool_call`, with `tool_calls` as a list of `{"name", "arguments"}`, or `finish`, with the answer
in `content`. Either the whole reply counts or none of it, and only if the prompt described the
format. So no marker opens it: `ActionScanner` reads it as it arrives.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final

import msgspec

from harness.text_calls.boundaries import Ending
from harness.text_calls.dialect import RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import (
    Pairs,
    read_items,
    read_json_call,
    read_pairs,
    read_string,
    repeated_key,
    write_json_call,
)
from harness.text_calls.json_end import JsonEnd
from harness.turns.exact_json import decode_exactly, join_surrogates, write_exactly

TOOL_CALL: Final = "tool_call"
FINISH: Final = "finish"
ACTION_KEY: Final = "action"
REASONING_KEY: Final = "reasoning"
CALLS_KEY: Final = "tool_calls"
# The keys of the answer; the first that has text counts.
ANSWER_KEYS: Final = ("content", "sql", "answer")
# The fields of an envelope that may hold the reply, as an object or as text.
ENVELOPE_KEYS: Final = ("response", "result", "text", "content")
_OWN_KEYS: Final = (REASONING_KEY, ACTION_KEY, CALLS_KEY, *ANSWER_KEYS)
# In how many envelopes a reply may be.
_MOST_WRAPS: Final = 4

_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*)```", re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*+")
_BLANK = " \t\n\r\ufeff"


class Entry(msgspec.Struct, frozen=True):
    """One item of the list `tool_calls` in a reply: the call and its JSON text."""

    call: WrittenCall
    raw: str


class ActionReply(msgspec.Struct, frozen=True):
    """The content of a reply in the action protocol.

    Fields:
        draft: text under the key of the answer in a reply that calls tools. It is not an answer.
        answer: the text for the user.
        entries: the items of `tool_calls`, usable or not.
    """

    reasoning: str
    draft: str
    answer: str = ""
    entries: tuple[Entry, ...] = ()


_NOTHING_LISTED: Final = Entry(
    WrittenCall("", error=f"the action is {TOOL_CALL!r}, and {CALLS_KEY!r} lists no call"), ""
)


def read_reply(text: str, wraps: int = 0) -> ActionReply | None:
    """Return the reply in `text`, or None if `text` is not a reply in the action protocol.

    The reply may be inside a code block, a JSON string or another JSON object.
    """
    text = join_surrogates(text).strip(_BLANK)
    fenced = _FENCED.fullmatch(text)
    if fenced:
        text = fenced[1].strip(_BLANK)
    if wraps > _MOST_WRAPS:
        return None
    if text.startswith('"'):
        inner = read_string(text)
        return read_reply(inner, wraps) if inner else None
    found = read_pairs(text)
    if found is None:
        return None
    return _own(found) or _wrapped(found, wraps) or _without_action(found)


def unescape_arguments(arguments: str) -> str:
    """Return JSON without escapes of characters that need none; numbers stay as written."""
    try:
        return write_exactly(decode_exactly(arguments.encode()))
    except (ValueError, RecursionError):  # the error is reported where arguments are judged
        return arguments


def _own(found: Pairs) -> ActionReply | None:
    """Return the reply with these members; None if they do not belong to a reply."""
    fields = dict(found)
    action = read_string(fields.get(ACTION_KEY))
    raw = fields.get(CALLS_KEY)
    listed = read_items(raw) if raw and raw.startswith("[") else ()
    reasoning, answer = _text(fields.get(REASONING_KEY, "")), _answer(fields)
    if action == FINISH or (not action and REASONING_KEY in fields and answer):
        error = "it is next to the final answer"
        return ActionReply(reasoning, "", answer, _entries(listed, error))
    if action == TOOL_CALL:
        entries = _entries(listed, _repeated(found)) or (_NOTHING_LISTED,)
        return ActionReply(reasoning, answer, "", entries)
    if action and (CALLS_KEY in fields or REASONING_KEY in fields):
        error = f"the action {action[:40]!r} is neither {TOOL_CALL!r} nor {FINISH!r}"
        entries = _entries(listed, error) or (Entry(WrittenCall("", error=error), ""),)
        return ActionReply(reasoning, "", answer, entries)
    entries = _entries(listed, "the reply has no action")
    named = any(entry.call.name for entry in entries)
    return ActionReply(reasoning, "", answer, entries) if named else None


def _without_action(found: Pairs) -> ActionReply | None:
    """Return the reply of an object without an action; None if it has a key of no reply.

    Without an action, the reply is final. If it has no answer either, it is unusable.
    """
    fields = dict(found)
    if fields.keys() - {REASONING_KEY, *ANSWER_KEYS, *ENVELOPE_KEYS}:
        return None
    reasoning, answer = _text(fields.get(REASONING_KEY, "")), _answer(fields)
    if answer:
        return ActionReply(reasoning, "", answer)
    if not reasoning:
        return None
    error = "the reply has neither an action nor an answer"
    return ActionReply(reasoning, "", entries=(Entry(WrittenCall("", error=error), ""),))


def _wrapped(found: Pairs, wraps: int) -> ActionReply | None:
    fields = dict(found)
    inner = (fields[key] for key in ENVELOPE_KEYS if key in fields)
    replies = (read_reply(field, wraps + 1) for field in inner)
    return next((reply for reply in replies if reply), None)


def _answer(fields: dict[str, str]) -> str:
    texts = (_text(raw) for key, raw in fields.items() if key in ANSWER_KEYS)
    inside = (read_string(fields[key]) for key in ENVELOPE_KEYS if key in fields)
    return next(filter(None, chain(texts, map(join_surrogates, inside))), "")


def _text(raw: str) -> str:
    """Return the text of a value: a string's characters, other values as JSON."""
    if raw.startswith('"'):
        return join_surrogates(read_string(raw))
    return "" if raw == "null" else raw


def _entries(listed: tuple[str, ...], error: str) -> tuple[Entry, ...]:
    return tuple(Entry(_call(raw, error), raw) for raw in listed)


def _call(raw: str, error: str) -> WrittenCall:
    found = read_pairs(raw)
    if found is None:
        return WrittenCall("", error="an entry of 'tool_calls' is not an object")
    call = read_json_call(found)
    arguments = unescape_arguments(call.arguments)
    return WrittenCall(call.name, arguments, call.id, error or call.error)


def _repeated(found: Pairs) -> str:
    """Return an error about the key that occurs twice in a reply; "" if none does."""
    key = repeated_key(found)
    return f"the key {key!r} occurs twice" if key else ""


class ActionProtocol(TextDialect):
    """Reads and writes a reply that is one JSON object with an action."""

    title = "One JSON object with an action (taught by prompt)"
    openers = ()
    explicit = False
    whole = True
    markers = (f'"{CALLS_KEY}":',)
    taught_by = (f'"{ACTION_KEY}"', f'"{TOOL_CALL}"', f'"{FINISH}"', f'"{CALLS_KEY}"')

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the end of the object."""
        return JsonEnd(opener)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls in `tool_calls`; None for a reply without calls."""
        reply = read_reply(block.text)
        return tuple(entry.call for entry in reply.entries) or None if reply else None

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one JSON object with all calls."""
        listed = ", ".join(map(write_json_call, calls))
        return f'{{"{ACTION_KEY}": "{TOOL_CALL}", "{CALLS_KEY}": [{listed}]}}'


ACTION_PROTOCOL: Final = ActionProtocol()
