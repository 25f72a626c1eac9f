"""Apply the project's gate in pytest: the baseline to each cell, the rules at the end.

A rule is about rates, so it is judged once for all cells, also if several processes ran them. If
the user ran only some cells, as with `-k`, the rules are not judged, and each cell must conform.
"""

from collections.abc import Iterable
from datetime import date
from typing import Final

import msgspec

from harness import __version__
from harness.project import project
from harness.results.result import NORMALIZER_KINDS, Result
from harness.results.run import SCHEMA, Footer, Header, Run, Selection
from harness.runs.declared import declared_agent, declared_normalizer, facts_of, facts_of_agent
from harness.runs.existing_names import existing_names
from harness.testing.session import JudgedCell, SessionPlan, accounting_line, lost_lines
from harness.verdicts.accounting import CONFORMANCE, rule_covers
from harness.verdicts.gate import judge_gate
from harness.verdicts.policy import GatePolicy, policy_of
from harness.wording import pluralize

_CHECKED: Final = ("fail", "inconclusive")


def encode_cell(cell: JudgedCell) -> str:
    """Return a cell as text, which one pytest process can send to another."""
    return msgspec.json.encode(cell).decode()


def accepted_reason(result: Result, policy: GatePolicy, *, rules_judged: bool) -> str:
    """Return why the gate of the project accepts a failing cell; "" if it does not.

    Args:
        result: the result of the cell.
        policy: the gate.
        rules_judged: whether this session judges the rules of the gate. If not, none accepts it.
    """
    allowed = policy.baseline.cells.get(result.cell) if policy.baseline else None
    if allowed is not None and result.outcome.badness >= allowed.badness:
        return f"{result.outcome.value}: the baseline allows {allowed.value}"
    if rules_judged and rule_covers(policy.rules, result):
        return f"{result.outcome.value}: the gate has a rule on {CONFORMANCE}"
    return ""


class GateVerdict(msgspec.Struct, frozen=True):
    """Whether a rule of the project's gate fails, and lines that explain it."""

    fails: bool
    lines: tuple[str, ...]


def judge_session(plan: SessionPlan, encoded: Iterable[str], today: date) -> GateVerdict:
    """Account for the cells of a session, and judge the rules of the project's gate on them.

    Args:
        plan: the plan of the session.
        encoded: the judged cells as text, from `encode_cell`.
        today: the date that decides whether accepted failures have expired.
    """
    cells = {it.cell: it for it in (msgspec.json.decode(each, type=JudgedCell) for each in encoded)}
    lost = tuple(lost_lines(plan, cells.values()))
    rules = project().table.gate
    shown: tuple[str, ...] = ()
    broken = False
    if rules and not plan.is_whole:
        text = f"{plan.selected} of {pluralize(plan.of, 'cell')} selected"
        shown = (f"the rules of the gate are not judged, so each cell must conform: {text}",)
    elif rules and not lost:
        results = [each.result for _, each in sorted(cells.items()) if each.result is not None]
        broken, shown = _judge_rules(results, today)
    lines = (*lost, *shown)
    return GateVerdict(bool(lost) or broken, (accounting_line(plan, cells.values()), *lines))


def _judge_rules(results: list[Result], today: date) -> tuple[bool, tuple[str, ...]]:
    rules = judge_gate(_run_of(results), policy_of(project(), today, known=existing_names)).rules
    broken = tuple(each for each in rules if each.verdict in _CHECKED)
    return bool(broken), tuple(f"gate {each.verdict}: {each.reason}" for each in broken or rules)


def _run_of(results: list[Result]) -> Run:
    """Return a run with these results, because the gate judges runs."""
    normalizers = dict.fromkeys(it.normalizer for it in results if it.kind in NORMALIZER_KINDS)
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
