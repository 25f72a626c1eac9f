"""Deltas -> the events of a Cohere stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
The events of each version are made by a generator of its own; here they get their framing.
Source: https://docs.cohere.com/reference/chat-stream and /reference/chat-stream-v1
"""

from collections.abc import Iterable
from typing import Any, Final

from harness.dialects.cohere.spelling import Spelling
from harness.dialects.cohere.write_v1 import v1_events
from harness.dialects.cohere.write_v2 import v2_events
from harness.turns.deltas import Delta
from harness.turns.exact_json import written
from harness.wire.sse import encode

_LINE_ENDS: Final = {"lf": b"\n", "crlf": b"\r\n"}
_EVENTS: Final = {"v1": v1_events, "v2": v2_events}


def write(deltas: Iterable[Delta], spelling: Spelling | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its line ends; joined, they are the body."""
    spelling = spelling or Spelling()
    events = [*_EVENTS[spelling.version](tuple(deltas), spelling)]
    framed = [_framed(event, spelling) for event in events]
    ended = bool(events) and events[-1].get("type") == "message-end"
    if ended and spelling.done and spelling.framing == "sse":
        framed.append(encode(b"[DONE]", line_end=_LINE_ENDS[spelling.line_end]))
    return tuple(framed)


def _framed(event: dict[str, Any], spelling: Spelling) -> bytes:
    payload = written(event).encode()
    line_end = _LINE_ENDS[spelling.line_end]
    if spelling.framing == "ndjson":
        return payload + line_end
    kind = event.get("type") or event.get("event_type") or ""
    return encode(payload, event=kind if spelling.event_name else "", line_end=line_end)
