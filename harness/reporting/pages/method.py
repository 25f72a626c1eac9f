"""The method page: what each word and number means, what no rate counts, and the kill table."""

import msgspec

from harness.judging.results import Outcome
from harness.reporting.report import Report


class MethodView(msgspec.Struct, frozen=True):
    """How many cells no rate of a model counts (`emulated`), and no rate at all (`unsupported`)."""

    cells: int
    emulated: int
    unsupported: int


def method_page(report: Report) -> MethodView:
    """Return the numbers of the page."""
    results = report.run.results
    return MethodView(
        len(results),
        sum(each.origin == "emulated" for each in results),
        sum(each.outcome is Outcome.UNSUPPORTED for each in results),
    )
