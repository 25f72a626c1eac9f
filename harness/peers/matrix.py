"""Counts of a matrix: cells of a peer by dialect and by group of quirks, and its worst failures.

Each cell is in exactly one dialect and one group, so that the counts of either add up.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from harness.judging.catalogue import GROUP_TITLES, Quirk
from harness.judging.results import Outcome, Result
from harness.judging.scenario import CASSETTE_PREFIX
from harness.runs.statistics import Interval, wilson

_NO_QUIRK: Final = ""
# Group -> title, in the order of the matrix.
GROUPS: Final[dict[str, str]] = {
    **{group: f"{group}: {title}" for group, title in GROUP_TITLES.items()},
    _NO_QUIRK: "Without a quirk",
}


class Tally(msgspec.Struct, frozen=True):
    """Numbers of cells.

    Fields:
        causes: different causes of the failures (see `harness.judging.cause`).
        unjudged: because the bytes are ambiguous; they are not among the judged.
        unsupported: because the peer does not declare support; they are not among the judged.
    """

    conforming: int
    judged: int
    causes: int
    unjudged: int
    unsupported: int

    @property
    def interval(self) -> Interval:
        """The Wilson 95 % interval of conforming / judged."""
        return wilson(self.conforming, self.judged)


class WorstFailure(msgspec.Struct, frozen=True):
    """A cause of failure: the worst outcome, the number of cells, and the smallest of them."""

    cause: str
    outcome: Outcome
    cells: int
    example: Result


def tally(results: Iterable[Result]) -> Tally:
    """Count the cells of `results`."""
    found = tuple(results)
    outcomes = [result.outcome for result in found]
    return Tally(
        conforming=sum(outcome.conforms for outcome in outcomes),
        judged=sum(outcome.judged for outcome in outcomes),
        causes=len({_cause(result) for result in found if result.outcome.fails}),
        unjudged=outcomes.count(Outcome.UNJUDGED),
        unsupported=outcomes.count(Outcome.UNSUPPORTED),
    )


def by_dialect(results: Iterable[Result]) -> dict[str, tuple[Result, ...]]:
    """Return the cells of each dialect, by name."""
    return _parts((result.dialect, result) for result in results)


def by_group(
    results: Iterable[Result], catalogue: Mapping[str, Quirk]
) -> dict[str, tuple[Result, ...]]:
    """Return the cells of each group, by the keys of `GROUPS`: the group of the first quirk."""
    return _parts((_group(result, catalogue), result) for result in results)


def is_recording(result: Result) -> bool:
    """Whether the cell is of a recording without a scenario, which the oracle judges."""
    return result.scenario.startswith(CASSETTE_PREFIX)


def worst_failures(results: Iterable[Result], most: int) -> tuple[WorstFailure, ...]:
    """Return at most `most` causes of failure: the worst outcome first, then the most cells."""
    causes: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.outcome.fails:
            causes[_cause(result)].append(result)
    found = [
        WorstFailure(
            cause,
            min((each.outcome for each in failing), key=lambda outcome: outcome.badness),
            len(failing),
            min(failing, key=_example_order),
        )
        for cause, failing in causes.items()
    ]
    return tuple(sorted(found, key=lambda it: (it.outcome.badness, -it.cells, it.cause))[:most])


def _parts(keyed: Iterable[tuple[str, Result]]) -> dict[str, tuple[Result, ...]]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for key, result in keyed:
        found[key].append(result)
    return {key: tuple(results) for key, results in sorted(found.items())}


def _group(result: Result, catalogue: Mapping[str, Quirk]) -> str:
    known = (catalogue[quirk].group for quirk in result.quirks if quirk in catalogue)
    return next(known, _NO_QUIRK)


def _cause(result: Result) -> str:
    return result.cause or result.outcome.value


def _example_order(result: Result) -> tuple[int, bool, int, str]:
    """Prefer the worst outcome, then a scenario to a recording, then a short body."""
    size = result.source.size if result.source is not None else 0
    return result.outcome.badness, is_recording(result), size, result.cell
