"""Other people's chat messages as JSON Lines -> conversations, as far as they can be known.

One message a line, or `{"messages": [...]}` a line. Each message of the assistant is taken for
one turn, since nothing tells otherwise; a call whose arguments are no JSON object is a
parse_error, one with a result was executed, and a `meta` that other systems write beside a
message is read where it has our words. It never raises for what a message holds.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from harness.conversation.conversation import (
    Conversation,
    Ending,
    Meta,
    Probe,
    Strategy,
    TurnRecord,
)
from harness.conversation.history.identifiers import distinct_ids
from harness.conversation.history.jsonl import ConversationLabels, LoggedConversation
from harness.turns.deltas import SNIPPET_CHARACTERS, Finish, FinishReason, ParseError, ToolCall
from harness.turns.exact_json import encode_json
from harness.turns.messages import Message
from harness.turns.turn import Turn
from harness.turns.verdicts import unusable_reason
from harness.wire.payload import NotJson, decode_json

_T = TypeVar("_T")
_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
# An answer of an API may be one line with a role; a conversation does not begin with one.
_FIRST: Final = ("system", "developer", "user")
_REASONING: Final = ("reasoning_content", "reasoning", "thinking")
_STRATEGIES: Final[dict[str, Strategy]] = {
    "tool_use": "tool_use",
    "json_fallback": "json_fallback",
}
_LABELS: Final = ("provider", "model", "prompt")


def read_messages(data: bytes) -> tuple[LoggedConversation, ...] | None:
    """Return the conversations that the lines of `data` hold; None where they are others."""
    line = data.lstrip().partition(b"\n")[0]
    # Looked for as text first: the line may be a whole recording of any size.
    if not line.startswith(b"{") or b'"role"' not in line:
        return None
    first = _object(line)
    whole = _has_messages(first)
    if not (whole or (_is_message(first) and first.get("role") in _FIRST)):
        return None
    lines = [_object(line) for line in data.split(b"\n") if line.strip()]
    if not all(_has_messages(line) if whole else _is_message(line) for line in lines):
        return None
    if whole:
        return tuple(_logged(line["messages"], line) for line in lines)
    return (_logged(lines, {}),)


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = decode_json(line.strip())
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}


def _has_messages(line: dict[str, Any]) -> bool:
    messages = line.get("messages")
    return isinstance(messages, list) and bool(messages) and all(map(_is_message, messages))


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and value.get("role") in _ROLES


def _logged(messages: Sequence[Message], line: dict[str, Any]) -> LoggedConversation:
    turns = tuple(
        _record(message, _answered(messages, place + 1))
        for place, message in enumerate(messages)
        if message["role"] == "assistant"
    )
    plain = tuple(_without_meta(message) for message in messages)
    named = {key: line[key] for key in _LABELS if isinstance(line.get(key), str)}
    last = messages[-1]
    answer = _text(last.get("content")) if last["role"] == "assistant" else ""
    ending: Ending = "done" if answer.strip() and not last.get("tool_calls") else "interrupted"
    return LoggedConversation(
        ConversationLabels(**named), Conversation(plain, turns, ending, answer)
    )


def _without_meta(message: Message) -> Message:
    return {key: value for key, value in message.items() if key != "meta"}


def _answered(messages: Sequence[Message], start: int) -> Iterator[str]:
    """Yield the ids of the calls that the messages from `start` on answer."""
    while start < len(messages) and messages[start]["role"] == "tool":
        yield _text(messages[start].get("tool_call_id"))
        start += 1


def _record(message: Message, answered: Iterator[str]) -> TurnRecord:
    calls, errors = _calls(message.get("tool_calls"))
    meta = _meta(message.get("meta"), errors)
    spoken = (_text(message.get(field)) for field in _REASONING)
    turn = Turn(
        text=_text(message.get("content")),
        reasoning=next(filter(None, spoken), ""),
        tool_calls=tuple(calls),
        parse_errors=tuple(errors),
        finish=Finish(FinishReason.TOOL_CALLS if calls or errors else FinishReason.STOP),
    )
    usable = {call.id for call in calls if call.id}
    return TurnRecord(distinct_ids(turn), meta, tuple(each for each in answered if each in usable))


def _calls(listed: object) -> tuple[list[ToolCall], list[ParseError]]:
    calls: list[ToolCall] = []
    errors: list[ParseError] = []
    for item in listed if isinstance(listed, list) else ():
        call = _call(item if isinstance(item, dict) else {})
        error = unusable_reason(call.name, call.arguments, call.kind, cut_short=False)
        if error:
            snippet = call.arguments[:SNIPPET_CHARACTERS]
            errors.append(ParseError("tool_use", error, snippet, call.id, call.name))
        else:
            calls.append(call)
    return calls, errors


def _call(item: dict[str, Any]) -> ToolCall:
    call_id, custom, function = _text(item.get("id")), item.get("custom"), item.get("function")
    if isinstance(custom, dict):
        return ToolCall(call_id, _text(custom.get("name")), _text(custom.get("input")), "custom")
    fields = function if isinstance(function, dict) else {}
    return ToolCall(call_id, _text(fields.get("name")), _arguments(fields.get("arguments")))


def _arguments(value: object) -> str:
    """Return arguments as text; some systems store the object itself."""
    return encode_json(value).decode() if isinstance(value, dict) else _text(value)


def _text(content: object) -> str:
    """Return a text, or the texts of parts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _meta(value: object, errors: Sequence[ParseError]) -> Meta:
    """Return what a `meta` says in our words, one parse_error or a list of them."""
    said = value if isinstance(value, dict) else {}
    told = said.get("parse_error")
    listed = told if isinstance(told, list) else [told]
    known = tuple(filter(None, (_converted(each, ParseError) for each in listed)))
    retries = said.get("retries")
    return Meta(
        strategy=_STRATEGIES.get(_text(said.get("strategy")), ""),
        parse_errors=known or tuple(errors),
        probe=_converted(said.get("probe"), Probe),
        retries=retries if type(retries) is int and retries >= 0 else 0,
    )


def _converted(value: object, kind: type[_T]) -> _T | None:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None
