"""Names -> places in the page: the same name is the same link in every report.

A place is `kind/NAME`, percent-encoded; `case/CELL@412` leads on to a byte, so `@` in a name
is encoded, and so are `?` and `&`, which part a place from its state.
"""

from typing import Literal
from urllib.parse import quote

Kind = Literal["case", "failure", "model", "prompt", "normalizer", "agent", "quirk", "cassette"]


def anchor(name: str, kind: Kind = "case") -> str:
    """Return the id of the place of `name`; the same text works after `#`."""
    return f"{kind}/{quote(name, safe='/:!$*,;', errors='replace')}"


def search(**wanted: str) -> str:
    """Return the place of the table of replays, filtered by `field:value` of each keyword."""
    terms = (f"{field}:{_quoted(value)}" for field, value in wanted.items() if value)
    return "replays?q=" + quote(" ".join(terms), safe="", errors="replace")


def _quoted(value: str) -> str:
    literal = value.replace('"', "?")  # a wildcard stands for the one character that cannot be said
    return f'"{literal}"' if set(literal) & set(' ,"') else literal
