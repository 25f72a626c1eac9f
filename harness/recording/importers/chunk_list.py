"""One JSON event a line, without the framing of the wire: a response, or several in a row.

The framing is built anew, one `data:` line and a blank line for each event; `[DONE]` appears
only where the source has it. A new response begins at a new chunk id after a finish.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from harness.recording.importers.container import found, joined
from harness.wire.cassette import Cassette
from harness.wire.payload import NotJson, decode_json
from harness.wire.sse import encode

_DONE: Final = b"[DONE]"
_PREFIX: Final = b"data:"
_KEPT: Final = "events; framing rebuilt; no request, headers, reads or times"

Event = dict[str, object]


def read(path: PurePath, data: bytes) -> Cassette | None:
    """Return the responses that the lines hold; None where a line is no event."""
    lines = [line.strip() for line in data.strip().split(b"\n")]
    if not lines[0].startswith((b"{", _PREFIX)) or _is_framed(lines):
        return None
    payloads = [line.removeprefix(_PREFIX).strip() for line in lines if line]
    events = _events(payloads)
    if events is None:
        return None
    kept = _KEPT if _DONE in payloads else f"{_KEPT}; no [DONE]"
    responses = _responses(payloads, events)
    return found(path, (joined(b"".join(map(encode, part))) for part in responses), kept)


def _is_framed(lines: list[bytes]) -> bool:
    """Tell whether this is an event stream as it was on the wire, or no list at all."""
    if len(lines) == 1:
        return True
    return b"" in lines and all(line.startswith(_PREFIX) for line in lines if line)


def _events(payloads: list[bytes]) -> list[Event] | None:
    events = []
    for payload in payloads:
        event = {} if payload == _DONE else _decoded(payload)
        if not isinstance(event, dict):
            return None
        events.append(event)
    return events


def _decoded(payload: bytes) -> object:
    try:
        return decode_json(payload)
    except NotJson:
        return None


def _responses(payloads: list[bytes], events: list[Event]) -> Iterator[list[bytes]]:
    """Yield the payloads of each response."""
    part: list[bytes] = []
    current: object = None
    finished = False
    for payload, event in zip(payloads, events, strict=True):
        chunk_id = event.get("id")
        if finished and chunk_id and chunk_id != current:
            yield part
            part, finished = [], False
        part.append(payload)
        current = chunk_id or current
        finished = finished or payload == _DONE or _finishes(event)
    yield part


def _finishes(event: Event) -> bool:
    choices = event.get("choices")
    if not isinstance(choices, list):
        return False
    return any(isinstance(choice, dict) and choice.get("finish_reason") for choice in choices)
