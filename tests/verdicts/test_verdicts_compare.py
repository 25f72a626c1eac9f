"""Two runs: what changed, and what of it is more than noise."""

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.verdicts.compare import CHANGE_KINDS, Change, compare
from harness.verdicts.statistics import Pairs, mcnemar, newcombe
from tests.runs.runs_samples import a_finding, a_result, a_run, a_turn

outcomes = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(tuple(Outcome)))


def _run(rows: dict[str, Outcome]) -> Run:
    return a_run([a_result(cell, outcome=outcome) for cell, outcome in rows.items()])


@given(outcomes, outcomes)
def test_each_judged_cell_is_counted_once(
    before: dict[str, Outcome], after: dict[str, Outcome]
) -> None:
    found = compare(_run(before), _run(after))
    judged = {cell for rows in (before, after) for cell, outcome in rows.items() if outcome.judged}
    assert found.same + len(found.changes) == len(judged)
    assert sum(found.counts.values()) == len(found.changes)
    assert len({each.cell for each in found.changes}) == len(found.changes)
    ways = [CHANGE_KINDS.index(each.way) for each in found.changes]
    assert ways == sorted(ways)


@given(outcomes, outcomes)
def test_reversed_comparison_reverses_the_changes(
    before: dict[str, Outcome], after: dict[str, Outcome]
) -> None:
    there, back = compare(_run(before), _run(after)), compare(_run(after), _run(before))
    assert there.counts["broken"] == back.counts["fixed"]
    assert there.counts["new"] == back.counts["missing"]
    assert there.counts["changed"] == back.counts["changed"]


def test_run_equals_itself() -> None:
    run = _run({"a": Outcome.PASS, "b": Outcome.LEAK})
    found = compare(run, run)
    assert (found.changes, found.same, found.warnings) == ((), 2, ())
    (rate,) = found.conformance
    assert (rate.before, rate.after, rate.p, rate.sure) == (0.5, 0.5, 1.0, False)


CAUSES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["", "X", "Y", "Z"]))


def _failing(causes: dict[str, str]) -> Run:
    """Return a run in which each cell fails for its cause, or passes if that is ""."""
    return a_run(
        a_result(
            cell,
            outcome=Outcome.CRASH if cause else Outcome.PASS,
            findings=(a_finding("NO-CRASH", Outcome.CRASH, raised=cause),) if cause else (),
        )
        for cell, cause in causes.items()
    )


@given(CAUSES, CAUSES)
def test_new_and_fixed_causes_are_those_of_one_run_only(
    before: dict[str, str], after: dict[str, str]
) -> None:
    found = compare(_failing(before), _failing(after))
    was, now = ([each[it] for it in before.keys() & after.keys()] for each in (before, after))
    assert {it.cause: it.cells for it in found.new_causes} == {
        cause: now.count(cause) for cause in {*now} - {*was, ""}
    }
    assert {it.cause: it.cells for it in found.fixed_causes} == {
        cause: was.count(cause) for cause in {*was} - {*now, ""}
    }
    back = compare(_failing(after), _failing(before))
    assert (back.new_causes, back.fixed_causes) == (found.fixed_causes, found.new_causes)


def test_parse_error_instead_of_pass_is_not_a_change() -> None:
    found = compare(_run({"a": Outcome.PASS}), _run({"a": Outcome.PARSE_ERROR}))
    assert found.changes == ()


@given(st.sampled_from(Outcome), st.sampled_from(Outcome))
def test_a_cell_that_only_one_run_judged_is_shown_with_both_outcomes(
    was: Outcome, now: Outcome
) -> None:
    assume(was.judged != now.judged)
    found = compare(_run({"a": was}), _run({"a": now}))
    assert found.changes == (Change("a/reference", "changed", was, now),)
    assert found.conformance == ()


def test_rates_are_paired_and_corrected_for_their_number() -> None:
    def rows(name: str, broken: int) -> list[object]:
        return [
            a_result(f"s/{n}", name, outcome=Outcome.LEAK if n < broken else Outcome.PASS)
            for n in range(9)
        ]

    before = a_run([*rows("x", 0), *rows("y", 0)], "x", "y")  # type: ignore[list-item]  # results
    after = a_run([*rows("x", 7), *rows("y", 1)], "x", "y")  # type: ignore[list-item]  # results
    x, y = compare(before, after).conformance
    assert x.pairs == Pairs(both=2, only_a=7)
    assert x.p == 2 * mcnemar(7, 0)
    assert (x.low, x.high) == newcombe(x.pairs)
    assert (x.sure, y.sure) == (True, False)


def test_models_are_paired_by_recorded_turns() -> None:
    def run(success: str, origin: str = "recorded") -> Run:
        turns = tuple(
            a_turn(place, success=good == "1", digest=str(place))
            for place, good in enumerate(success)
        )
        return a_run([a_result("a", model="qwen", turns=turns, origin=origin)])

    (rate,) = compare(run("110"), run("100")).turn_success
    assert (rate.name, rate.pairs) == ("qwen", Pairs(1, 1, 0, 1))
    assert compare(run("1", origin="emulated"), run("1")).turn_success == ()


def test_compare_warns_about_different_options() -> None:
    run = _run({"a": Outcome.PASS})
    selection = msgspec.structs.replace(run.header.selection, cuts="quick")
    other = msgspec.structs.replace(
        run, header=msgspec.structs.replace(run.header, selection=selection)
    )
    assert compare(run, other).warnings == ("the runs have different cuts: standard and quick",)
