"""Quirks met by a run -> cards: what the catalogue says of each, and who gets it right."""

from collections.abc import Mapping
from typing import Final

import msgspec

from harness.judging.catalogue import Quirk
from harness.reporting.charts.squares import Square

_GROUPS: Final = {
    "A": "framing and transport",
    "B": "deltas",
    "C": "arguments",
    "D": "calls in text",
    "E": "conversation",
    "F": "other dialects",
}
_ADDRESS: Final = ("https://", "http://")


class QuirkCard(msgspec.Struct, frozen=True):
    """One quirk.

    Fields:
        quirk: as the catalogue has it; None where it has it not.
        references: its citations, each with whether it is an address that a link may lead to.
        squares: of each normalizer that met it.
    """

    id: str
    quirk: Quirk | None
    group: str
    references: tuple[tuple[str, bool], ...]
    squares: tuple[tuple[str, Square], ...]

    @property
    def losers(self) -> int:
        """How many normalizers do not get all of it right."""
        return sum(square.verdict != "all" for _, square in self.squares)


def quirk_cards(
    rows: Mapping[str, tuple[tuple[str, Square], ...]], catalogue: Mapping[str, Quirk]
) -> tuple[QuirkCard, ...]:
    """Return a card for each quirk of the run, by id."""
    return tuple(_card(name, rows[name], catalogue.get(name)) for name in sorted(rows))


def _card(name: str, squares: tuple[tuple[str, Square], ...], quirk: Quirk | None) -> QuirkCard:
    references = quirk.references if quirk else ()
    return QuirkCard(
        name,
        quirk,
        _GROUPS[quirk.group] if quirk else "not in the catalogue",
        tuple((each, each.startswith(_ADDRESS)) for each in references),
        squares,
    )
