"""Make tables of squares: each has the counts for a row and a column, a word and a pattern.

No meaning depends on colour alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from harness.reporting.report import Filters

Pair: TypeAlias = tuple[str, str]
Verdict = Literal["all", "some", "none", "absent"]

_SYMBOLS: Final[dict[Verdict, str]] = {"all": "✓", "some": "◐", "none": "✕", "absent": "·"}
_LEVELS: Final = 5


class Square(msgspec.Struct, frozen=True):
    """A square of a table: k of n cells, or of n turns, succeeded.

    Fields:
        worst: the worst failing cell; "" if none fails.
        filters: the filters of the table of replays that list the n cells, or the cells of the n
            turns; empty for no link.
    """

    k: int = 0
    n: int = 0
    worst: str = ""
    filters: Filters = {}

    @property
    def verdict(self) -> Verdict:
        """Return whether all, some or none of the n cells or turns succeeded."""
        if not self.n:
            return "absent"
        if self.k == self.n:
            return "all"
        return "some" if self.k else "none"

    @property
    def symbol(self) -> str:
        """Return the symbol that the table shows before the number."""
        return _SYMBOLS[self.verdict]

    @property
    def level(self) -> int:
        """Return the fifth of the rate, from 0 for the worst to 4 for the best; 0 if n is 0."""
        return min(self.k * _LEVELS // self.n, _LEVELS - 1) if self.n else 0


class Matrix(msgspec.Struct, frozen=True):
    """A table of squares, whose rows have the order of `columns`.

    Fields:
        more_rows, more_columns: how many rows and columns with the fewest trials were left out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...]], ...]
    more_rows: int = 0
    more_columns: int = 0


def matrix(squares: Mapping[Pair, Square], columns: Iterable[str] = ()) -> Matrix:
    """Return all squares as a table, rows and columns ordered by name.

    Args:
        squares: (name of the row, name of the column) -> its square.
        columns: the first columns in this order; others follow by name.
    """
    order = {name: place for place, name in enumerate(columns)}
    names = {column for _, column in squares}
    shown = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    return _table(squares, sorted({row for row, _ in squares}), shown)


def largest(
    squares: Mapping[Pair, Square], rows: int, columns: int, order: Iterable[str] | None = None
) -> Matrix:
    """Return a table with at most `rows` rows and `columns` columns: those with the most trials.

    Without `order` for the columns, the first row has the most trials. The first columns are those
    with trials in this row, then those of the next row.
    """
    kept_rows, kept_columns = _most(squares, 0)[:rows], _most(squares, 1)[:columns]
    in_rows, in_columns = set(kept_rows), set(kept_columns)
    shown = {
        pair: square
        for pair, square in squares.items()
        if pair[0] in in_rows and pair[1] in in_columns
    }
    measured = {row for row, _ in shown}
    first = [row for row in kept_rows if row in measured]
    found = (
        _table(shown, first, _measured_first(shown, first, kept_columns))
        if order is None
        else matrix(shown, order)
    )
    return msgspec.structs.replace(
        found, more_rows=_more(squares, shown, 0), more_columns=_more(squares, shown, 1)
    )


def _table(squares: Mapping[Pair, Square], rows: Iterable[str], columns: Iterable[str]) -> Matrix:
    shown = tuple(columns)
    return Matrix(
        shown,
        tuple((row, tuple(squares.get((row, each), Square()) for each in shown)) for row in rows),
    )


def _measured_first(
    squares: Mapping[Pair, Square], rows: Iterable[str], columns: Iterable[str]
) -> list[str]:
    """Return `columns`: first those with trials in the first row, then those of the next row."""
    names = tuple(columns)
    return list(dict.fromkeys(each for row in rows for each in names if (row, each) in squares))


def _more(squares: Iterable[Pair], shown: Iterable[Pair], side: int) -> int:
    return len({pair[side] for pair in squares} - {pair[side] for pair in shown})


def _most(squares: Mapping[Pair, Square], side: int) -> list[str]:
    """Return the names on one side (0 for rows, 1 for columns), the most trials first."""
    trials: Counter[str] = Counter()
    for pair, square in squares.items():
        trials[pair[side]] += square.n
    return sorted(trials, key=lambda name: (-trials[name], name))
