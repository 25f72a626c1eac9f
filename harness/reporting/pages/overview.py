"""Compute the overview: what each client does wrong, the worst causes, and what was not counted.

Bundled recordings count in no figure of a client unless the user selected recordings: they measure
models. Each number is the number of rows that its link shows in the table of results.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from harness.reporting.cell_index import RECORDINGS
from harness.reporting.failures import Failure, failure_of
from harness.reporting.pages.compare import CompareView, compare_page
from harness.reporting.pages.normalizers import Stack, stacks
from harness.reporting.pages.trends import cell_histories
from harness.reporting.report import Filters, Report
from harness.reporting.visible import plain
from harness.reporting.words import WORST_FIRST, OutcomeWord
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.verdicts.causes import failing_causes
from harness.verdicts.judged_shares import JudgedShare, judged_shares_of_run

LEAST_CAUSES: Final = 4
_MOST_CAUSES: Final = 7
_MOST_CLIENTS: Final = 3
# The first screen has at most 150 words. Pages, verdict, change and folded lines take this many.
_WORDS_OF_CAUSES: Final = 96
_LONGEST_VALUE: Final = 36
_WORDS_OF_VALUE: Final = 4
_SCENARIOS: Final[Filters] = {"recording": "no"}

_DOES: Final = {
    Outcome.SILENT_WRONG: "hands over a wrong call in silence",
    Outcome.LOST_CALL: "loses a call",
    Outcome.CRASH: "raises an exception",
    Outcome.HANG: "hangs",
    Outcome.LEAK: "shows markup of a call as text",
    Outcome.MISMATCH: "returns another turn",
}


class ClientLine(msgspec.Struct, frozen=True):
    """A client in one sentence, with the bar of its outcomes.

    Fields:
        noun: what counts: scenarios, conversations, or cells if recordings count too.
        judged, failing: their numbers.
        worst: the number of cells with its worst outcome.
        does: what it does in these cells.
        filters: the filters of the table of results that list its counted cells.
    """

    name: str
    version: str
    noun: str
    judged: int
    failing: int
    worst: int
    does: str
    bar: Stack
    filters: Filters


class CauseLine(msgspec.Struct, frozen=True):
    """A cause on the overview, with its expected and actual value cut to a few words."""

    failure: Failure
    expected: str
    actual: str


class NotCounted(msgspec.Struct, frozen=True):
    """Cells that no figure of a client counts, with the reason."""

    count: int
    what: str
    why: str
    filters: Filters = {}


class OverviewView(msgspec.Struct, frozen=True):
    """The data of the overview.

    Fields:
        clients: the clients with a sentence, the worst first; `more` others have none, and
            `more_failing` of these fail.
        causes: the worst causes, as many as fit on a screen; `all_causes` counts all.
        reasons: reasons of the verdict other than failing cells.
        outcomes: each outcome with its number of cells, worst first.
        judged: for each field of a turn, how many turns were judged.
        flaky: the number of flaky cells: over several runs they changed between passing and failing
            and back, or changed within one commit.
    """

    clients: tuple[ClientLine, ...]
    more: int
    more_failing: int
    causes: tuple[CauseLine, ...]
    all_causes: int
    not_counted: tuple[NotCounted, ...]
    reasons: tuple[str, ...]
    cells: int
    judged_cells: int
    replays: int
    outcomes: tuple[tuple[OutcomeWord, int], ...]
    judged: tuple[JudgedShare, ...]
    comparison: CompareView | None
    flaky: int = 0


def overview_page(report: Report) -> OverviewView:
    """Return the data of the page."""
    results = report.run.results
    counts = Counter(each.outcome for each in results)
    lines = sorted(client_lines(report), key=_worst_first)
    failures = _failures(report)
    names = tuple(f"{name}: " for name in report.run.header.names)
    return OverviewView(
        clients=tuple(lines[:_MOST_CLIENTS]),
        more=len(lines[_MOST_CLIENTS:]),
        more_failing=sum(each.failing > 0 for each in lines[_MOST_CLIENTS:]),
        causes=_fitting(map(_cause_line, failures)),
        all_causes=len(failures),
        not_counted=tuple(each for each in not_counted(report) if each.count),
        reasons=tuple(each for each in report.gate.reasons if not each.startswith(names)),
        cells=len(results),
        judged_cells=sum(each.outcome.judged for each in results),
        replays=sum(each.replays for each in results),
        outcomes=tuple((word, counts[word.outcome]) for word in WORST_FIRST),
        judged=judged_shares_of_run(report.run),
        comparison=report.of(compare_page),
        flaky=sum(each.is_flaky for each in report.of(cell_histories).values()),
    )


def counted_results(report: Report) -> tuple[Result, ...]:
    """Return the results that count in the figures of clients."""
    if report.run.header.selection.chose_recordings:
        return report.run.results
    return tuple(it for it in report.run.results if not it.scenario.startswith(RECORDINGS))


def client_lines(report: Report) -> Iterator[ClientLine]:
    """Yield a sentence for each client with a counted cell, in the order of the run."""
    header, results = report.run.header, report.of(counted_results)
    scope = {} if header.selection.chose_recordings else _SCENARIOS
    recorded = {each.normalizer for each in results if each.scenario.startswith(RECORDINGS)}
    for kind, noun in (("turns", "scenario"), ("conversation", "conversation")):
        for bar in stacks(results, kind, header.names):
            counts = {each.word.outcome: each.count for each in bar.segments}
            failing = {outcome: count for outcome, count in counts.items() if outcome.fails}
            worst = min(failing, key=lambda each: each.badness, default=None)
            if not bar.judged:
                continue
            yield ClientLine(
                name=bar.name,
                version=header.version_of(bar.name),
                noun="cell" if bar.name in recorded else noun,
                judged=bar.judged,
                failing=sum(failing.values()),
                worst=failing[worst] if worst else 0,
                does=_DOES.get(worst, "") if worst else "",
                bar=bar,
                filters={"normalizer": bar.name, "kind": kind, **scope},
            )


def _worst_first(line: ClientLine) -> tuple[int, int]:
    return min((each.word.outcome.badness for each in line.bar.segments), default=99), -line.failing


def _failures(report: Report) -> tuple[Failure, ...]:
    accepted = {each.cell for each in report.gate.excused}
    causes = failing_causes(report.of(counted_results))
    header = report.run.header
    found = [failure_of(each, report.results, header, accepted) for each in causes]
    wrong = header.known_wrong
    return tuple(
        sorted(found, key=lambda it: (it.group.normalizer in wrong, it.accepted == it.group.cells))
    )


def _cause_line(failure: Failure) -> CauseLine:
    found = failure.example
    if found is None:
        return CauseLine(failure, "", "")
    return CauseLine(failure, _value(found.expected), _value(found.actual))


def _value(text: str) -> str:
    words = plain(text, 4 * _LONGEST_VALUE).split()
    shown = " ".join(words[:_WORDS_OF_VALUE])[:_LONGEST_VALUE]
    return f"{shown}…" if shown != " ".join(words) else shown or "nothing"


def _fitting(lines: Iterable[CauseLine]) -> tuple[CauseLine, ...]:
    """Return the first causes whose words fit on the screen, and at least `LEAST_CAUSES`."""
    found: list[CauseLine] = []
    words = 0
    for each in lines:
        texts = (each.failure.group.normalizer, each.failure.group.name, each.expected, each.actual)
        words += sum(len(text.split()) for text in texts) + 5
        if len(found) == _MOST_CAUSES or (len(found) >= LEAST_CAUSES and words > _WORDS_OF_CAUSES):
            break
        found.append(each)
    return tuple(found)


def not_counted(report: Report) -> Iterator[NotCounted]:
    """Yield the cells that no figure of a client counts, by reason."""
    results = report.of(counted_results)
    others = len(report.run.results) - len(results)
    counts = Counter(each.outcome for each in results)
    scope = _SCENARIOS if others else {}
    yield NotCounted(
        counts[Outcome.UNJUDGED],
        "unjudged",
        "The bytes are ambiguous about the calls of each turn.",
        {"outcome": "unjudged", **scope},
    )
    yield NotCounted(
        others,
        "bundled recordings",
        "They measure models. Select recordings to count them.",
        {"recording": "yes"},
    )
    yield NotCounted(
        counts[Outcome.UNSUPPORTED],
        "unsupported",
        "The client does not declare support for the cell.",
        {"outcome": "unsupported", **scope},
    )
    left_out = len(report.run.header.selection.left_out)
    yield NotCounted(left_out, "left out", "No server is known to send these streams.")
    accepted = len(report.gate.excused)
    yield NotCounted(accepted, "accepted", "The project accepts these failures; they are shown.")
