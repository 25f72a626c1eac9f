"""Compute the page that compares, for one response, the turns of all clients.

Clients with equal turns are one row. The run file has the turn of a client if its cell has a case.
A client that conforms gave the expected turn, as far as it is judged.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec
from msgspec.structs import replace

from harness.reporting.charts.lanes import AxisLane, DeltaRow, divergence_rows, input_lanes
from harness.reporting.pages.failures import cells_with_case
from harness.reporting.part_rows import PartRow, difference_rows, differences, part_rows
from harness.reporting.report import Report
from harness.reporting.words import worst_first
from harness.results.case import Case
from harness.results.finding import Finding
from harness.results.result import Result
from harness.results.run import REFERENCE

MAX_INPUTS: Final = 30
_MAX_TURNS: Final = 12
_MAX_LANES: Final = 8


class SameTurn(msgspec.Struct, frozen=True):
    """The clients that gave the same turn for a response.

    Fields:
        results: the results of these clients, by name.
        rows: the fields that are not as expected.
        findings: the findings of the first client, if the run file does not contain its turn.
        interaction: the index of the interaction of the turn.
        split: the first delta of the first client that differs from `reference`, and the delta of
            `reference`; None if the deltas are the same, or the run does not have them.
        error: the exception that the first client raised; "" if it raised none.
    """

    results: tuple[Result, ...]
    rows: tuple[PartRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    interaction: int = 0
    split: tuple[DeltaRow, DeltaRow] | None = None
    error: str = ""


class InputView(msgspec.Struct, frozen=True):
    """A scenario or recording, with the turns of all clients.

    Fields:
        first: the worst result; all results have its title and cassette.
        expected: the expected turn for the response that most cases are about.
        turns: worst first.
        more: how many further turns the page does not show.
        as_expected: results that conform.
        others: unjudged and unsupported results.
        size, lanes: the number of bytes, and lanes of frames and deltas that show where each client
            first differs.
    """

    first: Result
    case: Case
    expected: tuple[PartRow, ...]
    turns: tuple[SameTurn, ...]
    more: int
    as_expected: tuple[Result, ...]
    others: tuple[Result, ...]
    size: int
    lanes: tuple[AxisLane, ...]

    @property
    def failing_names(self) -> tuple[str, ...]:
        """The names of the clients that fail."""
        return tuple(result.normalizer for each in self.turns for result in each.results)

    @property
    def failing(self) -> int:
        """The number of clients that fail."""
        return len(self.failing_names)


class InputsView(msgspec.Struct, frozen=True):
    """The scenarios and recordings on which most clients fail; `more` others are left out."""

    inputs: tuple[InputView, ...]
    more: int


def inputs_page(report: Report) -> InputsView:
    """Return the scenarios and recordings with cases that more than one client received."""
    listed = report.of(_results_of_inputs)
    views = tuple(_input_view(results, report) for results in listed[:MAX_INPUTS])
    return InputsView(views, max(0, len(listed) - MAX_INPUTS))


def shown_inputs(report: Report) -> frozenset[str]:
    """Return the scenarios whose turns the page compares."""
    return frozenset(results[0].scenario for results in report.of(_results_of_inputs)[:MAX_INPUTS])


def _results_of_inputs(report: Report) -> list[list[Result]]:
    """Return the results of each scenario or recording, those with most failing clients first."""
    shown, cases = report.of(cells_with_case), report.run.cases
    wanted = {report.results[cell].scenario for cell in shown if cell in cases}
    found: dict[str, list[Result]] = {scenario: [] for scenario in sorted(wanted)}
    for each in report.run.results:
        if each.kind == "turns" and each.scenario in found:
            found[each.scenario].append(each)
    several = [results for results in found.values() if sum(map(_was_given, results)) > 1]
    return sorted(several, key=lambda results: -sum(each.outcome.fails for each in results))


def _was_given(result: Result) -> bool:
    return result.outcome.judged or result.outcome == "unjudged"


def _input_view(results: list[Result], report: Report) -> InputView:
    ranked = sorted(results, key=worst_first)
    cases = {each.cell: report.run.cases[each.cell] for each in ranked if _has_case(each, report)}
    case = next(iter(cases.values()))
    turns = _same_turns([each for each in ranked if each.outcome.fails], cases)
    return InputView(
        first=ranked[0],
        case=case,
        expected=part_rows(None, case.expected, case.judged) if case.expected else (),
        turns=turns[:_MAX_TURNS],
        more=max(0, len(turns) - _MAX_TURNS),
        as_expected=tuple(each for each in ranked if each.outcome.conforms),
        others=tuple(each for each in ranked if not each.outcome.judged),
        size=len(case.body),
        lanes=_lanes(case, turns, cases),
    )


def _has_case(result: Result, report: Report) -> bool:
    return result.cell in report.run.cases


def _same_turns(failing: Iterable[Result], cases: dict[str, Case]) -> tuple[SameTurn, ...]:
    """Group the failing results by equal turns, in their order."""
    groups: dict[object, list[Result]] = {}
    for each in failing:
        case = cases.get(each.cell)
        key = (each.outcome, *(_difference_key(case) if case else each.findings[:1]))
        groups.setdefault(key, []).append(each)
    return tuple(_same_turn(results, cases.get(results[0].cell)) for results in groups.values())


def _difference_key(case: Case) -> tuple[object, ...]:
    found = differences(case.expected, case.actual, case.judged) if case.expected else ()
    return case.interaction, case.error, found


def _same_turn(results: list[Result], case: Case | None) -> SameTurn:
    first = results[0]
    if case is None:
        return SameTurn(tuple(results), findings=first.findings[:3], interaction=first.interaction)
    found = differences(case.expected, case.actual, case.judged) if case.expected else ()
    return SameTurn(
        tuple(results),
        rows=difference_rows(found),
        findings=() if found else first.findings[:3],
        interaction=case.interaction,
        split=divergence_rows(case),
        error=case.error,
    )


def _lanes(case: Case, turns: Iterable[SameTurn], cases: dict[str, Case]) -> tuple[AxisLane, ...]:
    """Return the lanes of the frames, of `reference`, and of one client for each turn of `case`."""
    firsts = [each.results[0] for each in turns if each.interaction == case.interaction]
    shown = ((each.normalizer, cases[each.cell]) for each in firsts if each.cell in cases)
    reference = [(REFERENCE, replace(case, deltas=case.reference))] if case.reference else []
    return input_lanes(case, (*reference, *islice(shown, _MAX_LANES)))
