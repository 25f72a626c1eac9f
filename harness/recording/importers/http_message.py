"""Parse HTTP/1.x messages, and remove the chunked transfer coding.

If the header states chunked and the body has no chunks, the recorder has decoded it, and it is
unchanged.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from harness.recording.importers.container import join_reads
from harness.wire.decompress import decode_body_if_possible
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.reads import synthetic_reads

_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE: Final = re.compile(rb"HTTP/[0-9.]{1,3} ([0-9]{3})\b")
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,12})[ \t]*(?:;[^\r\n]{0,200})?\r?\n")
_FINAL: Final = 200
# A truncated chunk size is not longer than this.
_SHORT: Final = 14

# Bytes of one network read, with the milliseconds before them.
Piece = tuple[bytes, int]


def parse_message(data: bytes) -> tuple[bytes, Headers, bytes]:
    """Split an HTTP message into its first line, headers and body."""
    blank = _BLANK_LINE.search(data)
    head = data[: blank.start()] if blank else data
    first, *lines = head.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    pairs = (line.decode("latin-1").partition(":") for line in lines)
    headers = tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)
    return first, headers, data[blank.end() :] if blank else b""


def status_of(line: bytes) -> int | None:
    """Return the code of a status line, or None if it is another line."""
    match = _STATUS_LINE.match(line)
    return int(match[1]) if match else None


def is_interim(status: int) -> bool:
    """Whether this status belongs to an interim response, which the final response follows."""
    return status < _FINAL


def header_of(headers: Headers, name: str) -> str:
    """Return the first header called `name` (in any case), or ""."""
    return next((value for key, value in headers if key.lower() == name), "")


def response_interaction(
    request: Request, status: int, headers: Headers, pieces: Iterable[Piece], *, kept: bool
) -> Interaction:
    """Return the interaction of a response whose body is in `pieces`.

    Args:
        request: the request that the response answers.
        status: the status of the response.
        headers: the headers of the response.
        pieces: the body with its transfer coding, in the parts in which it arrived.
        kept: whether each part is a network read.
    """
    coded = list(pieces)
    if "chunked" in header_of(headers, "transfer-encoding").lower():
        coded = list(without_chunks(coded))
    whole, reads = join_reads(coded)
    body, headers = decode_body_if_possible(whole, headers)
    kept = kept and body is whole
    return Interaction(
        request, status, headers, body, reads if kept else synthetic_reads(body), kept
    )


def without_chunks(pieces: list[Piece]) -> Iterator[Piece]:
    """Yield the parts of a body without the chunked transfer coding, or unchanged without one."""
    payloads = chunk_ranges(b"".join(data for data, _ in pieces))
    if payloads is None:
        yield from pieces
        return
    start, waiting, at = 0, 0, 0
    for data, delay in pieces:
        end, waiting = start + len(data), waiting + delay
        kept: list[bytes] = []
        while at < len(payloads) and payloads[at][0] < end:
            first, last = payloads[at]
            kept.append(data[max(first - start, 0) : last - start])
            if last > end:
                break
            at += 1
        if piece := b"".join(kept):
            yield piece, waiting
            waiting = 0
        start = end


def chunk_ranges(body: bytes) -> list[tuple[int, int]] | None:
    """Return start and end of the payload of each chunk, or None if there are no chunks.

    For a truncated body, return the chunks received so far.
    """
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(body):
        size = _CHUNK_SIZE.match(body, at)
        if size is None:
            return found if found and len(body) - at <= _SHORT else None
        length = int(size[1], 16)
        if length == 0:
            return found
        end = size.end() + length
        found.append((size.end(), min(end, len(body))))
        at = end + (2 if body.startswith(b"\r\n", end) else 1)
    return found
