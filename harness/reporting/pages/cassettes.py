"""Compute the cassettes page: the origin, age, kind of reads, and credentials of each cassette."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.reporting.report import Report
from harness.results.result import CassetteFacts, Result

MAX_CASSETTES: Final = 200
_READS: Final = {
    "": "unknown",
    "recorded": "recorded",
    "synthetic": "synthetic",
    "mixed": "some recorded",
}
_UNKNOWN: Final = CassetteFacts()


class CassetteRow(msgspec.Struct, frozen=True):
    """A cassette: its first result, its number of cells, and how many of them fail."""

    result: Result
    cells: int
    failing: int

    @property
    def facts(self) -> CassetteFacts:
        """What the run file contains about the cassette; empty if it contains only the origin."""
        return self.result.source or _UNKNOWN

    @property
    def known(self) -> bool:
        """Whether the run file contains more about the cassette than its origin."""
        return self.result.source is not None

    @property
    def scrub(self) -> str:
        """Return as text whether the cassette contains credentials."""
        if not self.known:
            return "unknown"
        return f"{self.facts.leaks} unscrubbed" if self.facts.leaks else "clean"

    @property
    def reads(self) -> str:
        """Return as text whether the reads of the cassette were recorded."""
        return _READS[self.facts.reads] if self.known else "unknown"


class CassettesView(msgspec.Struct, frozen=True):
    """The counts of all cassettes, and the first rows: with credentials first, emulated ones last.

    Fields:
        counts: (origin, kind of reads, whether it has credentials) with the number of such
            cassettes, most first.
        more: how many further cassettes have no row.
    """

    total: int
    counts: tuple[tuple[tuple[str, str, str], int], ...]
    rows: tuple[CassetteRow, ...]
    more: int


def cassettes_page(report: Report) -> CassettesView:
    """Return the data of the page: the cassettes of the run."""
    return cassettes_of(report.run.results)


def cassettes_of(results: Iterable[Result]) -> CassettesView:
    """Return the cassettes that `results` replayed."""
    first: dict[str, Result] = {}
    cells: Counter[str] = Counter()
    failing: Counter[str] = Counter()
    for result in results:
        first.setdefault(result.cassette, result)
        cells[result.cassette] += 1
        failing[result.cassette] += result.outcome.fails
    rows = [CassetteRow(each, cells[name], failing[name]) for name, each in first.items()]
    rows.sort(
        key=lambda row: (not row.facts.leaks, row.result.origin == "emulated", row.result.cassette)
    )
    counts = Counter((row.result.origin, row.reads, row.scrub) for row in rows)
    return CassettesView(
        total=len(rows),
        counts=tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        rows=tuple(rows[:MAX_CASSETTES]),
        more=max(0, len(rows) - MAX_CASSETTES),
    )
