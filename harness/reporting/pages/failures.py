"""Compute the failures page: a row for each cause, and the cells whose case the report shows.

A report with every failing case would be too large to open. So it shows the first few cases of each
cause, and of each reason for which turns of models and providers failed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

import msgspec

from harness.reporting.failures import Failure, failure_of
from harness.reporting.pages.peers import peers_page
from harness.reporting.report import Filters, Report
from harness.reporting.words import MEASURED
from harness.verdicts.causes import group_causes
from harness.verdicts.database import AXES
from harness.verdicts.query_rows import FailedTurns

CASES_PER_CAUSE: Final = 3
MAX_CASES: Final = 90
MAX_TURN_CASES: Final = 40
MAX_GROUPS: Final = 400


class FailuresView(msgspec.Struct, frozen=True):
    """All causes, MUST rules first; `must_count` of them make cells fail.

    Fields:
        turns: reasons why measured turns of models and providers failed, the commonest first.
    """

    failures: tuple[Failure, ...]
    must_count: int
    turns: tuple[FailedTurns, ...] = ()


def failures_page(report: Report) -> FailuresView:
    """Return the failures of the run, the worst first."""
    causes = group_causes(report.run.results)
    found = tuple(failure_of(each, report.results, report.run.header) for each in causes)
    turns = (each for each in report.store.failed_turns() if each.blame != "normalizer")
    return FailuresView(found, sum(each.is_must for each in found), tuple(turns))


def cells_with_case(report: Report) -> frozenset[str]:
    """Return the cells whose case the report shows.

    It takes the first cell of each cause, then the second cell of each, up to `MAX_CASES`, so that
    it shows as many causes as possible, those of mutants and known-bad clients last. It adds the
    worst failures of each peer, and at most `MAX_TURN_CASES` cells with failed turns of models and
    providers, and as many with failed conversations.
    """
    wrong = report.run.header.known_wrong
    found = sorted(
        report.of(failures_page).failures, key=lambda each: each.group.normalizer in wrong
    )
    cells = dict.fromkeys(_first_of_each([each.group.all_cells for each in found]))
    of_peers = (each.example.cell for each in report.of(peers_page).failures)
    turns = dict.fromkeys(_cells_of_failed_turns(report))
    talks = _cells_of_failed_conversations(report)
    failed = (*tuple(turns)[:MAX_TURN_CASES], *talks[:MAX_TURN_CASES])
    return frozenset((*tuple(cells)[:MAX_CASES], *of_peers, *failed))


def _first_of_each(groups: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the first cell of each group, then the second of each, up to `CASES_PER_CAUSE`."""
    ranks = zip_longest(*(cells[:CASES_PER_CAUSE] for cells in groups))
    return (cell for rank in ranks for cell in rank if cell is not None)


def _cells_of_failed_turns(report: Report) -> tuple[str, ...]:
    """Return the worst failure of each model, prompt and pair, then a cell for each reason."""
    commonest = (
        sorted(report.store.commonest_failures(axis).values(), key=lambda each: -each[1])
        for axis in AXES
    )
    worst = (cell for found in commonest for _, _, cell in found)
    reasons = report.of(failures_page).turns
    cells = (*worst, *_first_of_each([each.cells for each in reasons]))
    return tuple(cell for cell in cells if cell in report.run.cases)


def _cells_of_failed_conversations(report: Report) -> tuple[str, ...]:
    """Return the cells of conversations that failed because of the model or provider, by reason."""
    known = report.run.conversations
    groups: dict[tuple[str, str], list[str]] = {}
    for each in report.run.results:
        facts = each.conversation
        if facts and not facts.success and not each.outcome.fails and each.cell in known:
            groups.setdefault((facts.blame, facts.why), []).append(each.cell)
    return tuple(_first_of_each(groups.values()))


def failure_name(failure: Failure) -> str:
    """Return the name of a cause, which is the same in every report."""
    found = failure.group
    return f"{found.cause or 'none'}/{found.level}/{found.normalizer}"


def turns_filters(turns: FailedTurns, lead: str) -> Filters:
    """Return the filters for the cells of turns that failed for a reason, as `lead` parsed them."""
    return {"failed": turns.blame, "why": turns.why, "normalizer": lead, "origin": MEASURED}


def failure_filters(failure: Failure) -> Filters:
    """Return the filters of the table of replays that list all cells of a cause."""
    found = failure.group
    if not found.cause:
        return {"outcome": found.outcome.value, "normalizer": found.normalizer}
    column = "cause" if failure.is_must else "should"
    return {column: found.cause, "normalizer": found.normalizer}
