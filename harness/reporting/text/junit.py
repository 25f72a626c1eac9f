"""Write a run as JUnit XML: a suite for each normalizer or agent, and one for the gate.

XML 1.0 cannot represent most control characters, so they are written as visible text. Test cases
have no time, so that equal runs give equal bytes.
"""

from collections import defaultdict
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from harness.reporting.failures import repro_command
from harness.reporting.text.cell import findings_lines
from harness.reporting.visible import marked
from harness.reporting.words import unjudged_fields
from harness.results.outcome import Outcome
from harness.results.result import Result, area_of
from harness.results.run import Run
from harness.verdicts.expectations import AcceptedCell
from harness.verdicts.gate import Gate, replay_command

_OPENING = ('<?xml version="1.0" encoding="utf-8"?>', "<testsuites>")


def junit(run: Run, gate: Gate) -> str:
    """Return the run as XML, without unsupported cells.

    The XML marks accepted failures and unjudged cells as skipped.
    """
    suites: dict[str, list[str]] = defaultdict(list)
    accepted = {each.cell: each for each in gate.excused}
    for result in run.results:
        if result.outcome is not Outcome.UNSUPPORTED:
            suites[result.normalizer].append(_case(run, result, accepted.get(result.cell)))
    lines = (line for name in sorted(suites) for line in _suite(name, suites[name]))
    return "\n".join([*_OPENING, *lines, *_gate(gate), "</testsuites>", ""])


def _suite(name: str, cases: list[str]) -> Iterator[str]:
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    yield (
        f'<testsuite name={_attribute(name)} tests="{len(cases)}" failures="{failures}"'
        f' errors="0" skipped="{skipped}">'
    )
    yield from cases
    yield "</testsuite>"


def _case(run: Run, result: Result, accepted: AcceptedCell | None) -> str:
    scenario = result.scenario
    opening = (
        f"<testcase classname={_attribute(f'{result.normalizer}.{area_of(scenario)}')}"
        f" name={_attribute(scenario)}"
    )
    skipped = f"{accepted.expect}: {accepted.reason}" if accepted else ""
    if result.outcome is Outcome.UNJUDGED:
        skipped = f"{result.outcome.value}: {'; '.join(unjudged_fields(result))}"
    if skipped:
        return f"{opening}><skipped message={_attribute(skipped)}/></testcase>"
    if result.outcome.conforms:
        return f"{opening}/>"
    selection = run.header.selection
    evidence = result.evidence_of(result.findings[0]) if result.findings else result.evidence
    lines = (
        marked(result.title),
        *([f"evidence {marked(evidence.text)}"] if evidence else []),
        *findings_lines(result.reported),
        marked(replay_command(result.cell, selection.paths, selection.options)),
        *filter(None, (marked(_repro(result, run)),)),
    )
    message = _attribute(f"{result.outcome.value}, blame {result.blame}")
    kind = _attribute(result.outcome.value)
    text = escape("\n".join(lines))
    return f"{opening}><failure type={kind} message={message}>{text}</failure></testcase>"


def _repro(result: Result, run: Run) -> str:
    has_script = run.header.has_script(result.normalizer)
    return repro_command(result, run.header.selection.paths, has_script=has_script)


def _gate(gate: Gate) -> Iterator[str]:
    """Yield the suite of the gate, with one test case that fails if the gate does not pass."""
    name = '<testcase classname="gate" name="gate"'
    reasons = escape("\n".join(map(marked, gate.reasons)))
    opening = f'{name}><failure type="gate" message={_attribute(gate.verdict)}>'
    case = f"{opening}{reasons}</failure></testcase>"
    yield from _suite("gate", [f"{name}/>" if gate.verdict == "pass" else case])


def _attribute(text: str) -> str:
    return quoteattr(marked(text))
