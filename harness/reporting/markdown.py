"""Hostile text -> Markdown that shows it and does nothing else: no link, no markup, no HTML."""

import re
from collections.abc import Iterable

from harness.reporting.visible import marked, plain

_ESCAPES = {char: f"\\{char}" for char in "\\`*_[]|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# These would mention somebody, refer to an issue or embed a picture.
_ESCAPES |= {"@": "&#64;", "#": "&#35;", "!": "&#33;"}
# A bare address would become a link.
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
_BACKTICKS = re.compile("`+")


def text(said: str, limit: int = 300) -> str:
    """Return `said` on one line, so that Markdown and the HTML in it read it as text."""
    return escaped(plain(said, limit))


def escaped(shown: str) -> str:
    """Return what is visible text already, so that Markdown and the HTML in it read it as text."""
    signs = "".join(_ESCAPES.get(char, char) for char in shown)
    return _ADDRESS.sub(lambda found: "".join(f"&#{ord(char)};" for char in found[0]), signs)


def code(said: str) -> str:
    """Return `said` as a code span on one line, whatever backticks it holds."""
    shown = marked(said)
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or shown.startswith(" ") or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of texts that are Markdown already, without an empty line at its end."""
    titles = tuple(head)
    lines = [_row(titles), "|" + " --- |" * len(titles)]
    return "\n".join([*lines, *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
