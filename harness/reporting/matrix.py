"""A run -> two tables: quirks by normalizers ("can I use"), and models by prompts.

A square is a count, a word and a symbol; its tone only repeats them. Denominators are those
of the rankings: no unsupported cell, no emulated turn, each measured turn once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from harness.judging.results import Outcome, Result, TurnFacts
from harness.reporting.words import fails
from harness.runs.questions import QuirkLoss
from harness.runs.run import Run

_Pair: TypeAlias = tuple[str, str]
Verdict = Literal["all", "some", "none", "absent"]

# A larger table is mostly empty, and slow to draw; the ranking of pairs holds the rest.
MOST_ROWS = 40
MOST_COLUMNS = 25

_SYMBOLS: dict[Verdict, str] = {"all": "✓", "some": "◐", "none": "✕", "absent": "·"}


class Square(msgspec.Struct, frozen=True):
    """k of n, and the worst failing cell to look at ("" where none fails)."""

    k: int = 0
    n: int = 0
    worst: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return whether all, some or none of n succeeded."""
        if not self.n:
            return "absent"
        if self.k == self.n:
            return "all"
        return "some" if self.k else "none"

    @property
    def symbol(self) -> str:
        """Return what stands before the number."""
        return _SYMBOLS[self.verdict]


class Matrix(msgspec.Struct, frozen=True):
    """Rows by columns, both sorted; the squares of a row are in the order of `columns`.

    Fields:
        more_rows, more_columns: how many were left out, those with the fewest trials.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...]], ...]
    more_rows: int = 0
    more_columns: int = 0


def quirk_matrix(losses: Iterable[QuirkLoss], results: Iterable[Result]) -> Matrix:
    """Return quirks by normalizers: cells that conform, of those that show the quirk."""
    worst: dict[tuple[str, str], Result] = {}
    for result in sorted(results, key=lambda each: (each.outcome.badness, each.cell)):
        for quirk in result.quirks if fails(result) else ():
            worst.setdefault((quirk, result.normalizer), result)
    squares: dict[tuple[str, str], Square] = {}
    for loss in losses:
        pair = (loss.quirk, loss.normalizer)
        cell = worst[pair].cell if pair in worst else ""
        squares[pair] = Square(loss.k, loss.n, cell)
    return _matrix(squares)


def model_matrix(run: Run) -> Matrix:
    """Return models by prompts: turns that succeeded, of those really measured."""
    turns: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for result, turn in _measured(run):
        turns[result.model, result.prompt].append(turn.success)
    squares = {pair: Square(sum(each), len(each)) for pair, each in turns.items()}
    rows, columns = _most(squares, 0, MOST_ROWS), _most(squares, 1, MOST_COLUMNS)
    shown = {
        (model, prompt): square
        for (model, prompt), square in squares.items()
        if model in rows and prompt in columns
    }
    return msgspec.structs.replace(
        _matrix(shown), more_rows=_more(squares, shown, 0), more_columns=_more(squares, shown, 1)
    )


def _more(squares: Iterable[_Pair], shown: Iterable[_Pair], side: int) -> int:
    return len({pair[side] for pair in squares} - {pair[side] for pair in shown})


def _most(squares: dict[_Pair, Square], side: int, limit: int) -> set[str]:
    """Return the names on one side of the pairs that have the most trials."""
    trials: Counter[str] = Counter()
    for pair, square in squares.items():
        trials[pair[side]] += square.n
    return set(sorted(trials, key=lambda name: (-trials[name], name))[:limit])


def _measured(run: Run) -> Iterable[tuple[Result, TurnFacts]]:
    """Return each recorded or imported turn once, as the lead normalizer read it."""
    once: dict[tuple[str, int], tuple[Result, TurnFacts]] = {}
    for result in sorted(run.results, key=_labelled_first):
        counts = result.origin != "emulated" and result.outcome is not Outcome.UNSUPPORTED
        if counts and result.normalizer == run.header.lead:
            for turn in result.turns:
                once.setdefault((result.cassette, turn.interaction), (result, turn))
    return once.values()


def _labelled_first(result: Result) -> tuple[bool, str]:
    return result.scenario.startswith("cassette:"), result.scenario


def _matrix(squares: dict[tuple[str, str], Square]) -> Matrix:
    columns = tuple(sorted({column for _, column in squares}))
    rows = sorted({row for row, _ in squares})
    return Matrix(
        columns,
        tuple(
            (row, tuple(squares.get((row, column), Square()) for column in columns)) for row in rows
        ),
    )
