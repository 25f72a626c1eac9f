"""A run -> tables of squares: what normalizers do with quirks and dialects, models with prompts.

Denominators are those of the rankings: no unsupported cell, no emulated turn, each measured
turn once.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from harness.judging.results import Outcome, Result, TurnFacts
from harness.reporting.charts.squares import Matrix, Pair, Square, largest, matrix
from harness.reporting.report import replays_link
from harness.reporting.words import fails, worst_first
from harness.runs.questions import QuirkLoss
from harness.runs.run import Run

# A larger table is mostly empty, and slow to draw; the ranking of pairs holds the rest.
MOST_ROWS: Final = 40
MOST_COLUMNS: Final = 25
MOST_QUIRKS: Final = 400


def quirk_matrix(losses: Iterable[QuirkLoss], results: Iterable[Result]) -> Matrix:
    """Return quirks by normalizers: cells that conform, of those that show the quirk."""
    worst = _worst_cells(results, lambda each: each.quirks)
    squares = {
        (loss.quirk, loss.normalizer): Square(
            loss.k,
            loss.n,
            worst.get((loss.quirk, loss.normalizer), ""),
            replays_link(quirk=loss.quirk, normalizer=loss.normalizer),
        )
        for loss in losses
    }
    return largest(squares, MOST_QUIRKS, MOST_COLUMNS)


def dialect_matrix(results: Iterable[Result]) -> Matrix:
    """Return dialects by normalizers: cells that conform, of those that they support."""
    supported = [each for each in results if each.outcome is not Outcome.UNSUPPORTED]
    worst = _worst_cells(supported, lambda each: (each.dialect,))
    k: Counter[Pair] = Counter()
    n: Counter[Pair] = Counter()
    for each in supported:
        if each.kind == "turns":
            n[each.dialect, each.normalizer] += 1
            k[each.dialect, each.normalizer] += each.outcome.conforms
    squares = {
        pair: Square(
            k[pair], n[pair], worst.get(pair, ""), replays_link(dialect=pair[0], normalizer=pair[1])
        )
        for pair in n
    }
    return matrix(squares)


def _worst_cells(
    results: Iterable[Result], names: Callable[[Result], tuple[str, ...]]
) -> dict[Pair, str]:
    worst: dict[Pair, str] = {}
    for result in sorted(filter(fails, results), key=worst_first):
        for name in names(result):
            worst.setdefault((name, result.normalizer), result.cell)
    return worst


def model_matrix(run: Run) -> Matrix:
    """Return models by prompts: turns that succeeded, of those really measured."""
    turns: dict[Pair, list[bool]] = defaultdict(list)
    for result, turn in measured(run):
        turns[result.model, result.prompt].append(turn.success)
    squares = {
        (model, prompt): Square(sum(each), len(each), "", replays_link(model=model, prompt=prompt))
        for (model, prompt), each in turns.items()
    }
    return largest(squares, MOST_ROWS, MOST_COLUMNS)


def client_matrix(run: Run) -> Matrix:
    """Return models by normalizers: turns that succeeded as each of them read the same bytes."""
    turns: dict[Pair, list[bool]] = defaultdict(list)
    for name in sorted({each.normalizer for each in run.results if each.kind == "turns"}):
        for result, turn in measured(run, name):
            turns[result.model, name].append(turn.success)
    squares = {
        (model, name): Square(sum(each), len(each), "", replays_link(model=model, normalizer=name))
        for (model, name), each in turns.items()
    }
    return largest(squares, MOST_ROWS, MOST_COLUMNS)


def measured(run: Run, normalizer: str = "") -> Iterable[tuple[Result, TurnFacts]]:
    """Return each recorded or imported turn once, as `normalizer` (or the lead) read it."""
    reader = normalizer or run.header.lead
    once: dict[tuple[str, int, str], tuple[Result, TurnFacts]] = {}
    read = [each for each in run.results if each.normalizer == reader and _is_measured(each)]
    for result in sorted(read, key=_labelled_first):
        for turn in result.turns:
            once.setdefault((result.cassette, turn.interaction, turn.digest), (result, turn))
    return once.values()


def _is_measured(result: Result) -> bool:
    return result.origin != "emulated" and result.outcome is not Outcome.UNSUPPORTED


def _labelled_first(result: Result) -> tuple[bool, str]:
    return result.scenario.startswith("cassette:"), result.scenario


def measured_squares(table: Matrix) -> dict[str, tuple[tuple[str, Square], ...]]:
    """Return for each row its measured squares with the names of their columns."""
    return {
        row: tuple(
            (column, square)
            for column, square in zip(table.columns, squares, strict=True)
            if square.n
        )
        for row, squares in table.rows
    }
