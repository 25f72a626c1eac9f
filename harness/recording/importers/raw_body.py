"""Import raw response bodies: an event stream, one JSON answer, AWS messages, or truncated JSON.

A body is recognized by its first line, message or element alone, because a recording may end
anywhere. If the user names a dialect, any bytes are a body.
"""

import json
import re
from pathlib import PurePath
from typing import Final

from harness.dialects.table import DETECTOR
from harness.recording.importers.container import ContainerFile, body_file
from harness.recording.importers.event_list import parse_event
from harness.wire.aws import MessageDecoder

# The first line that is not blank is a comment or a field, and there is data.
_START = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:data|event|id|retry)?:")
_DATA = re.compile(rb"(?:^|[\r\n])data:")


def read_text(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the body as the only response of a cassette without a request."""
    is_stream = _START.match(data) and _DATA.search(data)
    if not is_stream and not _is_answer(data):
        return None
    return body_file(path, data)


def _is_answer(data: bytes) -> bool:
    return data.lstrip().startswith(b"{") and DETECTOR.mark_of(parse_event(data)).strong


CONTAINER: Final = "raw-body"

_PRELUDE_BYTES: Final = 12
_SPACE: Final = " \t\r\n"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the body as the only response of a cassette, or None if its start is unknown."""
    known = _are_messages(data) or _are_lines(data) or _is_array(data)
    return body_file(path, data) if known else None


def _are_messages(data: bytes) -> bool:
    """Whether `data` begins with an AWS message's prelude that has a correct checksum."""
    prelude = data[:_PRELUDE_BYTES]
    is_whole = data.startswith(b"\0") and len(prelude) == _PRELUDE_BYTES
    return is_whole and not MessageDecoder().feed(prelude)


def _are_lines(data: bytes) -> bool:
    """Whether each line except the last is an event, and the first one shows its dialect."""
    lines = [line.strip() for line in data.strip().split(b"\n")]
    if len(lines) == 1 or not DETECTOR.mark_of(parse_event(lines[0])).strong:
        return False
    return all(not line or parse_event(line) is not None for line in lines[:-1])


def _is_array(data: bytes) -> bool:
    """Whether `data` begins like a JSON array whose first element shows its dialect."""
    start = data.lstrip()
    if not start.startswith(b"["):
        return False
    text = start[1:].decode("utf-8", "replace").lstrip(_SPACE)
    try:
        first, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    after = text[end:].lstrip(_SPACE)
    return after[:1] in ("", ",") and DETECTOR.mark_of(first).strong
