"""Make hostile text or bytes safe to show: on the page, on one line, or in Markdown.

Control characters become their pictures, and format, bidi and other unprintable characters their
code (U+2028). The result states how much of a long text is left out. A piece is a part of a text
for the page, whose template escapes markup. Markdown shows the text and creates no link, markup or
HTML.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Literal

import msgspec

from harness.wire.cuts import Chunking

# Categories of characters that are invisible, or that move or hide their neighbours.
_UNSEEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
_UNSEEN_MARKS = frozenset((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
_DELETE = 0x7F
_NAMES = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL"),
    *("BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI"),
    *("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB"),
    *("CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
)

# The picture of each control character, and its name.
PICTURES = {chr(0x2400 + point): name for point, name in enumerate(_NAMES)} | {"␡": "DEL"}
_ESCAPED_BYTES = range(0xDC80, 0xDD00)

PieceKind = Literal["text", "code", "tick", "gap", "absent"]


class Piece(msgspec.Struct, frozen=True):
    """A part of a text for the page.

    Fields:
        kind: `text` is unchanged; `code` replaces an invisible character; `tick` is the end of a
            read (its text is the offset); `gap` is text that is not shown; `absent` is a missing
            value.
    """

    kind: PieceKind
    text: str


@lru_cache(maxsize=4096)
def code_of(char: str) -> str:
    """Return the code of an invisible character; "" for a visible one."""
    point = ord(char)
    if point in _ESCAPED_BYTES:
        return f"\\x{point - 0xDC00:02X}"
    if point < ord(" "):
        return chr(0x2400 + point)
    if point == _DELETE:
        return "␡"
    category = unicodedata.category(char)
    odd_space = category == "Zs" and char != " "
    if category in _UNSEEN or odd_space or point in _UNSEEN_MARKS:
        return f"U+{point:04X}"
    return ""


def pieces(text: str, limit: int = 2_000) -> tuple[Piece, ...]:
    """Split `text` into pieces for the page. If it is longer than `limit`, leave out its middle."""
    if len(text) <= limit:
        return tuple(_join(text))
    tail = limit // 4
    gap = Piece("gap", f"{len(text) - limit:,} characters left out")
    return (*_join(text[: limit - tail]), gap, *_join(text[-tail:]))


def byte_pieces(
    body: bytes, start: int, end: int, cuts: Chunking = (), limit: int = 1_200
) -> tuple[Piece, ...]:
    """Split `body[start:end]` into pieces for the page, with a tick at each offset in `cuts`.

    A character that a cut divides is shown as its bytes, because no read has all of it.
    """
    if end - start <= limit:
        return tuple(_ticked(body, start, end, cuts))
    head = start + limit - limit // 4
    tail = end - limit // 4
    gap = Piece("gap", f"{tail - head:,} bytes left out")
    return (*_ticked(body, start, head, cuts), gap, *_ticked(body, tail, end, cuts))


def plain(text: str, limit: int = 300) -> str:
    r"""Return `text` on one line, invisible characters as codes, at most about `limit` long.

    A control character becomes `\\xNN` here, because few fonts have its picture.
    """
    cut = text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit:,})"
    if cut.isascii() and cut.isprintable():
        return cut
    return "".join(_plain_char(char) for char in cut)


def marked(data: bytes | str) -> str:
    r"""Return `data` as one line for a terminal: ␊ for controls, <U+2028>, <\xFF> for odd bytes.

    The line contains all of the data, and no escape sequence for the terminal.
    """
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    if text.isascii() and text.isprintable():
        return text
    return "".join(_bracketed(code_of(char)) or char for char in text)


def _bracketed(code: str) -> str:
    return f"<{code}>" if len(code) > 1 else code


def _plain_char(char: str) -> str:
    code = code_of(char)
    return f"\\x{ord(char):02X}" if code in PICTURES else code or char


def _ticked(body: bytes, start: int, end: int, cuts: Chunking) -> Iterator[Piece]:
    place = start
    for cut in cuts:
        if start <= cut < end:
            yield from _join(_decode(body[place:cut]))
            yield Piece("tick", f"{cut:,}")
            place = cut
    yield from _join(_decode(body[place:end]))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _join(text: str) -> Iterator[Piece]:
    """Yield each run of visible characters as one piece, and each invisible one as its code."""
    for has_code, chars in groupby(text, key=lambda char: bool(code_of(char))):
        if has_code:
            yield from (Piece("code", code_of(char)) for char in chars)
        else:
            yield Piece("text", "".join(chars))


_ESCAPES = {char: f"\\{char}" for char in "\\`*_[]|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# These would mention a user, refer to an issue or embed a picture.
_ESCAPES |= {"@": "&#64;", "#": "&#35;", "!": "&#33;"}
# GitHub shows what two dollar signs enclose as a formula.
_ESCAPES |= {"$": "&#36;"}
# A bare address would become a link.
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
# At the start of a line, these begin a list, a heading, a rule or a block of code.
_LINE_START = re.compile(r" +|[-+](?=\s|$)|[-=](?=[-=\s]*$)|[0-9]{1,9}(?=[.)](\s|$))")
_BACKTICKS = re.compile("`+")


def markdown_text(text: str, limit: int = 300) -> str:
    """Return `text` on one line, so that Markdown and the HTML in it contain it as text."""
    return markdown_escaped(plain(text, limit))


def markdown_escaped(shown: str) -> str:
    """Return `shown`, which has no invisible characters, escaped for Markdown and HTML in it."""
    start = _LINE_START.match(shown)
    first, rest = (start[0], shown[start.end() :]) if start else ("", shown)
    signs = _as_codes(first) + "".join(_ESCAPES.get(char, char) for char in rest)
    return _ADDRESS.sub(lambda found: _as_codes(found[0]), signs)


def _as_codes(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


def markdown_code(text: str) -> str:
    """Return `text` as a code span on one line, also if it has backticks."""
    shown = marked(text)
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or shown.startswith(" ") or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of texts that are Markdown already, without an empty line at its end."""
    titles = tuple(head)
    lines = [_markdown_row(titles), "|" + " --- |" * len(titles)]
    return "\n".join([*lines, *map(_markdown_row, rows)])


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def aligned_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield `rows` as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
