"""Text of the catalogue -> Markdown that shows it unchanged."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_CODE: Final = re.compile(r"(`+[^`]+`+)")
_SPECIAL: Final = re.compile(r"([\\*_<>\[\]{}|~$#&])")
_FENCES: Final = re.compile(r"~{3,}")


def prose(text: str) -> str:
    """Return `text` on one line; spans in backticks are code, and the rest is literal."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(
        part if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts)
    )


def cell(text: str) -> str:
    """Return Markdown for a cell of a table, where a bar would end the cell even in code."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of Markdown; none if there are no rows."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    if lines:
        yield from (f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}", *lines, "")


def code_block(text: str, language: str = "text") -> Iterator[str]:
    """Yield the lines of a block of code, whatever fences `text` has.

    Args:
        text: the code.
        language: for highlighting, or a directive with its options.
    """
    fence = "~" * max([3, *(len(found) + 1 for found in _FENCES.findall(text))])
    yield from (f"{fence}{language}", text, fence, "")


def link(name: str, target: str) -> str:
    """Return a link whose text is code."""
    return f"[`{name}`]({target})"
