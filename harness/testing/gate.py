"""Apply the project's gate in pytest: the baseline to each cell, the rules at the end.

A rule is about rates, so it is judged once for all cells, also if several processes ran them. If
the user ran only some cells, as with `-k`, the rules are not judged.
"""

from collections.abc import Iterable
from datetime import date
from typing import Final

import msgspec

from harness import __version__
from harness.project import project
from harness.results.result import Result
from harness.results.run import SCHEMA, Footer, Header, Run, Selection
from harness.runs.declared import declared_agent, declared_normalizer, facts_of, facts_of_agent
from harness.runs.existing_names import existing_names
from harness.verdicts.gate import CONFORMANCE, judge_gate
from harness.verdicts.policy import GatePolicy, policy_of
from harness.wording import pluralize

_CHECKED: Final = ("fail", "inconclusive")


class JudgedCell(msgspec.Struct, frozen=True):
    """The result of one pytest item, and data about the suite of tests that it belongs to.

    Fields:
        suite: a name that distinguishes suites.
        cells: the number of items of the suite.
        result: the result of the item.
    """

    suite: str
    cells: int
    result: Result


def encode_cell(cell: JudgedCell) -> str:
    """Return a cell as text, which one pytest process can send to another."""
    return msgspec.json.encode(cell).decode()


def accepted_reason(result: Result, policy: GatePolicy) -> str:
    """Return why the gate of the project accepts a failing cell; "" if it does not."""
    allowed = policy.baseline.cells.get(result.cell) if policy.baseline else None
    if allowed is not None and result.outcome.badness >= allowed.badness:
        return f"{result.outcome.value}: the baseline allows {allowed.value}"
    if any(rule.metric == CONFORMANCE for rule in policy.rules):
        return f"{result.outcome.value}: the gate has a rule on {CONFORMANCE}"
    return ""


class GateVerdict(msgspec.Struct, frozen=True):
    """Whether a rule of the project's gate fails, and lines that explain it."""

    fails: bool
    lines: tuple[str, ...]


def judge_rules_of_project(encoded: Iterable[str], today: date) -> GateVerdict:
    """Judge the rules of the project's gate on the cells that pytest ran.

    Args:
        encoded: cells as text, from `encode_cell`.
        today: the date that decides whether accepted failures have expired.
    """
    cells = [msgspec.json.decode(each, type=JudgedCell) for each in encoded]
    results = {each.result.cell: each.result for each in cells}
    ran = {
        suite: len({it.result.cell for it in cells if it.suite == suite})
        for suite in {each.suite for each in cells}
    }
    planned = {each.suite: each.cells for each in cells}
    if any(ran[suite] < planned[suite] for suite in ran):
        text = f"{sum(ran.values())} of {pluralize(sum(planned.values()), 'cell')} ran"
        return GateVerdict(fails=False, lines=(f"the rules of the gate are not judged: {text}",))
    run = _run_of(sorted(results.values(), key=lambda each: each.cell))
    rules = judge_gate(run, policy_of(project(), today, known=existing_names)).rules
    broken = tuple(each for each in rules if each.verdict in _CHECKED)
    shown = tuple(f"gate {each.verdict}: {each.reason}" for each in broken or rules)
    return GateVerdict(fails=bool(broken), lines=shown)


def _run_of(results: list[Result]) -> Run:
    """Return a run with these results, because the gate judges runs."""
    normalizers = dict.fromkeys(it.normalizer for it in results if it.kind == "turns")
    agents = dict.fromkeys(it.normalizer for it in results if it.kind == "conversation")
    header = Header(
        schema=SCHEMA,
        harness=__version__,
        normalizers=tuple(facts_of(declared_normalizer(name)) for name in normalizers),
        selection=Selection(),
        command=("pytest",),
        scenario_count=len(results),
        agents=tuple(facts_of_agent(declared_agent(name)) for name in agents),
    )
    return Run(header, tuple(results), {}, Footer(len(results), sum(it.replays for it in results)))
