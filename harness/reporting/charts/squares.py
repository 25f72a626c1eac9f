"""Counts by two names as a table of squares: number, word and pattern, never colour alone."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from harness.judging.results import Result
from harness.reporting.words import worst_first

Pair: TypeAlias = tuple[str, str]
Verdict = Literal["all", "some", "none", "absent"]

_SYMBOLS: Final[dict[Verdict, str]] = {"all": "✓", "some": "◐", "none": "✕", "absent": "·"}
_LEVELS: Final = 5


class Square(msgspec.Struct, frozen=True):
    """k of n.

    Fields:
        worst: the worst failing cell; "" if none fails.
        link: to a place in the page with more; "" for none.
    """

    k: int = 0
    n: int = 0
    worst: str = ""
    link: str = ""

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
        """Return the symbol before the number."""
        return _SYMBOLS[self.verdict]

    @property
    def level(self) -> int:
        """Return 0 for the worst fifth of rates up to 4 for the best; of nothing, 0."""
        return min(self.k * _LEVELS // self.n, _LEVELS - 1) if self.n else 0


class Matrix(msgspec.Struct, frozen=True):
    """Rows by columns, both sorted; the squares of a row are in the order of `columns`.

    Fields:
        more_rows, more_columns: how many were left out, those with the fewest trials.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...]], ...]
    more_rows: int = 0
    more_columns: int = 0


def matrix(squares: Mapping[Pair, Square]) -> Matrix:
    """Return all squares as a table."""
    columns = tuple(sorted({column for _, column in squares}))
    names = sorted({row for row, _ in squares})
    return Matrix(
        columns,
        tuple(
            (row, tuple(squares.get((row, each), Square()) for each in columns)) for row in names
        ),
    )


def largest(squares: Mapping[Pair, Square], rows: int, columns: int) -> Matrix:
    """Return the table of the `rows` by `columns` names with the most trials."""
    kept_rows, kept_columns = _most(squares, 0, rows), _most(squares, 1, columns)
    shown = {
        pair: square
        for pair, square in squares.items()
        if pair[0] in kept_rows and pair[1] in kept_columns
    }
    return msgspec.structs.replace(
        matrix(shown), more_rows=_more(squares, shown, 0), more_columns=_more(squares, shown, 1)
    )


def _more(squares: Iterable[Pair], shown: Iterable[Pair], side: int) -> int:
    return len({pair[side] for pair in squares} - {pair[side] for pair in shown})


def _most(squares: Mapping[Pair, Square], side: int, limit: int) -> set[str]:
    """Return the names on one side of the pairs that have the most trials."""
    trials: Counter[str] = Counter()
    for pair, square in squares.items():
        trials[pair[side]] += square.n
    return set(sorted(trials, key=lambda name: (-trials[name], name))[:limit])


def worst_cells(
    results: Iterable[Result], names: Callable[[Result], tuple[str, ...]]
) -> dict[Pair, str]:
    """Return the worst failing cell of each name and normalizer."""
    worst: dict[Pair, str] = {}
    for result in sorted((each for each in results if each.outcome.fails), key=worst_first):
        for name in names(result):
            worst.setdefault((name, result.normalizer), result.cell)
    return worst
