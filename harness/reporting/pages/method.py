"""The method page: the meaning of words and numbers, what no rate counts, and the kill table."""

from collections.abc import Mapping

import msgspec

from harness.reporting.explanation import Source, find_source
from harness.reporting.report import Report
from harness.results.catalogue import Quirk
from harness.results.duties import levels_text, load_duties
from harness.results.outcome import Outcome


class RuleRow(msgspec.Struct, frozen=True):
    """A rule with its levels by kind of client, and the sources of all levels."""

    id: str
    levels: str
    duty: str
    why: str
    sources: tuple[Source, ...]


class MethodView(msgspec.Struct, frozen=True):
    """The number of cells that no rate of a model counts (`emulated`), or no rate at all."""

    cells: int
    emulated: int
    unsupported: int
    rules: tuple[RuleRow, ...]


def method_page(report: Report) -> MethodView:
    """Return the numbers of the page."""
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
