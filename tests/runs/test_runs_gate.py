"""The gate: green must be earned; a reason names the cell that reproduces it."""

from datetime import date

import msgspec

from harness.judging.results import Outcome
from harness.project import GateRule, Where
from harness.runs.baseline import Baseline
from harness.runs.expectations import Expectation
from harness.runs.gate import judge_gate, next_baseline
from harness.runs.policy import Policy
from tests.runs.runs_samples import a_result, a_run


def test_a_run_in_which_all_conform_passes() -> None:
    rows = [a_result("a"), a_result("b", outcome=Outcome.PARSE_ERROR)]
    gate = judge_gate(a_run([*rows, a_result("c", outcome=Outcome.UNSUPPORTED)]))
    assert gate.verdict == "pass"
    assert gate.reasons == ("2 cells conform",)


def test_failures_are_told_worst_first_with_the_command_that_shows_them() -> None:
    rows = [
        a_result("a", "x", outcome=Outcome.MISMATCH),
        a_result("b", "x", outcome=Outcome.MISMATCH),
        a_result("a", "y"),
        a_result("c d", "y", outcome=Outcome.SILENT_WRONG),
        a_result("b", "y", outcome=Outcome.LEAK),
    ]
    assert judge_gate(a_run(rows, "x", "y")).reasons == (
        "y: 2 of 3 cells do not conform, worst silent_wrong: harness replay 'c d/y' --in scenarios",
        "x: 2 of 2 cells do not conform, worst mismatch: harness replay a/x --in scenarios",
    )


def test_an_interrupted_run_fails() -> None:
    gate = judge_gate(a_run([a_result()], interrupted=True))
    assert gate.verdict == "fail"
    assert gate.reasons == ("the run was interrupted after 1 of 2 cells",)
    assert judge_gate(a_run([], interrupted=True)).verdict == "fail"


def test_a_killed_run_fails() -> None:
    run = msgspec.structs.replace(a_run([a_result()]), footer=None)
    assert judge_gate(run).reasons == ("the run was killed after 1 cell",)


def test_cells_that_did_not_run_fail() -> None:
    run = a_run([a_result()])
    assert run.footer is not None
    footer = msgspec.structs.replace(run.footer, not_run=2)
    assert judge_gate(msgspec.structs.replace(run, footer=footer)).verdict == "fail"


def test_where_nothing_was_judged_there_is_no_verdict() -> None:
    assert judge_gate(a_run([])).verdict == "nothing"
    assert judge_gate(a_run([a_result(outcome=Outcome.UNSUPPORTED)])).verdict == "nothing"


DAY = date(2026, 11, 22)


def _policy(**changes: object) -> Policy:
    return msgspec.structs.replace(Policy(today=DAY), **changes)


def _accepting(cell: str = "a") -> Expectation:
    return Expectation(cell, "reference", "fail", "known")


def test_an_accepted_failure_turns_the_gate_green() -> None:
    run = a_run([a_result("a", outcome=Outcome.LEAK), a_result("b")])
    gate = judge_gate(run, _policy(expectations=(_accepting(),)))
    assert gate.verdict == "pass"
    assert gate.reasons == ("1 cell conforms", "1 cell excused by expectations or the baseline")
    assert [each.cell for each in gate.excused] == ["a/reference"]


def test_a_stale_expectation_turns_it_red_again() -> None:
    gate = judge_gate(a_run([a_result("a")]), _policy(expectations=(_accepting(),)))
    assert (gate.verdict, len(gate.stale)) == ("fail", 1)
    assert "stale expectation a x reference" in gate.reasons[0]


def test_the_baseline_excuses_what_it_knows_and_nothing_worse() -> None:
    baseline = Baseline(1, {"a/reference": Outcome.LEAK})
    for outcome, verdict in ((Outcome.LEAK, "pass"), (Outcome.SILENT_WRONG, "fail")):
        run = a_run([a_result("a", outcome=outcome), a_result("b")])
        assert judge_gate(run, _policy(baseline=baseline)).verdict == verdict
    following = next_baseline(a_run([a_result("a")]), _policy(baseline=baseline))
    assert following == Baseline(1, {})


def test_accepting_new_failures_passes_and_grows_the_baseline() -> None:
    run = a_run([a_result("a", outcome=Outcome.LEAK)])
    policy = _policy(baseline=Baseline(1, {}), accept_new=True)
    assert judge_gate(run, policy).verdict == "pass"
    assert next_baseline(run, policy) == Baseline(1, {"a/reference": Outcome.LEAK})


def test_a_run_that_is_not_complete_never_moves_the_baseline() -> None:
    run = a_run([a_result("a")], interrupted=True)
    policy = _policy(baseline=Baseline(1, {"a/reference": Outcome.LEAK}))
    assert next_baseline(run, policy) is None
    assert judge_gate(run, policy).verdict == "fail"


def test_rules_are_beside_the_one_that_all_conform() -> None:
    run = a_run([a_result("a", outcome=Outcome.LEAK), a_result("b")])
    beside = judge_gate(run, _policy(rules=(GateRule("silent_wrong", max=0.0),)))
    assert beside.verdict == "fail"
    assert [rule.verdict for rule in beside.rules] == ["pass"]
    instead = judge_gate(run, _policy(rules=(GateRule("conformance", min=0.5),)))
    assert instead.verdict == "pass"


def test_what_is_not_sure_is_inconclusive_and_no_pass() -> None:
    rules = (GateRule("turn_success", min=0.5, min_n=30),)
    gate = judge_gate(a_run([a_result("a")]), _policy(rules=rules))
    assert gate.verdict == "inconclusive"
    assert "fewer than min_n = 30" in gate.reasons[0]
    broken = (*rules, GateRule("silent_wrong", Where(model="nobody"), max=0.0))
    worse = judge_gate(a_run([a_result("a")]), _policy(rules=broken))
    assert worse.verdict == "fail"
    assert "nothing in the run matches it" in worse.reasons[0]
