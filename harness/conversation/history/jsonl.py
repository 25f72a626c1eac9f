"""Write and read conversations in JSON Lines: a header, then one message a line as it is sent.

The data about a turn (its `TurnRecord`) is under the key `meta` of its first message, or in a
separate line if the turn has no message. So any tool that reads chat messages can read this file. A
damaged or truncated file, or one from a newer harness, raises an UnreadableError with the line.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from harness.errors import UnreadableError
from harness.files.typed import convert
from harness.providers import UNKNOWN
from harness.results.conversation import Conversation, Ending, Probe, Strategy, TurnMeta, TurnRecord
from harness.turns.deltas import ParseError
from harness.turns.exact_json import encode_json
from harness.turns.messages import Message, calls_of, role_of, text_of
from harness.turns.turn import Turn
from harness.wire.payload import json_or_none

FORMAT: Final = "harness-conversation"
VERSION: Final = 1


class ConversationLabels(msgspec.Struct, frozen=True):
    """The origin of a conversation; a label is "" if it is unknown."""

    agent: str = ""
    provider: str = ""
    model: str = ""
    prompt: str = ""
    scenario: str = ""


class LoggedConversation(msgspec.Struct, frozen=True):
    """A conversation in a file, with its labels."""

    about: ConversationLabels
    conversation: Conversation


def agent_of(logged: LoggedConversation) -> str:
    """Return the name of the agent that ran the conversation."""
    return logged.about.agent or UNKNOWN


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    agent: str
    provider: str
    model: str
    prompt: str
    scenario: str
    ending: Ending
    answer: str
    messages: int
    turns: int


class _MetaLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The value of `meta` in a line: the turn, and the fields of `TurnMeta`."""

    turn: Turn
    strategy: Strategy | Literal[""] = ""
    parse_error: tuple[ParseError, ...] = ()
    probe: Probe | None = None
    retries: int = 0
    deprecated: bool = False
    executed: tuple[str, ...] = ()


def encode(logged: LoggedConversation) -> bytes:
    """Return a conversation as JSON Lines: the header, then one message a line."""
    conversation = logged.conversation
    header = {
        "format": FORMAT,
        "version": VERSION,
        **msgspec.structs.asdict(logged.about),
        "ending": conversation.ending,
        "answer": conversation.answer,
        "messages": len(conversation.messages),
        "turns": len(conversation.turns),
    }
    return b"".join(encode_json(line) + b"\n" for line in (header, *_lines(conversation)))


def is_conversation(data: bytes) -> bool:
    """Whether `data` begins with the header that `encode` writes, in any version of the format."""
    first = data.lstrip().partition(b"\n")[0]
    # Searched as text first, because the line may be a complete recording of any size.
    return FORMAT.encode() in first and _is_header(json_or_none(first))


def decode(data: bytes, where: str = "") -> tuple[LoggedConversation, ...]:
    """Return the conversations in a file, in order.

    Args:
        data: the output of `encode`, any number of times.
        where: the file, for the error.

    Raises:
        UnreadableError: the file is damaged, truncated or from a newer harness.
    """
    lines = [
        (f"{where}: line {number}" if where else f"line {number}", line)
        for number, line in enumerate(data.split(b"\n"), start=1)
        if line.strip()
    ]
    values = [(place, _object(line, place)) for place, line in lines]
    starts = [number for number, (_, value) in enumerate(values) if _is_header(value)]
    if not starts or starts[0]:
        found = f"found {lines[0][1][:40]!r}" if lines else "found no line"
        raise UnreadableError(
            f'expected a header with "format": "{FORMAT}", {found}',
            where=lines[0][0] if lines else where,
            hint="Restore the first line, or import the file as third-party messages.",
        )
    ends = [*starts[1:], len(values)]
    return tuple(_logged(values[start:end]) for start, end in zip(starts, ends, strict=True))


# Writing


