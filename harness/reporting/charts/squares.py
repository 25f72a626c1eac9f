"""Counts by two names as a table of squares, each with number, word and pattern.

Colour is never the only sign.
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
    """The number k of n cells, or of n turns.

    Fields:
        worst: the worst failing cell; "" if none fails.
        filters: the filters that list its n cells, or the cells of its n turns; none for no list.
    """

    k: int = 0
    n: int = 0
    worst: str = ""
    filters: Filters = {}

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
        """Return 0 for the worst fifth of rates up to 4 for the best; 0 if n is 0."""
        return min(self.k * _LEVELS // self.n, _LEVELS - 1) if self.n else 0


class Matrix(msgspec.Struct, frozen=True):
    """Rows by columns; the squares of a row are in the order of `columns`.

    Fields:
        more_rows, more_columns: how many were left out, those with the fewest trials.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...]], ...]
    more_rows: int = 0
    more_columns: int = 0


def matrix(squares: Mapping[Pair, Square], columns: Iterable[str] = ()) -> Matrix:
    """Return all squares as a table, rows and columns ordered by name.

    Args:
        squares: by row and column.
        columns: the first columns in this order; others follow by name.
    """
    order = {name: place for place, name in enumerate(columns)}
    names = {column for _, column in squares}
    shown = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    return _table(squares, sorted({row for row, _ in squares}), shown)


def largest(
    squares: Mapping[Pair, Square], rows: int, columns: int, order: Iterable[str] | None = None
) -> Matrix:
    """Return the table of the `rows` by `columns` names with the most trials.

    Without `order` of the columns, names with many trials come first: the first row has the
    most trials, and the first columns are those of this row, then those of the next.
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
    """Return `columns`, those of the first row first, then those of the next."""
    names = tuple(columns)
    return list(dict.fromkeys(each for row in rows for each in names if (row, each) in squares))


def _more(squares: Iterable[Pair], shown: Iterable[Pair], side: int) -> int:
    return len({pair[side] for pair in squares} - {pair[side] for pair in shown})


def _most(squares: Mapping[Pair, Square], side: int) -> list[str]:
    """Return the names on one side of the pairs, those with the most trials first."""
    trials: Counter[str] = Counter()
    for pair, square in squares.items():
        trials[pair[side]] += square.n
    return sorted(trials, key=lambda name: (-trials[name], name))
