"""Convert values that logs contain: JSON in text, times, errors, and parts of an answer."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from harness.errors import UnreadableError
from harness.measuring.records import Lack, LoggedTurn, turn_of_record

Record = Mapping[str, Any]

_SERVER_ERROR: Final = 500


def listed(value: object) -> list[Any]:
    """Return `value` if it is a list, else []."""
    return value if isinstance(value, list) else []


def structured(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a span's attribute, parsed if the span stores it as JSON text.

    Raises:
        UnreadableError: the text is not JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (ValueError, RecursionError):
        raise UnreadableError("an attribute of `gen_ai` is not JSON, perhaps cut") from None


def loosely_structured(value: object) -> Any:  # noqa: ANN401 - any JSON, or text
    """Return `value`, parsed if it is JSON text."""
    try:
        return structured(value)
    except UnreadableError:
        return value


def iso_time(number: object, per_second: int) -> str | None:
    """Convert a time in units of 1 / `per_second` seconds to ISO 8601; None if not a number."""
    try:
        seconds = float(number) / per_second  # type: ignore[arg-type]  # refused below
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def failed(error: object, status: object) -> Record:
    """Return a record whose response is the API error `error` with the HTTP status `status`."""
    text = str(status or "")
    code = int(text) if text.isdecimal() and 400 <= int(text) < 600 else _SERVER_ERROR  # noqa: PLR2004
    return {"body": {"error": error or {"message": "unknown"}}, "status": code}


def document_turn(record: Record, *lacks: Lack) -> LoggedTurn:
    """Return a turn whose body is an answer that was logged as one JSON document."""
    turn = turn_of_record(record)
    return msgspec.structs.replace(turn, lacks=(*turn.lacks, "bytes", *lacks))


def chat_document(
    text: object, reasoning: object, calls: list[tuple[Any, Any, Any]], finish: object
) -> Record:
    """Return a `chat.completion` object with one message of these parts."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": _text(given)}}
            for id_, name, given in calls
        ]
    ended = finish or ("tool_calls" if calls else "stop")
    choice = {"index": 0, "message": message, "finish_reason": ended}
    return {"object": "chat.completion", "choices": [choice]}


def _text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()