def _lines(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """Yield the messages, each with the record of the turn of which it is the first message."""
    turns = list(conversation.turns)
    for message in conversation.messages:
        place = _turn_index(message, turns)
        if place is None:
            yield message
            continue
        yield from ({"meta": _meta(record)} for record in turns[:place])
        yield message | {"meta": _meta(turns[place])}
        del turns[: place + 1]
    yield from ({"meta": _meta(record)} for record in turns)


def _turn_index(message: Message, turns: Sequence[TurnRecord]) -> int | None:
    """Return the index of the turn to which `message` belongs; None if no turn has this message.

    It decides only in which line a record is written. The record can be read from any line.
    """
    if role_of(message) != "assistant":
        return None
    text, calls = text_of(message), tuple(calls_of(message))
    indexes = (n for n, record in enumerate(turns) if _has_left(record.turn, text, calls))
    return next(indexes, None)


def _has_left(turn: Turn, text: str, calls: Sequence[tuple[str, str, str]]) -> bool:
    if turn.text.strip():
        return text.startswith(turn.text)
    if not calls:
        return " parse error]" in text
    given = [call.id for call in turn.tool_calls] + [error.id for error in turn.parse_errors]
    # An id may have been changed to match a pattern; arguments never are.
    arguments = [call.arguments or "{}" for call in turn.tool_calls]
    return any(call_id in given or sent in arguments for call_id, _, sent in calls)


def _meta(record: TurnRecord) -> object:
    meta = record.meta
    line = _MetaLine(
        record.turn,
        meta.strategy,
        meta.parse_errors,
        meta.probe,
        meta.retries,
        meta.deprecated,
        record.executed,
    )
    return msgspec.to_builtins(line)


# Reading


def _logged(lines: Sequence[tuple[str, dict[str, Any]]]) -> LoggedConversation:
    place, first = lines[0]
    header = _header(first, place)
    messages: list[Message] = []
    turns: list[TurnRecord] = []
    for where, line in lines[1:]:
        if "meta" in line:
            turns.append(_record(line["meta"], where))
        message = {key: value for key, value in line.items() if key != "meta"}
        if message or "meta" not in line:
            messages.append(_message(message, where))
    _check_count("messages", header.messages, len(messages), place)
    _check_count("turns", header.turns, len(turns), place)
    about = msgspec.convert(header, ConversationLabels, from_attributes=True)
    conversation = Conversation(tuple(messages), tuple(turns), header.ending, header.answer)
    return LoggedConversation(about, conversation)


def _header(value: dict[str, Any], place: str) -> _Header:
    version = value.get("version")
    if version != VERSION:
        raise UnreadableError(
            f"expected version {VERSION} of the format, found {version!r}",
            where=place,
            hint="Read it with the harness that wrote it.",
        )
    return convert(value, _Header, place)


def _record(value: object, place: str) -> TurnRecord:
    line = convert(value, _MetaLine, f"{place}: meta")
    meta = TurnMeta(line.strategy, line.parse_error, line.probe, line.retries, line.deprecated)
    return TurnRecord(line.turn, meta, line.executed)


def _message(message: Message, place: str) -> Message:
    if not isinstance(message.get("role"), str):
        found = ", ".join(message) or "an empty object"
        raise UnreadableError(f'expected a message with a "role", found {found}', where=place)
    return message


def _check_count(what: str, expected: int, found: int, place: str) -> None:
    if expected != found:
        raise UnreadableError(
            f"expected {expected} {what}, as in the header, found {found}",
            where=place,
            hint="Restore the missing lines, or remove the added ones.",
        )


def _object(line: bytes, place: str) -> dict[str, Any]:
    value = json_or_none(line)
    if not isinstance(value, dict):
        raise UnreadableError(f"expected one JSON object, found {line[:40]!r}", where=place)
    return value


def _is_header(value: object) -> bool:
    return isinstance(value, dict) and value.get("format") == FORMAT and "role" not in value
