"""Compute the overview: the failures, their blame, what changed, and the best model and prompt.

Each count is the number of rows that its link shows in the table of replays.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from harness.reporting.boards import Board, BoardRow, boards
from harness.reporting.pages.compare import CompareView, compare_page
from harness.reporting.pages.failures import failures_page
from harness.reporting.pages.trends import cell_histories
from harness.reporting.report import Report, anchor, replays_link
from harness.reporting.words import FAILING, MEASURED, WORST_FIRST, OutcomeWord
from harness.results.result import Result
from harness.verdicts.judged_shares import JudgedShare, judged_shares_of_run

_WIDTH = 1_000


class BlameShare(msgspec.Struct, frozen=True):
    """The cells that one party failed, as a part of a bar with the width `WIDTH`."""

    blame: str
    count: int
    link: str
    x: float
    width: float


class Part(msgspec.Struct, frozen=True):
    """A part of a reason of the verdict, with a link; `link` is "" for plain text."""

    text: str
    link: str = ""


class OverviewView(msgspec.Struct, frozen=True):
    """The data of the overview: counts of cells, and the main facts of other pages.

    Fields:
        reasons: the reasons of the verdict, in parts.
        blames: cells with a failure, by blame.
        best: the pair of model and prompt with the best turn success; None if none was measured.
        outcomes: each outcome with its number of cells, worst first.
        judged: for each field of a turn, how many turns were judged.
        causes: the number of causes for which cells fail.
        flaky: the number of flaky cells: over several runs they changed between passing and failing
            and back, or changed within one commit.
    """

    reasons: tuple[tuple[Part, ...], ...]
    blames: tuple[BlameShare, ...]
    best: BoardRow | None
    cells: int
    judged_cells: int
    replays: int
    failing: int
    outcomes: tuple[tuple[OutcomeWord, int], ...]
    judged: tuple[JudgedShare, ...]
    causes: int
    boards: tuple[Board, ...]
    comparison: CompareView | None
    flaky: int = 0


def overview_page(report: Report) -> OverviewView:
    """Return the data of the page."""
    results, ranked = report.run.results, report.of(boards)
    counts = Counter(each.outcome for each in results)
    return OverviewView(
        reasons=tuple(
            tuple(reason_parts(each, report.results, report.run.header.names))
            for each in report.gate.lines
        ),
        blames=tuple(blame_shares(report)),
        best=next(iter(ranked["pairs"].rows), None),
        cells=len(results),
        judged_cells=sum(each.outcome.judged for each in results),
        replays=sum(each.replays for each in results),
        failing=sum(each.outcome.fails for each in results),
        outcomes=tuple((word, counts[word.outcome]) for word in WORST_FIRST),
        judged=judged_shares_of_run(report.run),
        causes=report.of(failures_page).must_count,
        boards=tuple(ranked[name] for name in ("models", "prompts", "normalizers", "agents")),
        comparison=report.of(compare_page),
        flaky=sum(each.is_flaky for each in report.of(cell_histories).values()),
    )


def blame_shares(report: Report) -> Iterator[BlameShare]:
    """Yield the number of cells with a failure for each blame, also if it is 0.

    For normalizers and agents, it counts the cells that fail. For the other parties, it counts the
    recorded and imported cells of the lead normalizer with a turn for which they are to
    blame.
    """
    header = report.run.header
    failed: Counter[str] = Counter()
    for each in report.run.results:
        if each.normalizer == header.lead and each.origin in MEASURED:
            failed.update(_failed_turn_blames(each))
    failing = sum(each.outcome.fails for each in report.run.results)
    links = {
        "normalizer": replays_link(outcome=FAILING),
        **{
            name: replays_link(failed=name, normalizer=header.lead, origin=MEASURED)
            for name in ("model", "provider", "model or provider", "request", "harness")
        },
    }
    counts = {name: failing if name == "normalizer" else failed[name] for name in links}
    total, x = sum(counts.values()), 0.0
    for name, link in links.items():
        width = round(_WIDTH * counts[name] / total, 1) if total else 0.0
        yield BlameShare(name, counts[name], link, x, width)
        x = round(x + width, 1)


def _failed_turn_blames(result: Result) -> set[str]:
    return {turn.blame for turn in result.turns if not turn.success}


def reason_parts(
    reason: str, results: Mapping[str, Result], names: tuple[str, ...]
) -> Iterator[Part]:
    """Yield the parts of a reason of the verdict, with links to the cells that it names."""
    name, colon, rest = reason.partition(": ")
    count, unjudged, _ = reason.partition(" cells unjudged")
    if unjudged:
        yield Part(count, replays_link(outcome="unjudged"))
        rest = reason.removeprefix(count)
    elif colon and name in names:
        count, cells, rest = rest.partition(" cells ")
        yield Part(name, replays_link(normalizer=name))
        yield Part(": ")
        yield Part(count, replays_link(normalizer=name, outcome=FAILING) if cells else "")
        rest = cells + rest
    else:
        rest = reason
    words = rest.split(" ")
    cell = next((word for word in words if word in results), "")
    before, _, after = rest.partition(cell) if cell else (rest, "", "")
    yield Part(before.removesuffix("harness replay "))
    if cell:
        yield Part(cell, anchor(cell))
        yield Part("" if before.endswith("harness replay ") else after)
