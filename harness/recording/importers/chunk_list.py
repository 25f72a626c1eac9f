"""Import one JSON event a line, or one JSON array of events, without the framing of the API.

The list may contain several responses. If the API itself sends such lines or such an array
(Ollama's NDJSON, Gemini's array), the body of one response is unchanged.
"""

from pathlib import PurePath
from typing import Final

from harness.dialects.table import DETECTOR
from harness.recording.importers.container import (
    ContainerFile,
    body_file,
    body_interaction,
    container_file,
)
from harness.recording.importers.event_list import (
    DONE,
    are_json_lines,
    elements,
    frame_responses,
    on_one_line,
    parse_event,
)
from harness.wire.payload import NotJson

_PREFIX: Final = b"data:"
_KEPT: Final = "events; framing rebuilt; no request, headers, reads or times"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the responses in the list, or None if a part of it is not an event."""
    if data.lstrip().startswith(b"["):
        return _array(path, data)
    lines = [line.strip() for line in data.strip().split(b"\n")]
    if not lines[0].startswith((b"{", _PREFIX)) or _is_framed(lines):
        return None
    if not any(line.startswith(_PREFIX) for line in lines) and _is_body(lines):
        return body_file(path, data)
    return _listed(path, [line.removeprefix(_PREFIX).strip() for line in lines if line])


def _is_body(lines: list[bytes]) -> bool:
    """Whether the lines together are the body of one response as the API sends it."""
    return are_json_lines(lines) and len(frame_responses(line for line in lines if line)) == 1


def _listed(path: PurePath, payloads: list[bytes]) -> ContainerFile | None:
    responses = frame_responses(payloads)
    kept = _KEPT if DONE in payloads else f"{_KEPT}; no [DONE]"
    return container_file(path, map(body_interaction, responses), kept) if responses else None


def _is_framed(lines: list[bytes]) -> bool:
    """Whether the lines are an event stream with its framing, or not a list of events."""
    if len(lines) == 1:
        return True
    return b"" in lines and all(line.startswith(_PREFIX) for line in lines if line)


def _array(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the responses in a JSON array of events, or None if it is an array of other values."""
    payloads = _elements(data)
    events = [parse_event(payload) for payload in payloads]
    mark = DETECTOR.first_mark((event, "") for event in events)
    if not mark.strong:
        return None
    if DETECTOR.by_dialect[mark.dialect].sends_arrays:
        return body_file(path, data)
    return _listed(path, payloads)


def _elements(data: bytes) -> list[bytes]:
    try:
        return list(map(on_one_line, elements(data)))
    except NotJson:
        return []
