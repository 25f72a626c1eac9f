"""Name the clients that the reader can compare two by two; the script lists their scenarios."""

from collections import Counter

import msgspec

from harness.reporting.report import Report


class PairView(msgspec.Struct, frozen=True):
    """The clients with judged cells, in the order of the run; there is nothing to compare if one.

    Fields:
        names: the names of the clients.
    """

    names: tuple[str, ...]


def pair_page(report: Report) -> PairView:
    """Return the data of the page."""
    judged = Counter(each.normalizer for each in report.run.results if each.outcome.judged)
    return PairView(tuple(name for name in report.run.header.names if judged[name]))
