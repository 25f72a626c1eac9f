"""Say what each message of a WebSocket session of the Responses or the Realtime API is.

Source: OpenAI guide "WebSocket mode" of the Responses API; API reference, "Realtime: client events"
and "Realtime: server events".
"""

from typing import Any, Final

from harness.dialects.kit.sessions import ClientRole, ServerRole, SessionForm, SessionView
from harness.turns.json_values import as_dict, as_text

_CLIENT: Final[dict[str, ClientRole]] = {
    "session.update": "config",
    "transcription_session.update": "config",
    "conversation.item.create": "context",
    "response.create": "cause",
}
_ENDS: Final = frozenset(
    f"response.{word}"
    for word in ("done", "completed", "incomplete", "failed", "cancelled", "canceled")
)
_OF_SESSIONS: Final = ("session.", "conversation.", "input_audio_buffer.", "rate_limits.")


def _client_role(event: dict[str, Any]) -> ClientRole:
    return _CLIENT.get(as_text(event.get("type")), "")


def _server_role(event: dict[str, Any], view: SessionView) -> ServerRole:
    kind, response = as_text(event.get("type")), as_dict(event.get("response"))
    named = as_text(event.get("response_id")) or as_text(response.get("id"))
    if kind == "error":
        return _error_role(event, view)
    if not kind.startswith("response."):
        return ServerRole("only") if response.get("object") == "response" else ServerRole()
    if kind == "response.created":
        return ServerRole("start", named)
    if kind in _ENDS:
        return ServerRole("end", named)
    item_id = as_text(as_dict(event.get("item")).get("id"))
    item = as_text(event.get("item_id")) or item_id
    return ServerRole("part", named, item, (item_id,) if item_id else ())


def _error_role(event: dict[str, Any], view: SessionView) -> ServerRole:
    """Return whose error it is: that of a response, or of the session, which may go on.

    An error of Realtime has an id, and names the message of the client that caused it. Responses
    have one response at a time, so an error is that of the open or the awaited one.
    """
    if "event_id" in event:
        cause = as_text(as_dict(event.get("error")).get("event_id"))
        is_own = cause in view.awaited_events if cause else view.is_awaited and not view.is_open
        return ServerRole("only") if is_own else ServerRole()
    if view.is_open:
        return ServerRole("end")
    return ServerRole("only") if view.is_awaited else ServerRole()


def _is_session(event: dict[str, Any]) -> bool:
    kind, response = as_text(event.get("type")), as_dict(event.get("response"))
    if kind.startswith(_OF_SESSIONS):
        return True
    return response.get("object") == "realtime.response" or (
        kind.startswith("response.") and "event_id" in event
    )


SESSIONS: Final = SessionForm(_client_role, _server_role, _is_session)
