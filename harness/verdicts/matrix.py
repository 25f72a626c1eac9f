"""Counts of a matrix: cells of a peer by dialect and by group of quirks, and its worst failures.

Each cell is in exactly one dialect and one group, so that the counts of either add up.
"""

import shlex
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Final, TypeAlias

import msgspec

from harness.results.catalogue import GROUP_TITLES, Quirk
from harness.results.outcome import Outcome
from harness.results.result import CASSETTE_PREFIX, Result
from harness.verdicts.statistics import Interval, wilson

# How many causes of failure of each peer are shown.
WORST: Final = 3
_NO_QUIRK: Final = ""
# Group -> title, in the order of the matrix.
GROUPS: Final[dict[str, str]] = {
    **{group: f"{group}: {title}" for group, title in GROUP_TITLES.items()},
    _NO_QUIRK: "Without a quirk",
}


# Peer -> dialect or group -> cells.
Parts: TypeAlias = Mapping[str, Mapping[str, tuple[Result, ...]]]


class Tally(msgspec.Struct, frozen=True):
    """Numbers of cells.

    Fields:
        causes: different causes of the failures (see `harness.judging.raised`).
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


class Rates(msgspec.Struct, frozen=True):
    """The cells of scenarios, those of recordings, and both; the rate is that of the scenarios."""

    scenarios: Tally
    recordings: Tally
    both: Tally


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


def rates(results: Iterable[Result]) -> Rates:
    """Count the cells of `results` by what they are of."""
    found = tuple(results)
    recordings = tally(cell for cell in found if is_recording(cell))
    return Rates(tally(scenario_cells(found)), recordings, tally(found))


def unsupported(results: Iterable[Result], dialects: Container[str]) -> int:
    """Return how many cells in `dialects`, those of a peer, are unsupported."""
    return tally(cell for cell in results if cell.dialect in dialects).unsupported


def by_dialect(results: Iterable[Result]) -> dict[str, tuple[Result, ...]]:
    """Return the cells of each dialect, by name."""
    return _parts((result.dialect, result) for result in results)


def by_group(
    results: Iterable[Result], catalogue: Mapping[str, Quirk]
) -> dict[str, tuple[Result, ...]]:
    """Return the cells of each group, by the keys of `GROUPS`: the group of the first quirk."""
    return _parts((_group(result, catalogue), result) for result in results)


def ranked(parts: Parts, key: str) -> dict[str, tuple[Result, ...]]:
    """Return the supported cells of `key` by peer, the best lower bound of a rate first."""
    found = {
        name: tuple(cell for cell in cells.get(key, ()) if cell.outcome is not Outcome.UNSUPPORTED)
        for name, cells in parts.items()
    }
    lows = {name: tally(scenario_cells(cells)).interval.low for name, cells in found.items()}
    order = sorted(found, key=lambda name: (-lows[name], name))
    return {name: found[name] for name in order if found[name]}


def judged_groups(
    found: Mapping[str, tuple[Result, ...]], catalogue: Mapping[str, Quirk]
) -> dict[str, dict[str, tuple[Result, ...]]]:
    """Return the scenarios of each peer by the groups that have a judged one in any of them."""
    parts = {name: by_group(scenario_cells(cells), catalogue) for name, cells in found.items()}
    used = [it for it in GROUPS if any(tally(row.get(it, ())).judged for row in parts.values())]
    return {name: {it: row.get(it, ()) for it in used} for name, row in parts.items()}


def scenario_cells(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return the cells of scenarios."""
    return tuple(cell for cell in results if not is_recording(cell))


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


def repro_command(failing: Result, reproducible: Container[str]) -> str:
    """Return the command that shows a failure of a peer in its environment.

    Args:
        failing: a cell of the peer.
        reproducible: the peers for which `harness repro` has scripts; others replay the cell.
    """
    command = "repro" if failing.normalizer in reproducible else "replay"
    words = ("harness", "peers", "exec", failing.normalizer, command, failing.cell)
    return shlex.join(words)


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
