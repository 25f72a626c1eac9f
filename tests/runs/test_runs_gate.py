"""The gate: green must be earned; a reason names the cell that reproduces it."""

import msgspec

from harness.judging.results import Outcome
from harness.runs.gate import judge_gate
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
