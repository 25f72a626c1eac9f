"""Choose cuts: the offsets at which one network read ends and the next begins.

A chunking is a sorted tuple of offsets strictly inside the body. Most cuts break no decoder.
Seams are the cuts that do break decoders: inside a character, a line end or a JSON escape,
between events, and between the parts of an AWS message.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from harness.wire import aws

Chunking: TypeAlias = tuple[int, ...]

UNSPLIT: Chunking = ()

# Where a decoder is likely to break: after a line end, or half of one, and after a backslash;
# inside an escape; around the colon of a field; inside a character.
_AFTER = re.compile(rb"[\r\n\\]")
_IN_ESCAPE = re.compile(rb"(?<=\\)u[0-9a-fA-F]{2}")
_FIELD = re.compile(rb"data:?")
_IN_CHARACTER = re.compile(rb"[\x80-\xbf]")


def each_byte(body: bytes) -> Chunking:
    """Return the chunking in which every read is one byte."""
    return tuple(range(1, len(body)))


def iter_single_cuts(body: bytes) -> Iterator[Chunking]:
    """Yield every chunking that has exactly one cut."""
    for cut in range(1, len(body)):
        yield (cut,)


def seams(body: bytes) -> Chunking:
    """Return one chunking with all offsets where a decoder is likely to break."""
    found = {match.end() for match in _AFTER.finditer(body)}
    found.update(match.end() for match in _IN_ESCAPE.finditer(body))
    for match in _FIELD.finditer(body):
        found.update((match.start() + len(b"data"), match.end()))
    if not body.isascii():
        found.update(match.start() for match in _IN_CHARACTER.finditer(body))
    if body.startswith(b"\0"):
        found.update(*aws.borders(body))
    return tuple(sorted(cut for cut in found if 0 < cut < len(body)))


def split(body: bytes, cuts: Chunking) -> Iterator[bytes]:
    """Yield the reads into which `cuts` split `body`; nothing if the body is empty."""
    start = 0
    for cut in cuts:
        yield body[start:cut]
        start = cut
    if start < len(body):
        yield body[start:]
