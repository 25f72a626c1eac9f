"""Compute the pages that rank models, prompts and their pairs by the success of recorded turns.

As in the rankings, each turn counts once, as the lead normalizer parsed it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from harness.reporting.boards import Board, boards
from harness.reporting.charts.squares import Matrix, Pair, Square, largest
from harness.reporting.report import Filters, Report
from harness.reporting.words import MEASURED
from harness.verdicts.database import Axis
from harness.verdicts.query_rows import ConversationRate, MeasuredRate
from harness.verdicts.statistics import percent

# A larger table is mostly empty and slow to draw; the ranking of pairs has the rest.
MAX_ROWS: Final = 40
MAX_COLUMNS: Final = 25


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


class RankingView(msgspec.Struct, frozen=True):
    """The data of a page: a ranking, a table of squares, and details for each ranked name."""

    board: Board
    squares: Matrix | None = None
    details: dict[str, RankingDetails] = msgspec.field(default_factory=dict)


def models_page(report: Report) -> RankingView:
    """Return the ranking of models, and the success of their turns with each normalizer."""
    return RankingView(
        report.of(boards)["models"], client_matrix(report), ranking_details(report, "model")
    )


def prompts_page(report: Report) -> RankingView:
    """Return the ranking of prompts."""
    return RankingView(report.of(boards)["prompts"], details=ranking_details(report, "prompt"))


def matrix_page(report: Report) -> RankingView:
    """Return the ranking of pairs of model and prompt, and a table of both."""
    return RankingView(report.of(boards)["pairs"], model_matrix(report))


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
