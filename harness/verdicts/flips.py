"""Several runs -> the outcomes of each cell over them, and the cells that are flaky.

A cell flips if it conforms in one run and fails in the next that judged it. It is flaky if it
flips back, or flips although both runs are of the same commit.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from harness.results.outcome import Outcome
from harness.results.run import Run


class CellHistory(msgspec.Struct, frozen=True):
    """One cell over the runs.

    Fields:
        outcomes: by run, the oldest first; None if it is not in that run.
        flips: how often it flipped.
        is_flaky: whether it flipped back, or within one commit.
    """

    cell: str
    outcomes: tuple[Outcome | None, ...]
    flips: int
    is_flaky: bool


def flipped_cells(runs: Sequence[tuple[Run, str]]) -> tuple[CellHistory, ...]:
    """Return the cells of the last run that flipped, the flaky ones and most flips first.

    Args:
        runs: the oldest first, each with its commit; "" if that is not known.
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
