"""A raw response body that is no text of events: AWS messages, or JSON that was cut short.

Told by its first message, line or element alone, since a recording may end anywhere. What the
user names a dialect for is a body whatever its bytes.
"""

import json
from pathlib import PurePath
from typing import Final

from harness.recording.importers.container import Found, found, joined
from harness.recording.importers.event_list import event_of
from harness.recording.marks import mark_of
from harness.wire.aws_event_stream import MessageDecoder

CONTAINER: Final = "raw-body"
KEPT: Final = "response body; no request, headers, reads or times"

_PRELUDE_BYTES: Final = 12
_SPACE: Final = " \t\r\n"


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the body as the one response of a cassette; None where its start tells nothing."""
    known = _are_messages(data) or _are_lines(data) or _is_array(data)
    return taken(path, data) if known else None


def taken(path: PurePath, data: bytes) -> Found:
    """Return `data` as the one response of a cassette without a request."""
    return found(path, [joined(data)], KEPT)


def _are_messages(data: bytes) -> bool:
    """Whether this begins with a prelude whose checksum is right."""
    prelude = data[:_PRELUDE_BYTES]
    is_whole = data.startswith(b"\0") and len(prelude) == _PRELUDE_BYTES
    return is_whole and not MessageDecoder().feed(prelude)


def _are_lines(data: bytes) -> bool:
    """Whether each line but the last is an event, and the first tells its dialect."""
    lines = [line.strip() for line in data.strip().split(b"\n")]
    if len(lines) == 1 or not mark_of(event_of(lines[0])).strong:
        return False
    return all(not line or event_of(line) is not None for line in lines[:-1])


def _is_array(data: bytes) -> bool:
    """Whether this begins like an array whose first element tells its dialect."""
    start = data.lstrip()
    if not start.startswith(b"["):
        return False
    text = start[1:].decode("utf-8", "replace").lstrip(_SPACE)
    try:
        first, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    after = text[end:].lstrip(_SPACE)
    return after[:1] in ("", ",") and mark_of(first).strong
