"""Inputs side by side: clients with equal turns together, the most failures first, bounded."""

import msgspec

from harness.reporting.pages.inputs import MAX_INPUTS, InputView, inputs_page
from harness.reporting.report import open_report
from harness.results.outcome import Outcome
from harness.results.run import Run
from tests.reporting.conftest import FAILURES

SCENARIO = "openai-chat/many-fragments"


def _inputs(run: Run) -> dict[str, InputView]:
    with open_report(run) as report:
        return {each.first.scenario: each for each in inputs_page(report).inputs}


def _with_client(run: Run, name: str, arguments: str | None = None) -> Run:
    """Return `run` with another client that fails as `naive` does, or with other arguments."""
    results, cases = list(run.results), dict(run.cases)
    for each in run.results:
        if each.normalizer == "naive" and each.scenario == SCENARIO:
            cell = f"{SCENARIO}/{name}"
            results.append(msgspec.structs.replace(each, cell=cell, normalizer=name))
            case = msgspec.structs.replace(run.cases[each.cell], cell=cell)
            if arguments is not None:
                (call,) = case.actual.tool_calls
                calls = (msgspec.structs.replace(call, arguments=arguments),)
                actual = msgspec.structs.replace(case.actual, tool_calls=calls)
                case = msgspec.structs.replace(case, actual=actual)
            cases[cell] = case
    results.sort(key=lambda each: each.cell)
    return msgspec.structs.replace(run, results=tuple(results), cases=cases)


def test_each_failing_scenario_has_all_its_clients(sample: Run) -> None:
    found = _inputs(sample)
    assert found.keys() == {each.scenario for each in FAILURES}
    for view in found.values():
        assert [each.normalizer for each in view.as_expected] == ["dashscope-restore", "reference"]
        assert [each.results[0].normalizer for each in view.turns] == ["naive"]
        assert view.expected


def test_clients_with_equal_turns_are_one_row(sample: Run) -> None:
    run = _with_client(_with_client(sample, "twin"), "other", "{}")
    found = _inputs(run)
    assert next(iter(found)) == SCENARIO  # on which most clients fail
    turns = [[each.normalizer for each in turn.results] for turn in found[SCENARIO].turns]
    assert turns == [["naive", "twin"], ["other"]]
    assert found[SCENARIO].failing == 3


def test_each_turn_has_its_first_divergence_and_a_lane(sample: Run) -> None:
    view = _inputs(sample)[SCENARIO]
    split = view.turns[0].split
    assert split is not None
    actual, reference = ("".join(piece.text for piece in row.detail) for row in split)
    assert (actual, reference) == ("0031,", "0030,")
    assert [lane.name for lane in view.lanes] == [
        "frames",
        "deltas of reference",
        "deltas of naive",
    ]
    assert [lane.mark is None for lane in view.lanes] == [True, True, False]


def test_a_client_without_a_case_shows_its_findings(sample: Run) -> None:
    run = _with_client(sample, "other")
    cases = {cell: case for cell, case in run.cases.items() if not cell.endswith("/other")}
    (first, second) = _inputs(msgspec.structs.replace(run, cases=cases))[SCENARIO].turns
    assert (first.findings, bool(first.rows)) == ((), True)
    assert (second.findings[0].rule, second.rows) == ("arguments-exact", ())


def test_an_input_of_one_client_is_not_shown(sample: Run) -> None:
    alone = tuple(each for each in sample.results if each.normalizer == "naive")
    assert _inputs(msgspec.structs.replace(sample, results=alone)) == {}


def test_clients_that_do_not_support_an_input_are_named(sample: Run) -> None:
    results = tuple(
        msgspec.structs.replace(each, outcome=Outcome.UNSUPPORTED)
        if each.normalizer == "dashscope-restore"
        else each
        for each in sample.results
    )
    view = _inputs(msgspec.structs.replace(sample, results=results))[SCENARIO]
    assert [each.normalizer for each in view.others] == ["dashscope-restore"]


def test_inputs_are_at_most_their_number(sample: Run) -> None:
    bad = next(each for each in sample.results if each.cell == f"{SCENARIO}/naive")
    many = [
        msgspec.structs.replace(
            bad, cell=f"{n:03}/{name}", scenario=f"{n:03}", normalizer=name, cause=f"cause {n}"
        )
        for n in range(MAX_INPUTS + 5)
        for name in ("one", "two")
    ]
    cases = {
        each.cell: msgspec.structs.replace(sample.cases[bad.cell], cell=each.cell) for each in many
    }
    with open_report(msgspec.structs.replace(sample, results=tuple(many), cases=cases)) as report:
        view = inputs_page(report)
    assert len(view.inputs) <= MAX_INPUTS
    assert len(view.inputs) + view.more > MAX_INPUTS - 20
