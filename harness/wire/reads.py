"""Reads to and from their spelling in a cassette: `"0:412 31:598"`.

Each pair is milliseconds since the last read, then bytes. `synthetic` stands where the
source did not keep them; then each event is one read.
"""

import re
from typing import Final

from harness.wire.interaction import Read

SYNTHETIC: Final = "synthetic"

_PAIRS = re.compile(r"(?:[0-9]{1,12}:[1-9][0-9]{0,11}(?: [0-9]{1,12}:[1-9][0-9]{0,11})*)?")
_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\r?\n|\r\r")


def parse(text: str) -> tuple[Read, ...] | None:
    """Return the reads that `text` spells, or None where it is not such a text."""
    if not _PAIRS.fullmatch(text):
        return None
    pairs = (pair.split(":") for pair in text.split())
    return tuple(Read(int(size), int(delay)) for delay, size in pairs)


def spell(reads: tuple[Read, ...]) -> str:
    """Return the text that `parse` reads back as `reads`."""
    return " ".join(f"{read.delay_ms}:{read.size}" for read in reads)


def synthetic(body: bytes) -> tuple[Read, ...]:
    """Return one read for each event of `body`, each ending after a blank line."""
    ends = [match.end() for match in _BLANK_LINE.finditer(body)]
    if not ends or ends[-1] != len(body):
        ends.append(len(body))
    starts = [0, *ends[:-1]]
    return tuple(Read(end - start) for start, end in zip(starts, ends, strict=True) if end > start)
