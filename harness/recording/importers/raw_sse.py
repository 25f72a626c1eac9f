"""A raw response body: the text of an event stream, or one JSON answer, in any file.

A JSON document is an answer where its words tell the dialect.
"""

import re
from pathlib import PurePath

from harness.recording.importers.container import Found, found, joined
from harness.recording.marks import mark_of
from harness.wire.payload import NotJson, decode_json

# The first line that is not blank is a comment or a field, and somewhere there is data.
_START = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:data|event|id|retry)?:")
_DATA = re.compile(rb"(?:^|[\r\n])data:")
_KEPT = "response body; no request, headers, reads or times"


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the body as the one response of a cassette without a request."""
    is_stream = _START.match(data) and _DATA.search(data)
    if not is_stream and not _is_answer(data):
        return None
    return found(path, [joined(data)], _KEPT)


def _is_answer(data: bytes) -> bool:
    if not data.lstrip().startswith(b"{"):
        return False
    try:
        value = decode_json(data)
    except NotJson:
        return False
    return mark_of(value).strong
