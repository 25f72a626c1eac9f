"""A run -> the numbers of the first page, and what stays out of every rate."""

from collections import Counter

import msgspec

from harness.judging.results import Outcome
from harness.reporting.words import WORST_FIRST, OutcomeWord, fails
from harness.runs.run import Run


class Overview(msgspec.Struct, frozen=True):
    """Counts of cells; `outcomes` has all words, worst first.

    Fields:
        emulated, unsupported: cells that count in no rate about a model, and in none at all.
    """

    scenarios: int
    cells: int
    replays: int
    failing: int
    normalizers: int
    agents: int
    emulated: int
    unsupported: int
    outcomes: tuple[tuple[OutcomeWord, int], ...]


def overview(run: Run) -> Overview:
    """Return the counts of `run`."""
    counts = Counter(each.outcome for each in run.results)
    return Overview(
        scenarios=run.header.scenario_count,
        cells=len(run.results),
        replays=sum(each.replays for each in run.results),
        failing=sum(map(fails, run.results)),
        normalizers=len(run.header.normalizers),
        agents=len(run.header.agents),
        emulated=sum(each.origin == "emulated" for each in run.results),
        unsupported=counts[Outcome.UNSUPPORTED],
        outcomes=tuple((word, counts[word.outcome]) for word in WORST_FIRST),
    )
