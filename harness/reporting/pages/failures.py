"""The failures page: one row for each cause, and the cells whose case is part of the page.

A page with every failing case would be too large to open, so each cause brings its first few.
"""

from itertools import zip_longest
from typing import Final

import msgspec

from harness.reporting.failures import Failure, failure_of
from harness.reporting.pages.peers import peers_page
from harness.reporting.report import Report, replays_link

CASES_PER_CAUSE: Final = 3
MAX_CASES: Final = 90
MAX_GROUPS: Final = 400


class FailuresView(msgspec.Struct, frozen=True):
    """All causes, MUST rules first; `must_count` of them fail cells."""

    failures: tuple[Failure, ...]
    must_count: int


def failures_page(report: Report) -> FailuresView:
    """Return the failures of the run, in the order of the database."""
    selection = report.run.header.selection
    found = tuple(
        failure_of(each, report.results, selection) for each in report.store.failures_by_cause()
    )
    return FailuresView(found, sum(each.is_must for each in found))


def cells_with_case(report: Report) -> frozenset[str]:
    """Return the cells whose case is part of the page: at most `MAX_CASES`, and those of peers.

    First the first cell of each cause, then the second of each, so that the page has cases
    of as many causes as possible. The worst failures of each peer are always part of it.
    """
    found = report.of(failures_page).failures
    ranks = zip_longest(*(each.group.cells[:CASES_PER_CAUSE] for each in found))
    cells = dict.fromkeys(cell for rank in ranks for cell in rank if cell is not None)
    of_peers = (each.failure.example.cell for each in report.of(peers_page).failures)
    return frozenset((*tuple(cells)[:MAX_CASES], *of_peers))


def failure_name(failure: Failure) -> str:
    """Return the name of a cause, the same in every report."""
    found = failure.group
    return f"{found.cause or 'none'}/{found.level}/{found.normalizer}"


def failure_link(failure: Failure) -> str:
    """Return the link to all cells of a cause in the table of replays."""
    found, example = failure.group, failure.example
    if failure.is_must and found.cause:
        return replays_link(cause=found.cause, normalizer=found.normalizer)
    if example is not None:
        return replays_link(rule=example.rule, normalizer=found.normalizer)
    return replays_link(outcome=found.outcome.value, normalizer=found.normalizer)
