"""Answer the messages of a WebSocket client from recorded responses, in their order.

The client's messages up to one that asks for a response are the request. Messages that configure a
session get the reply that clients wait for. If no response is left, the client gets an event
`error`.
"""

from collections.abc import Callable
from typing import Any, Final

from harness.dialects.table import client_role, session_reply
from harness.playback.transports import Answer
from harness.playback.websocket import WebSocketConnection
from harness.turns.exact_json import encode_json
from harness.wire.interaction import BROKEN, Headers, Request
from harness.wire.payload import json_or_none

NORMAL: Final = 1000
INTERNAL_ERROR: Final = 1011


def answer_session(
    connection: WebSocketConnection,
    answer: Callable[[Request], Answer],
    uri: str,
    headers: Headers,
    *,
    closes: bool,
) -> None:
    """Answer until one side closes. A broken connection ends without a close frame.

    Args:
        connection: the open connection.
        answer: returns the response to a request, whose body has the client's messages as lines.
        uri: the address of the opening request.
        headers: its headers.
        closes: whether the session ends normally after its first response.
    """
    waiting: list[bytes] = []
    for data, _ in connection.messages():
        event = json_or_none(data)
        role = client_role(event) if isinstance(event, dict) else ""
        if reply := session_reply(event) if isinstance(event, dict) else b"":
            connection.send_message(reply)
        if role:
            waiting.append(data.replace(b"\n", b" "))
        if role not in ("cause", "answer"):
            continue
        found, reads = answer(Request("GET", uri, headers, b"\n".join(waiting)))
        waiting = []
        if not found.in_session:
            connection.send_message(encode_json(_error_event(found.body)))
            continue
        connection.send_reads(reads)
        if found.ended == "truncated":
            connection.close(INTERNAL_ERROR)
        elif closes and found.ended == "complete":
            connection.close(NORMAL)
        if closes or found.ended in BROKEN:
            return


def _error_event(body: bytes) -> dict[str, Any]:
    """Return the error document of a surplus request as an event."""
    value = json_or_none(body)
    error = value.get("error") if isinstance(value, dict) else None
    return {"type": "error", "status": 410, "error": error or {"message": "surplus request"}}
