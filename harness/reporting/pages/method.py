"""The method page: the meaning of words and numbers, what no rate counts, and the kill table."""

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.judging.catalogue import Quirk
from harness.judging.duties import levels_text, load_duties
from harness.judging.results import Outcome
from harness.judging.rule import Rule
from harness.judging.rules import RULES
from harness.reporting.explanation import Source, find_source
from harness.reporting.report import Report


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
        tuple(_rule_row(rule, report.context.quirks) for rule in RULES.values()),
    )


def _rule_row(rule: Rule[Any], quirks: Mapping[str, Quirk]) -> RuleRow:
    duty, levels = load_duties()[rule.id], levels_text(rule.id, rule.about)
    sources = tuple(find_source(name, quirks) for name in duty.sources)
    return RuleRow(rule.id, levels, duty.duty, duty.why, sources)
