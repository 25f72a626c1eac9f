"""The overview: the verdict, counts of cells, and the top of the rankings."""

from collections import Counter

import msgspec

from harness.reporting.boards import Board, boards
from harness.reporting.pages.compare import CompareView, compare_page
from harness.reporting.pages.failures import failures_page
from harness.reporting.report import Report
from harness.reporting.words import WORST_FIRST, OutcomeWord
from harness.runs.judged import JudgedShare, judged_shares_of_run


class OverviewView(msgspec.Struct, frozen=True):
    """Counts of cells, and what the overview shows of other pages.

    Fields:
        outcomes: each outcome with its number of cells, worst first.
        judged: turns by field.
        causes: for which cells fail.
    """

    cells: int
    replays: int
    failing: int
    outcomes: tuple[tuple[OutcomeWord, int], ...]
    judged: tuple[JudgedShare, ...]
    causes: int
    boards: tuple[Board, ...]
    comparison: CompareView | None


def overview_page(report: Report) -> OverviewView:
    """Return the counts of the run."""
    results = report.run.results
    counts = Counter(each.outcome for each in results)
    return OverviewView(
        cells=len(results),
        replays=sum(each.replays for each in results),
        failing=sum(each.outcome.fails for each in results),
        outcomes=tuple((word, counts[word.outcome]) for word in WORST_FIRST),
        judged=judged_shares_of_run(report.run),
        causes=report.of(failures_page).must_count,
        boards=tuple(
            report.of(boards)[name] for name in ("models", "prompts", "normalizers", "agents")
        ),
        comparison=report.of(compare_page),
    )
