"""Name the clients that the reader can compare two by two; the script lists their scenarios."""

from harness.reporting.report import Report


def pair_page(report: Report) -> tuple[str, ...]:
    """Return the clients with judged cells, in the order of the run."""
    judged = {each.normalizer for each in report.run.results if each.outcome.judged}
    return tuple(name for name in report.run.header.names if name in judged)
