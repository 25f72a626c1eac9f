"""Read third-party chat messages in JSON Lines as conversations.

A line is one message, or `{"messages": [...]}`. Each assistant message counts as one turn. A call
whose arguments are not a JSON object is a parse error, and a call with a result counts as executed.
A `meta` that other systems write next to a message is read if it has the keys of this project.
Nothing in a message makes the reader raise.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from harness.conversation.history.identifiers import distinct_ids
from harness.conversation.history.jsonl import ConversationLabels, LoggedConversation
from harness.results.conversation import Conversation, Ending, Probe, Strategy, TurnMeta, TurnRecord
from harness.turns.deltas import SNIPPET_CHARACTERS, Finish, FinishReason, ParseError, ToolCall
from harness.turns.exact_json import encode_json
from harness.turns.json_values import as_dict, text_of
from harness.turns.messages import Message
from harness.turns.turn import Turn
from harness.turns.verdicts import unusable_reason
from harness.wire.payload import json_or_none

_T = TypeVar("_T")
_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
# One line with a role may be an API response; a conversation does not begin with an assistant.
_FIRST: Final = ("system", "developer", "user")
_REASONING: Final = ("reasoning_content", "reasoning", "thinking")
_STRATEGIES: Final[dict[str, Strategy]] = {
    "tool_use": "tool_use",
    "json_fallback": "json_fallback",
}
_LABELS: Final = ("provider", "model", "prompt")


def read_messages(data: bytes) -> tuple[LoggedConversation, ...] | None:
    """Return the conversations in JSON lines of messages; None if `data` is something else."""
    line = data.lstrip().partition(b"\n")[0]
    # Searched as text first, because the line may be a complete recording of any size.
    if not line.startswith(b"{") or b'"role"' not in line:
        return None
    first = _object(line)
    listed = _has_messages(first)
    if not (listed or (_is_message(first) and first.get("role") in _FIRST)):
        return None
    lines = [_object(line) for line in data.split(b"\n") if line.strip()]
    if not all(_has_messages(line) if listed else _is_message(line) for line in lines):
        return None
    if listed:
        return tuple(_logged(line["messages"], line) for line in lines)
    return (_logged(lines, {}),)


def _object(line: bytes) -> dict[str, Any]:
    return as_dict(json_or_none(line.strip()))


def _has_messages(line: dict[str, Any]) -> bool:
    messages = line.get("messages")
    return isinstance(messages, list) and bool(messages) and all(map(_is_message, messages))


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and value.get("role") in _ROLES


def _logged(messages: Sequence[Message], line: dict[str, Any]) -> LoggedConversation:
    turns = tuple(
        _record(message, _answered(messages, index + 1))
        for index, message in enumerate(messages)
        if message["role"] == "assistant"
    )
    plain = tuple({key: it[key] for key in it if key != "meta"} for it in messages)
    named = {key: line[key] for key in _LABELS if isinstance(line.get(key), str)}
    last = messages[-1]
    answer = text_of(last.get("content")) if last["role"] == "assistant" else ""
    ending: Ending = "done" if answer.strip() and not last.get("tool_calls") else "interrupted"
    return LoggedConversation(
        ConversationLabels(**named), Conversation(plain, turns, ending, answer)
    )


def _answered(messages: Sequence[Message], start: int) -> Iterator[str]:
    """Yield the ids of the calls whose results are in the messages from `start` on."""
    while start < len(messages) and messages[start]["role"] == "tool":
        yield text_of(messages[start].get("tool_call_id"))
        start += 1


def _record(message: Message, answered: Iterator[str]) -> TurnRecord:
    calls, errors = _calls(message.get("tool_calls"))
    meta = _meta(message.get("meta"), errors)
    reasoning = (text_of(message.get(field)) for field in _REASONING)
    turn = Turn(
        text=text_of(message.get("content")),
        reasoning=next(filter(None, reasoning), ""),
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
        call = _call(as_dict(item))
        error = unusable_reason(call.name, call.arguments, call.kind, cut_short=False)
        if error:
            snippet = call.arguments[:SNIPPET_CHARACTERS]
            errors.append(ParseError("tool_use", error, snippet, call.id, call.name))
        else:
            calls.append(call)
    return calls, errors


def _call(item: dict[str, Any]) -> ToolCall:
    call_id, custom, function = text_of(item.get("id")), item.get("custom"), item.get("function")
    if isinstance(custom, dict):
        return ToolCall(
            call_id, text_of(custom.get("name")), text_of(custom.get("input")), "custom"
        )
    fields = as_dict(function)
    name, arguments = text_of(fields.get("name")), _arguments(fields.get("arguments"))
    return ToolCall(call_id, name, arguments, namespace=text_of(fields.get("namespace")))


def _arguments(value: object) -> str:
    """Return the arguments of a call as JSON text; some systems store them as an object."""
    return encode_json(value).decode() if isinstance(value, dict) else text_of(value)


def _meta(value: object, errors: Sequence[ParseError]) -> TurnMeta:
    """Return the known keys of a `meta` object; its `parse_error` may be one error or a list."""
    fields = as_dict(value)
    found = fields.get("parse_error")
    listed = found if isinstance(found, list) else [found]
    known = tuple(filter(None, (_converted(each, ParseError) for each in listed)))
    retries = fields.get("retries")
    return TurnMeta(
        strategy=_STRATEGIES.get(text_of(fields.get("strategy")), ""),
        parse_errors=known or tuple(errors),
        probe=_converted(fields.get("probe"), Probe),
        retries=retries if type(retries) is int and retries >= 0 else 0,
        deprecated=fields.get("deprecated") is True,
    )


def _converted(value: object, kind: type[_T]) -> _T | None:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None
