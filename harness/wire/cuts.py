"""Cuts: where one network read ends and the next begins.

A chunking is a sorted tuple of offsets strictly inside the body. Most offsets are dull; the
seams are those where decoders break: inside a character, a line end, a JSON escape, and
between events; and where the parts of an AWS message meet.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from harness.wire import aws

Chunking: TypeAlias = tuple[int, ...]

UNSPLIT: Chunking = ()

# Between the bytes of a line end or of two, after a line, inside a character, after a
# backslash and inside its escape, around the colon of a field.
_SEAM = re.compile(
    rb"(?<=\r)(?=\n)|(?<=[\r\n])|(?=[\x80-\xbf])|(?<=\\)|(?<=\\u[0-9a-fA-F]{2})|(?<=data)|(?<=data:)",
)


def each_byte(body: bytes) -> Chunking:
    """Return the chunking in which every read is one byte."""
    return tuple(range(1, len(body)))


def iter_single_cuts(body: bytes) -> Iterator[Chunking]:
    """Yield every chunking that has exactly one cut."""
    for cut in range(1, len(body)):
        yield (cut,)


def seams(body: bytes) -> Chunking:
    """Return all offsets where a decoder is likely to break, as one chunking."""
    found = {match.start() for match in _SEAM.finditer(body)}
    if body.startswith(b"\0"):
        found.update(*aws.borders(body))
    return tuple(sorted(cut for cut in found if 0 < cut < len(body)))


def split(body: bytes, cuts: Chunking) -> Iterator[bytes]:
    """Yield the reads that `cuts` make of `body`; an empty body gives no read."""
    start = 0
    for cut in cuts:
        yield body[start:cut]
        start = cut
    if start < len(body):
        yield body[start:]
