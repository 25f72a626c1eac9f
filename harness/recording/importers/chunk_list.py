"""One JSON event a line, or one JSON array of events, without the framing of the wire.

The list may hold several responses. Where the lines or the array are what the API itself
sends (Ollama's NDJSON, Gemini's array), the body of one response stays as it is.
"""

from pathlib import PurePath
from typing import Final

from harness.recording import marks
from harness.recording.importers.container import Found, found, joined
from harness.recording.importers.event_list import DONE, are_lines, event_of, framed
from harness.recording.importers.raw_json import elements, on_one_line
from harness.recording.marks import first_mark
from harness.wire.payload import NotJson

_PREFIX: Final = b"data:"
_KEPT: Final = "events; framing rebuilt; no request, headers, reads or times"
_BODY_KEPT: Final = "response body; no request, headers, reads or times"


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the responses that the list holds; None where a part of it is no event."""
    if data.lstrip().startswith(b"["):
        return _array(path, data)
    lines = [line.strip() for line in data.strip().split(b"\n")]
    if not lines[0].startswith((b"{", _PREFIX)) or _is_framed(lines):
        return None
    if not any(line.startswith(_PREFIX) for line in lines) and _is_body(lines):
        return found(path, [joined(data)], _BODY_KEPT)
    return _listed(path, [line.removeprefix(_PREFIX).strip() for line in lines if line])


def _is_body(lines: list[bytes]) -> bool:
    """Tell whether the lines are one response as the API itself sends it."""
    return are_lines(lines) and len(framed(line for line in lines if line)) == 1


def _listed(path: PurePath, payloads: list[bytes]) -> Found | None:
    responses = framed(payloads)
    kept = _KEPT if DONE in payloads else f"{_KEPT}; no [DONE]"
    return found(path, map(joined, responses), kept) if responses else None


def _is_framed(lines: list[bytes]) -> bool:
    """Tell whether this is an event stream as it was on the wire, or no list at all."""
    if len(lines) == 1:
        return True
    return b"" in lines and all(line.startswith(_PREFIX) for line in lines if line)


def _array(path: PurePath, data: bytes) -> Found | None:
    """Take an array of events; any other array is nobody's recording."""
    payloads = _elements(data)
    events = [event_of(payload) for payload in payloads]
    mark = first_mark((event, "") for event in events)
    if not mark.strong:
        return None
    if mark.dialect == marks.GEMINI:
        return found(path, [joined(data)], _BODY_KEPT)
    return _listed(path, payloads)


def _elements(data: bytes) -> list[bytes]:
    try:
        return list(map(on_one_line, elements(data)))
    except NotJson:
        return []
