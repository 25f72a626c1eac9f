"""The parts about normalizers and agents: conformance, outcomes, by dialect and by quirk.

Outcomes are bars of stacked segments in the order of the ranking, each segment a share of the
judged cells with its number, the worst first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.reporting.boards import Board, boards
from harness.reporting.charts.squares import Matrix, Pair, Square, matrix
from harness.reporting.pages.quirks import quirk_matrix
from harness.reporting.report import Report
from harness.reporting.words import JUDGED, WORST_FIRST, OutcomeWord
from harness.results.outcome import Outcome
from harness.results.result import Result

WIDTH: Final = 600
_SYMBOL_WIDTH: Final = 22
_DIGIT_WIDTH: Final = 8


class Segment(msgspec.Struct, frozen=True):
    """A segment of a bar: `count` cells of one outcome, at position `x` of `WIDTH`."""

    word: OutcomeWord
    count: int
    x: float
    width: float

    @property
    def has_label(self) -> bool:
        """Whether the segment is wide enough for its symbol and number."""
        return self.width >= _SYMBOL_WIDTH + _DIGIT_WIDTH * len(f"{self.count:,}")


class Stack(msgspec.Struct, frozen=True):
    """The bar of one normalizer or agent: segments of its judged cells, worst outcome first."""

    name: str
    judged: int
    unjudged: int
    unsupported: int
    segments: tuple[Segment, ...]


def stacks(results: Iterable[Result], kind: str, ranked: Iterable[str] = ()) -> tuple[Stack, ...]:
    """Return a bar for each name with cells of `kind`; names in `ranked` come first."""
    order = {name: place for place, name in enumerate(ranked)}
    counts: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for result in results:
        if result.kind == kind:
            counts[result.normalizer][result.outcome] += 1
    names = sorted(counts, key=lambda name: (order.get(name, len(order)), name))
    return tuple(_stack(name, counts[name]) for name in names)


def _stack(name: str, counts: Counter[Outcome]) -> Stack:
    judged = sum(count for outcome, count in counts.items() if outcome.judged)
    found: list[Segment] = []
    before = 0
    for word in WORST_FIRST:
        count = counts[word.outcome]
        if count and word.outcome.judged:
            found.append(Segment(word, count, _x(before, judged), _x(count, judged)))
            before += count
    unjudged, unsupported = counts[Outcome.UNJUDGED], counts[Outcome.UNSUPPORTED]
    return Stack(name, judged, unjudged, unsupported, tuple(found))


def _x(count: int, total: int) -> float:
    return round(count / total * WIDTH, 2)


class NormalizersView(msgspec.Struct, frozen=True):
    """The data of the normalizers page: rankings, outcomes, and tables of squares."""

    board: Board
    bars: tuple[Stack, ...]
    text_dialects: Board
    dialects: Matrix
    quirks: Matrix
    timing: Matrix


class AgentsView(msgspec.Struct, frozen=True):
    """The data of the agents page: the ranking of agents, and their outcomes."""

    board: Board
    bars: tuple[Stack, ...]


def normalizers_page(report: Report) -> NormalizersView:
    """Return the data of the normalizers page."""
    results = report.run.results
    board = report.of(boards)["normalizers"]
    names = _names(board)
    return NormalizersView(
        board=board,
        bars=stacks(results, "turns", names),
        text_dialects=report.of(boards)["text-dialects"],
        dialects=dialect_matrix(results, names),
        quirks=report.of(quirk_matrix),
        timing=timing_matrix(results, names),
    )


def agents_page(report: Report) -> AgentsView:
    """Return the data of the agents page."""
    board = report.of(boards)["agents"]
    return AgentsView(board, stacks(report.run.results, "conversation", _names(board)))


def _names(board: Board) -> tuple[str, ...]:
    return tuple(each.ranked.name for each in board.rows)


def dialect_matrix(results: Iterable[Result], ranked: Iterable[str] = ()) -> Matrix:
    """Return a table of dialects and normalizers: how many of the judged cells conform."""
    judged = [each for each in results if each.outcome.judged]
    k: Counter[Pair] = Counter()
    n: Counter[Pair] = Counter()
    for each in judged:
        if each.kind == "turns":
            n[each.dialect, each.normalizer] += 1
            k[each.dialect, each.normalizer] += each.outcome.conforms
    return matrix(
        {
            (dialect, name): Square(
                k[dialect, name],
                n[dialect, name],
                filters={
                    "dialect": dialect,
                    "normalizer": name,
                    "kind": "turns",
                    "outcome": JUDGED,
                },
            )
            for dialect, name in n
        },
        ranked,
    )


def timing_matrix(results: Iterable[Result], ranked: Iterable[str] = ()) -> Matrix:
    """Return a table of timing scenarios and normalizers: which of the judged cells conform."""
    squares = {
        (each.scenario, each.normalizer): Square(
            int(each.outcome.conforms),
            1,
            filters={"scenario": each.scenario, "normalizer": each.normalizer, "outcome": JUDGED},
        )
        for each in results
        if each.kind == "timing" and each.outcome.judged
    }
    return matrix(squares, ranked)
