"""A small run in which all text that comes from outside is hostile."""

from msgspec.structs import replace

from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.results.scenario_evidence import ScenarioEvidence
from harness.verdicts.expectations import AcceptedCell
from harness.verdicts.gate import Gate, judge_gate
from tests.runs.runs_samples import a_result, a_run

EVIL = (
    "=cmd|'/c calc'!A0 \x00\x1b[31m\r\n::error::injected\n</failure>]]><script>alert(1)</script>"
    " `code` **bold** [a](https://evil.example) @everyone #1 ![i](x) \u202eabc |"
)
NAMES = ("=1+1", "@me", "`x`", "<b>", "a,b", "::warning::n", EVIL)


def a_finding(rule: str = "RULE", outcome: Outcome = Outcome.LOST_CALL) -> Finding:
    return Finding(rule, "MUST", outcome, EVIL, EVIL, EVIL, 7)


def a_hostile_run(copies: int = 1) -> tuple[Run, Gate]:
    """Return a run in which each normalizer passes once, and fails `copies` times otherwise."""
    results = [a_result(f"{EVIL}/ok", name) for name in NAMES]
    results += [
        a_result(
            f"{EVIL}/{copy}", name, outcome=Outcome.LOST_CALL, findings=(a_finding(f"R{copy}"),)
        )
        for copy in range(copies)
        for name in NAMES
    ]
    evidence = ScenarioEvidence("reported", f"https://evil.example/{EVIL}")
    results = [replace(each, evidence=evidence) for each in results]
    run = a_run(results, *NAMES)
    gate = judge_gate(run)
    excused = AcceptedCell(f"{EVIL}/0/{NAMES[0]}", "fail", EVIL)
    return run, Gate(gate.verdict, (*gate.reasons, EVIL), excused=(excused,))
