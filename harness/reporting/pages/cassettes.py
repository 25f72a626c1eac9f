"""The cassettes of a run -> a table: origin, age, reads kept or synthetic, scrub status."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.judging.results import CassetteFacts, Result
from harness.reporting.words import fails

MOST_CASSETTES: Final = 200
_READS: Final = {
    "": "not known",
    "recorded": "kept",
    "synthetic": "synthetic",
    "mixed": "some kept",
}
_UNKNOWN: Final = CassetteFacts()


class CassetteRow(msgspec.Struct, frozen=True):
    """One cassette, with the number of its cells and of those that fail.

    Fields:
        known: whether the run says more of it than its origin.
    """

    id: str
    origin: str
    provider: str
    model: str
    dialect: str
    facts: CassetteFacts
    known: bool
    cells: int
    failing: int

    @property
    def scrub(self) -> str:
        """Say whether credentials were found in it."""
        if not self.known:
            return "not known"
        return f"{self.facts.leaks} unscrubbed" if self.facts.leaks else "clean"

    @property
    def reads(self) -> str:
        """Say whether the network's own reads were kept."""
        return _READS[self.facts.reads] if self.known else "not known"


class Cassettes(msgspec.Struct, frozen=True):
    """All cassettes in counts, and the first rows: unscrubbed first, then measured, then by id.

    Fields:
        counts: (origin, reads, scrub) and how many cassettes are so, most first.
        more: how many rows are left out.
    """

    total: int
    counts: tuple[tuple[tuple[str, str, str], int], ...]
    rows: tuple[CassetteRow, ...]
    more: int


def cassettes(results: Iterable[Result]) -> Cassettes:
    """Return the cassettes behind `results`."""
    first: dict[str, Result] = {}
    cells: Counter[str] = Counter()
    failing: Counter[str] = Counter()
    for result in results:
        first.setdefault(result.cassette, result)
        cells[result.cassette] += 1
        failing[result.cassette] += fails(result)
    rows = sorted(
        (_row(each, cells[name], failing[name]) for name, each in first.items()), key=_sort_key
    )
    counts = Counter((row.origin, row.reads, row.scrub) for row in rows)
    return Cassettes(
        total=len(rows),
        counts=tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        rows=tuple(rows[:MOST_CASSETTES]),
        more=max(0, len(rows) - MOST_CASSETTES),
    )


def _row(result: Result, cells: int, failing: int) -> CassetteRow:
    return CassetteRow(
        id=result.cassette,
        origin=result.origin,
        provider=result.provider,
        model=result.model,
        dialect=result.dialect,
        facts=result.source or _UNKNOWN,
        known=result.source is not None,
        cells=cells,
        failing=failing,
    )


def _sort_key(row: CassetteRow) -> tuple[bool, bool, str]:
    return not row.facts.leaks, row.origin == "emulated", row.id
