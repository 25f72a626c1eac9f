"""Traces of Go's httprr: lengths in bytes, then that much request and response, repeated."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from harness.errors import UnreadableError
from harness.recording.importers.container import found
from harness.wire.cassette import Cassette
from harness.wire.decompress import decompress
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.reads import synthetic

_MAGIC: Final = b"httprr trace v1\n"
_LENGTHS = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})\n")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/[0-9.]{1,3} ([0-9]{3})\b")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,12})[^\n]{0,200}\n")


def read(path: PurePath, data: bytes) -> Cassette | None:
    """Return the interactions of the trace."""
    if not data.startswith(_MAGIC):
        return None
    where = str(path)
    interactions = [_interaction(*pair, where) for pair in _pairs(data, where)]
    return found(path, interactions, "bodies and headers; no reads, no times")


def _pairs(data: bytes, where: str) -> Iterator[tuple[bytes, bytes]]:
    at = len(_MAGIC)
    while at < len(data):
        lengths = _LENGTHS.match(data, at)
        if lengths is None:
            raise _damaged("expected two lengths", at, where)
        middle = lengths.end() + int(lengths[1])
        end = middle + int(lengths[2])
        if end > len(data):
            raise _damaged(f"expected {end} bytes, found {len(data)}", at, where)
        yield data[lengths.end() : middle], data[middle:end]
        at = end


def _interaction(sent: bytes, answer: bytes, where: str) -> Interaction:
    request_line, request_headers, request_body = _message(sent)
    status_line, headers, body = _message(answer)
    status = _STATUS_LINE.match(status_line)
    if status is None:
        raise _damaged(f"expected a status line, found {status_line[:40]!r}", 0, where)
    lower = {name.lower(): value for name, value in headers}
    if "chunked" in lower.get("transfer-encoding", "").lower():
        body = _without_chunks(body, where)
    body = decompress(body, lower.get("content-encoding", ""), where)
    method, _, rest = request_line.decode("latin-1").partition(" ")
    request = Request(method, rest.partition(" ")[0], request_headers, request_body)
    return Interaction(request, int(status[1]), headers, body, synthetic(body), reads_kept=False)


def _message(data: bytes) -> tuple[bytes, Headers, bytes]:
    """Split an HTTP message to its first line, headers and body."""
    blank = _BLANK_LINE.search(data)
    head = data[: blank.start()] if blank else data
    first, *lines = head.replace(b"\r\n", b"\n").split(b"\n")
    pairs = (line.decode("latin-1").partition(":") for line in lines)
    headers = tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)
    return first, headers, data[blank.end() :] if blank else b""


def _without_chunks(body: bytes, where: str) -> bytes:
    """Take off the chunked transfer coding; its chunks are the recorder's, not the network's."""
    pieces: list[bytes] = []
    at = 0
    while size := _CHUNK_SIZE.match(body, at):
        length = int(size[1], 16)
        if length == 0:
            return b"".join(pieces)
        pieces.append(body[size.end() : size.end() + length])
        at = size.end() + length + (2 if body.startswith(b"\r\n", size.end() + length) else 1)
    raise _damaged("expected a chunk size", at, where)


def _damaged(what: str, at: int, where: str) -> UnreadableError:
    return UnreadableError(
        f"{what} at byte {at}", where=where, hint="Restore the trace from its source."
    )
