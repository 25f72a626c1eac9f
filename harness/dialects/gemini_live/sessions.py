"""Say what each message of a Live session is.

The server ends a turn with `turnComplete`. After a `toolCall` it waits for the `toolResponse`, with
which the client begins the next turn. Source: Gemini API reference, "Live API".
"""

from typing import Any, Final

from harness.dialects.kit.sessions import ClientRole, ServerRole, SessionForm, SessionView
from harness.turns.json_values import as_dict

# Members that only the server's messages of this API have.
MEMBERS: Final = frozenset((
    "setupComplete", "serverContent", "toolCall", "toolCallCancellation", "goAway",
    "sessionResumptionUpdate",
))  # fmt: skip
_OF_TURNS: Final = ("toolCall", "serverContent", "toolCallCancellation", "usageMetadata", "error")
# The words of the user, which are not a part of the model's turn.
_OF_USER: Final = frozenset(("inputTranscription",))


def _client_role(event: dict[str, Any]) -> ClientRole:
    if "setup" in event:
        return "config"
    if "toolResponse" in event:
        return "answer"
    if "clientContent" in event:
        return "cause" if as_dict(event["clientContent"]).get("turnComplete") else "context"
    # Audio and video are many messages that no reader of calls needs.
    return "context" if "text" in as_dict(event.get("realtimeInput")) else ""


def _server_role(event: dict[str, Any], view: SessionView) -> ServerRole:
    content = as_dict(event.get("serverContent"))
    if content and content.keys() <= _OF_USER and "toolCall" not in event:
        return ServerRole()
    if content.get("turnComplete"):
        return ServerRole("end") if view.is_open or len(content) > 1 else ServerRole()
    if "toolCall" in event or content or "error" in event:
        return ServerRole("part")
    # Alone, counts of tokens and cancellations belong to the turn that is open.
    is_of_turn = any(member in event for member in _OF_TURNS)
    return ServerRole("part") if is_of_turn and view.is_open else ServerRole()


def _is_session(event: dict[str, Any]) -> bool:
    return not MEMBERS.isdisjoint(event)


SESSIONS: Final = SessionForm(
    _client_role,
    _server_role,
    _is_session,
    one_cause_each=False,
    replies={"setup": b'{"setupComplete": {}}'},
)
