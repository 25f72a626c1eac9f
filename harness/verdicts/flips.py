"""Find the cells that changed between several runs, and among them the flaky ones.

A cell flips if it conforms in one run and fails in the next run that judged it, or the reverse.
It is flaky if it flips back, or flips between two runs of the same commit.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from harness.results.outcome import Outcome
from harness.results.run import Run


class CellHistory(msgspec.Struct, frozen=True):
    """The outcomes of one cell in several runs.

    Fields:
        outcomes: the outcome in each run, the oldest first; None if that run lacks the cell.
        flips: how often the cell changed between conforming and failing.
        is_flaky: whether it changed back, or changed between two runs of the same commit.
    """

    cell: str
    outcomes: tuple[Outcome | None, ...]
    flips: int
    is_flaky: bool


def flipped_cells(runs: Sequence[tuple[Run, str]]) -> tuple[CellHistory, ...]:
    """Return the cells of the last run that flipped: flaky ones first, then the most flips.

    Args:
        runs: the runs, the oldest first, each with its commit or "" if the commit is not known.
    """
    if len(runs) < 2:  # noqa: PLR2004 - nothing to compare
        return ()
    outcomes = [{each.cell: each.outcome for each in run.results} for run, _ in runs]
    commits = [commit for _, commit in runs]
    found = (_history(it, [each.get(it) for each in outcomes], commits) for it in outcomes[-1])
    flipped = (each for each in found if each.flips)
    return tuple(sorted(flipped, key=lambda each: (not each.is_flaky, -each.flips, each.cell)))


def _history(cell: str, outcomes: Sequence[Outcome | None], commits: Iterable[str]) -> CellHistory:
    judged = [
        (outcome.conforms, commit)
        for outcome, commit in zip(outcomes, commits, strict=True)
        if outcome is not None and outcome.judged
    ]
    flips = [
        commit == other != "" for (was, commit), (now, other) in pairwise(judged) if was != now
    ]
    return CellHistory(cell, tuple(outcomes), len(flips), len(flips) > 1 or any(flips))
