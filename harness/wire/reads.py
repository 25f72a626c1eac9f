"""Read and write network reads as cassettes store them: `"0:412 31:598"`.

Each pair is the milliseconds since the previous read, and the number of bytes. `synthetic` means
that the recorder did not store reads. Then each event, line, element or message is one read.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from harness.errors import StreamError
from harness.wire.aws import borders
from harness.wire.interaction import Headers, Interaction, Read, Request
from harness.wire.json_stream import ElementDecoder, holds_lines

SYNTHETIC: Final = "synthetic"

_PAIRS = re.compile(r"(?:[0-9]{1,12}:[1-9][0-9]{0,11}(?: [0-9]{1,12}:[1-9][0-9]{0,11})*)?")
_LINE_END = re.compile(rb"\n")
_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\r?\n|\r\r")


def parse_reads(text: str) -> tuple[Read, ...] | None:
    """Return the reads in a text such as `0:412 31:598`; None if the text has another format."""
    if not _PAIRS.fullmatch(text):
        return None
    numbers = [*map(int, text.replace(":", " ").split())]
    return tuple(map(Read, numbers[1::2], numbers[::2]))


def format_reads(reads: tuple[Read, ...]) -> str:
    """Return `reads` as text such as `0:412 31:598`, for `parse_reads`."""
    return " ".join(f"{read.delay_ms}:{read.size}" for read in reads)


def synthetic_interaction(  # noqa: PLR0913 - an interaction has these parts
    body: bytes,
    request: Request | None = None,
    *,
    status: int = 200,
    headers: Headers = (),
    dialect: str = "openai-chat",
    tools: tuple[dict[str, Any], ...] = (),
) -> Interaction:
    """Return an interaction that was never on a network, with one read for each frame of `body`."""
    return Interaction(
        request or Request(),
        status,
        headers,
        body,
        synthetic_reads(body),
        reads_kept=False,
        dialect=dialect,
        tools=tools,
    )


def synthetic_reads(body: bytes) -> tuple[Read, ...]:
    """Return one read for each frame of `body`, as from a server that flushes after each frame."""
    ends_of = _ENDS_BY_FIRST_BYTE.get(body.lstrip()[:1], _event_ends)
    ends = sorted({*ends_of(body), len(body)} - {0})
    starts = [0, *ends][: len(ends)]
    return tuple(Read(end - start) for start, end in zip(starts, ends, strict=True))


def _event_ends(body: bytes) -> Iterable[int]:
    return (match.end() for match in _BLANK_LINE.finditer(body))


def _line_ends(body: bytes) -> Iterable[int]:
    if not holds_lines(body.lstrip()):
        return ()
    return (match.end() for match in _LINE_END.finditer(body))


def _element_ends(body: bytes) -> Iterable[int]:
    """Return the offset of the end of each array element; the next read starts with the comma."""
    try:
        elements = ElementDecoder().feed(body[body.index(b"[") :])
    except StreamError:
        return ()
    start = body.index(b"[")
    return (start + element.offset + len(element.data) for element in elements)


# As `framing` distinguishes the framings.
_ENDS_BY_FIRST_BYTE: Final[dict[bytes, Callable[[bytes], Iterable[int]]]] = {
    b"{": _line_ends,
    b"[": _element_ends,
    b"\0": lambda body: (border[-1] for border in borders(body)),
}
