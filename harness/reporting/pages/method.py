"""Compute the method page: definitions of words and numbers, and the kill table."""

from collections.abc import Mapping

import msgspec

from harness.reporting.explanation import Source, find_source
from harness.reporting.report import Report
from harness.results.catalogue import Quirk
from harness.results.duties import levels_text, load_duties
from harness.results.outcome import Outcome


class RuleRow(msgspec.Struct, frozen=True):
    """A rule with its levels for each kind of client, and the sources of all levels."""

    id: str
    levels: str
    duty: str
    why: str
    sources: tuple[Source, ...]


class MethodView(msgspec.Struct, frozen=True):
    """The data of the method page.

    Fields:
        cells: the number of all cells.
        emulated: the number of cells of emulated cassettes, which no rate of a model counts.
        unsupported: the number of unsupported cells, which no rate counts.
        rules: all rules.
    """

    cells: int
    emulated: int
    unsupported: int
    rules: tuple[RuleRow, ...]


def method_page(report: Report) -> MethodView:
    """Return the data of the page."""
    results = report.run.results
    return MethodView(
        len(results),
        sum(each.origin == "emulated" for each in results),
        sum(each.outcome is Outcome.UNSUPPORTED for each in results),
        tuple(_rule_row(rule, report.context.quirks) for rule in load_duties()),
    )


def _rule_row(rule: str, quirks: Mapping[str, Quirk]) -> RuleRow:
    duty, levels = load_duties()[rule], levels_text(rule)
    sources = tuple(find_source(name, quirks) for name in duty.sources)
    return RuleRow(rule, levels, duty.duty, duty.why, sources)
