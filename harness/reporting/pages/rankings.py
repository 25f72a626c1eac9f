"""Compute the pages that rank models, prompts and their pairs by the success of recorded turns.

As in the rankings, each turn counts once, as the lead normalizer parsed it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from harness.reporting.boards import Board, BoardRow, boards
from harness.reporting.charts.squares import Matrix, Pair, Square, largest
from harness.reporting.report import Filters, Report
from harness.reporting.words import MEASURED
from harness.verdicts.database import Axis
from harness.verdicts.query_rows import ConversationRate, MeasuredRate
from harness.verdicts.statistics import Interval, difference, percent

# A larger table is mostly empty and slow to draw; the ranking of pairs has the rest.
MAX_ROWS: Final = 40
MAX_COLUMNS: Final = 25
MAX_COMPARED: Final = 12


class RankingDetails(msgspec.Struct, frozen=True):
    """The columns next to the rank of a model or a prompt.

    Fields:
        reason: the commonest reason for a turn without success; "" if all succeed.
        count: how many of its turns failed for that reason.
        cell: the cell of the first such turn.
        retries: how often agents asked again in its measured conversations.
        strategy: the share of turns for which tools were sent in the API's field (`tool_use`).
    """

    reason: str = ""
    count: int = 0
    cell: str = ""
    retries: str = "none measured"
    strategy: str = "none measured"


class RateDifference(msgspec.Struct, frozen=True):
    """The parse_error rate of one name minus that of another, with its 95 % interval."""

    other: str
    points: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.low > 0 or self.high < 0


class DifferenceTable(msgspec.Struct, frozen=True):
    """The differences of all pairs of names, the lowest rate first; None for the same name."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, tuple[RateDifference | None, ...]], ...] = ()


class RankingAnswer(msgspec.Struct, frozen=True):
    """Which name has the lowest parse_error rate, and from which others it differs.

    Fields:
        best: its row; None if no name has enough turns.
        alike: names from which it is not distinguishable.
        worse: its differences from the other names.
        few: names with too few turns.
    """

    best: BoardRow | None
    alike: tuple[str, ...]
    worse: tuple[RateDifference, ...]
    few: tuple[str, ...]
    pairs: DifferenceTable


class RankingView(msgspec.Struct, frozen=True):
    """The data of a page: a ranking, a table of squares, and details for each ranked name."""

    board: Board
    answer: RankingAnswer
    squares: Matrix | None = None
    details: dict[str, RankingDetails] = msgspec.field(default_factory=dict)


def models_page(report: Report) -> RankingView:
    """Return the ranking of models, and the success of their turns with each normalizer."""
    board = report.of(boards)["models"]
    details = ranking_details(report, "model")
    return RankingView(board, answer_of(board), client_matrix(report), details)


def prompts_page(report: Report) -> RankingView:
    """Return the ranking of prompts."""
    board = report.of(boards)["prompts"]
    return RankingView(board, answer_of(board), details=ranking_details(report, "prompt"))


def matrix_page(report: Report) -> RankingView:
    """Return the ranking of pairs of model and prompt, and a table of both."""
    board = report.of(boards)["pairs"]
    return RankingView(board, answer_of(board), model_matrix(report))


def answer_of(board: Board) -> RankingAnswer:
    """Return which name of `board` has the lowest parse_error rate; `FEW` turns are needed."""
    enough = sorted((each for each in board.rows if not each.few), key=_error_rate)
    few = tuple(each.ranked.name for each in board.rows if each.few)
    if not enough:
        return RankingAnswer(None, (), (), few, DifferenceTable())
    best, *others = enough
    found = tuple(_difference(best, each) for each in others)
    shown = enough[:MAX_COMPARED]
    rows = (
        (one.ranked.name, tuple(_difference(one, it) if it is not one else None for it in shown))
        for one in shown
    )
    return RankingAnswer(
        best,
        tuple(each.other for each in found if not each.is_sure),
        tuple(each for each in found if each.is_sure),
        few,
        DifferenceTable(tuple(each.ranked.name for each in shown), tuple(rows)),
    )


def _error_rate(row: BoardRow) -> tuple[float, float]:
    rate = row.errors.rate
    return (rate.k / rate.n, rate.high) if rate else (1.0, 1.0)


def _difference(one: BoardRow, other: BoardRow) -> RateDifference:
    (first, sure), (second, other_sure) = (
        (rate.k / rate.n, Interval(rate.low, rate.high))
        for rate in (one.errors.rate, other.errors.rate)
        if rate is not None
    )
    low, high = difference(first, sure, second, other_sure)
    return RateDifference(other.ranked.name, first - second, low, high)


def model_matrix(report: Report) -> Matrix:
    """Return a table of models and prompts: how many of the measured turns succeeded."""
    lead = [each for each in report.store.measured_turns() if each.normalizer == report.store.lead]
    return _turn_squares(
        lead,
        lambda each: (each.model, each.prompt),
        lambda model, prompt: {"model": model, "prompt": prompt, **_measured(report.store.lead)},
    )


def client_matrix(report: Report) -> Matrix:
    """Return a table of models and normalizers: how many turns succeeded with each normalizer."""
    return _turn_squares(
        report.store.measured_turns(),
        lambda each: (each.model, each.normalizer),
        lambda model, name: {"model": model, **_measured(name)},
    )


def _turn_squares(
    rates: Iterable[MeasuredRate],
    pair_of: Callable[[MeasuredRate], Pair],
    filters: Callable[[str, str], Filters],
    columns: Iterable[str] | None = None,
) -> Matrix:
    k: Counter[Pair] = Counter()
    n: Counter[Pair] = Counter()
    for each in rates:
        k[pair_of(each)] += each.k
        n[pair_of(each)] += each.n
    squares = {pair: Square(k[pair], n[pair], filters=filters(*pair)) for pair in n}
    return largest(squares, MAX_ROWS, MAX_COLUMNS, columns)


def _measured(normalizer: str) -> Filters:
    return {"normalizer": normalizer, "origin": MEASURED}


def ranking_details(report: Report, axis: Axis) -> dict[str, RankingDetails]:
    """Return the details of each model or prompt that was measured, by name."""
    failures = report.store.commonest_failures(axis)
    conversations: dict[str, list[ConversationRate]] = defaultdict(list)
    for each in report.rankings.conversations:
        conversations[getattr(each.rate, axis)].append(each.rate)
    ranked = getattr(report.rankings, f"{axis}s")
    names = {each.name for each in ranked} | set(conversations)
    return {
        name: _details(failures.get(name, ("", 0, "")), conversations[name])
        for name in sorted(names)
    }


def _details(failure: tuple[str, int, str], rates: list[ConversationRate]) -> RankingDetails:
    if not rates:
        return RankingDetails(*failure)
    by_tools = sum(each.tool_use for each in rates)
    total = by_tools + sum(each.json_fallback for each in rates)
    return RankingDetails(
        *failure,
        retries=f"{sum(each.retries for each in rates)} in "
        f"{sum(each.n for each in rates)} conversations",
        strategy=f"tool_use {percent(by_tools / total)} of {total}" if total else "not reported",
    )
