"""How a response says that it is over: its status, the reason, and errors in every spelling.

Source: OpenAI API reference, "The response object", "Streaming events" (`error`) and
"Realtime server events" (`response.done`).
"""

from typing import Any, Final

from harness.dialects.openai_responses.items import text
from harness.turns.deltas import Finish, FinishReason, StreamFailure
from harness.turns.event_reader import quote

# The terminal event -> the status that it stands for where the response does not say one.
TERMINAL_EVENTS: Final = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
    "response.done": "completed",
}
_FAILED: Final = frozenset(("failed", "cancelled"))
_OVER: Final = _FAILED | {"completed", "incomplete"}
_ERROR_TYPES: Final = ("error", "response.error")
_REASONS: Final = {
    "": FinishReason.LENGTH,
    "max_output_tokens": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def end_of(response: dict[str, Any], status: str) -> Finish | StreamFailure:
    """Return how `response` ended.

    Args:
        response: a whole response object.
        status: what its event stands for; "" for a document without an event.
    """
    said = text(response.get("status"))
    status = said if said in _OVER or not status else status
    details = response.get("incomplete_details") or response.get("status_details")
    details = details if isinstance(details, dict) else {}
    reason = text(details.get("reason"))
    error = response.get("error") or details.get("error")
    if status in _FAILED or error:
        code = status if status in _FAILED else ""
        return failure_of({"error": error, "code": code, "message": reason})
    if status == "completed":
        return Finish(FinishReason.STOP, status)
    if status == "incomplete":
        return Finish(_REASONS.get(reason, FinishReason.OTHER), reason or status)
    return StreamFailure("interrupted", f"the response came while it was {said!r}")


def failure_of(value: dict[str, Any]) -> StreamFailure:
    """Return the error that `value` is, or holds as `error`."""
    error = value.get("error")
    if isinstance(error, dict) and error:
        value, error = error, None
    kind = value.get("type")
    code = value.get("code") or ("" if kind in _ERROR_TYPES else kind) or value.get("status")
    message = error or value.get("message") or value.get("detail") or value.get("error_message")
    return StreamFailure(quote(code or "error"), quote(message))


def is_error(value: dict[str, Any]) -> bool:
    """Whether a value without a known type is an error, as gateways and HTTP answers say it."""
    if value.get("error") or value.get("object") == "error":
        return True
    return isinstance(value.get("detail"), str) or (
        isinstance(value.get("message"), str) and value.get("code") is not None
    )
