"""Results -> two tables: normalizers by quirks ("can I use"), and models by prompts.

A square is a count, a word and a symbol; its tone only repeats them. Unsupported cells and
emulated turns stay out of it as they stay out of the rankings.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

import msgspec

from harness.judging.results import Outcome, Result

Verdict = Literal["all", "some", "none", "absent"]
Pair = tuple[str, str]

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
    """Rows by columns; `squares` is in the order of `rows`, then of `columns`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...]], ...]


def quirk_matrix(results: Iterable[Result]) -> Matrix:
    """Return quirks by normalizers: cells that conform, of those that show the quirk."""
    counts: dict[Pair, list[Result]] = defaultdict(list)
    for result in results:
        if result.outcome is Outcome.UNSUPPORTED:
            continue
        for quirk in result.quirks:
            counts[quirk, result.normalizer].append(result)
    return _matrix({pair: _cells_square(cells) for pair, cells in counts.items()})


def model_matrix(results: Iterable[Result]) -> Matrix:
    """Return models by prompts: turns that succeeded, of those really measured."""
    counts: dict[Pair, list[Result]] = defaultdict(list)
    for result in results:
        if result.origin != "emulated" and result.turns:
            counts[result.model, result.prompt].append(result)
    return _matrix({pair: _turns_square(cells) for pair, cells in counts.items()})


def _matrix(squares: dict[Pair, Square]) -> Matrix:
    columns = tuple(sorted({column for _, column in squares}))
    rows = sorted({row for row, _ in squares})
    return Matrix(
        columns,
        tuple(
            (row, tuple(squares.get((row, column), Square()) for column in columns))
            for row in rows
        ),
    )


def _cells_square(cells: list[Result]) -> Square:
    failing = [cell for cell in cells if not cell.outcome.conforms]
    worst = min(failing, key=lambda cell: (cell.outcome.badness, cell.cell), default=None)
    return Square(len(cells) - len(failing), len(cells), worst.cell if worst else "")


def _turns_square(cells: list[Result]) -> Square:
    turns = [turn for cell in cells for turn in cell.turns]
    return Square(sum(turn.success for turn in turns), len(turns))
