"""Find the request of a response that a recorder stored in a separate file next to it."""

import re
from pathlib import Path, PurePath
from typing import Final

from harness.errors import UnreadableError
from harness.files.load import read_file
from harness.recording.logged_request import request_in
from harness.wire.interaction import Request
from harness.wire.payload import json_or_none

# `response-streaming.json` belongs to `request.json`.
_RESPONSE: Final = re.compile(r"response(?:[-_.](?:streaming|streamed|stream))?", re.IGNORECASE)
_MOST_BYTES: Final = 32 * 1024 * 1024


def request_beside(path: PurePath) -> Request | None:
    """Return the request in the file that belongs to the response at `path`; None without one."""
    name, count = _RESPONSE.subn("request", path.name)
    if count != 1 or path.suffix != ".json":
        return None
    try:
        value = json_or_none(read_file(Path(path.parent, name), most=_MOST_BYTES))
    except UnreadableError:
        return None
    found = request_in(value) if isinstance(value, dict) else None
    return Request(found.method, found.uri, found.headers, found.body) if found else None
