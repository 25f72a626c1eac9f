"""What a report is made of: the run, its context, and links into the page.

The caller gives everything: nothing is looked up here. A link is `kind/NAME`, percent-encoded;
`case/CELL@412` also names a byte, so `@`, `?` and `&` in a name are encoded.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote

import msgspec

from harness.judging.catalogue import Quirk
from harness.runs.kill_table import MeasuredKill
from harness.runs.run import Run


class NamedRun(msgspec.Struct, frozen=True):
    """A run under the name that its reader knows it by, such as its file's."""

    label: str
    run: Run


class ReportContext(msgspec.Struct, frozen=True):
    """What stands beside a run.

    Fields:
        base: the run that it is compared with; None where none was named.
        history: earlier runs, the oldest first; the run itself is not among them.
        label: the run's own name in the trends.
        quirks: the catalogue, by id: titles, rules and citations of the quirks met.
        kills: what proves that each rule can fail.
        live: the run still goes on, and the page is served while it does.
    """

    base: NamedRun | None = None
    history: tuple[NamedRun, ...] = ()
    label: str = "this run"
    quirks: Mapping[str, Quirk] = msgspec.field(default_factory=dict)
    kills: tuple[MeasuredKill, ...] = ()
    live: bool = False


NO_CONTEXT = ReportContext()


AnchorKind = Literal[
    "case", "failure", "model", "prompt", "normalizer", "agent", "quirk", "cassette"
]


def anchor(name: str, kind: AnchorKind = "case") -> str:
    """Return the id of the place of `name`; the same text works after `#`."""
    return f"{kind}/{quote(name, safe='/:!$*,;', errors='replace')}"


def replays_link(**wanted: str) -> str:
    """Return the place of the table of replays, filtered by `field:value` of each keyword."""
    terms = (f"{field}:{_quote_value(value)}" for field, value in wanted.items() if value)
    return "replays?q=" + quote(" ".join(terms), safe="", errors="replace")


def _quote_value(value: str) -> str:
    literal = value.replace('"', "?")  # a wildcard stands for the one character that cannot be said
    return f'"{literal}"' if set(literal) & set(' ,"') else literal
