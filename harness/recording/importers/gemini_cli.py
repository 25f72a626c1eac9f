"""Recordings of Gemini CLI: one `{"method": ..., "response": ...}` a line.

A `generateContentStream` holds the chunks of one stream, as objects of the SDK. The framing
is built anew as server-sent events; other methods were no streams, and stay to be counted.
"""

from pathlib import PurePath
from typing import Final

import msgspec

from harness.recording.importers.container import found, joined
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction, Request
from harness.wire.sse import encode

# Method of the SDK -> the verb at the end of the address that it calls.
_STREAM: Final = "generateContentStream"
_VERBS: Final = {_STREAM: "streamGenerateContent"}
_KEPT: Final = "events as objects of the SDK; framing rebuilt; no request, headers, reads or times"


class _Line(msgspec.Struct):
    method: str
    response: msgspec.Raw


def read(path: PurePath, data: bytes) -> Cassette | None:
    """Return an interaction for each line; None where a line is no such object."""
    if not data.lstrip().startswith(b'{"method"'):
        return None
    lines = [line for line in data.split(b"\n") if line.strip()]
    try:
        calls = [msgspec.json.decode(line, type=_Line) for line in lines]
        return found(path, list(map(_interaction, calls)), _KEPT)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _interaction(call: _Line) -> Interaction:
    request = Request("POST", f":{_VERBS.get(call.method, call.method)}")
    answer = bytes(call.response)
    if call.method == _STREAM:
        chunks = msgspec.json.decode(answer, type=list[msgspec.Raw])
        answer = b"".join(encode(bytes(chunk)) for chunk in chunks)
    return joined(answer, request)
