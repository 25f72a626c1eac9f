"""Compute the quirks page: a card for each quirk of the run, and a table by normalizer."""

from typing import Final

import msgspec

from harness.reporting.boards import boards
from harness.reporting.charts.squares import Matrix, Square, largest
from harness.reporting.pages.rankings import MAX_COLUMNS
from harness.reporting.report import Report
from harness.reporting.words import JUDGED
from harness.results.catalogue import GROUP_TITLES, Quirk

MAX_QUIRKS: Final = 400
_ADDRESS: Final = ("https://", "http://")


class QuirkCard(msgspec.Struct, frozen=True):
    """The data of one quirk on the page.

    Fields:
        quirk: the description of the quirk; None if the catalogue does not contain it.
        references: its citations, each with whether it is an address that the page may link to.
        squares: for each normalizer with cells that show the quirk, how many of them conform.
    """

    id: str
    quirk: Quirk | None
    group: str
    references: tuple[tuple[str, bool], ...]
    squares: tuple[tuple[str, Square], ...]

    @property
    def failing(self) -> int:
        """The number of failing cells that show the quirk."""
        return sum(square.n - square.k for _, square in self.squares)


def quirk_matrix(report: Report) -> Matrix:
    """Return a table of quirks and normalizers: how many of the cells with the quirk conform."""
    squares = {
        (loss.quirk, loss.normalizer): Square(
            loss.k,
            loss.n,
            filters={"quirk": loss.quirk, "normalizer": loss.normalizer, "outcome": JUDGED},
        )
        for loss in report.store.losses_by_quirk()
    }
    ranked = (each.ranked.name for each in report.of(boards)["normalizers"].rows)
    return largest(squares, MAX_QUIRKS, MAX_COLUMNS, ranked)


def quirks_page(report: Report) -> tuple[QuirkCard, ...]:
    """Return a card for each quirk of the run, ordered by id."""
    table = report.of(quirk_matrix)
    return tuple(
        _card(
            name,
            tuple(pair for pair in zip(table.columns, squares, strict=True) if pair[1].n),
            report.context.quirks.get(name),
        )
        for name, squares in table.rows
    )


def _card(name: str, squares: tuple[tuple[str, Square], ...], quirk: Quirk | None) -> QuirkCard:
    references = quirk.references if quirk else ()
    return QuirkCard(
        name,
        quirk,
        GROUP_TITLES[quirk.group] if quirk else "not in the catalogue",
        tuple((each, each.startswith(_ADDRESS)) for each in references),
        squares,
    )
