"""The gate: green must be earned; a reason names the cell that reproduces it."""

from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.project import GateRule, Where
from harness.results.expectation import COUNTED_FIELDS, UNSPECIFIED, Field
from harness.results.outcome import Outcome
from harness.results.result import ConversationFacts, Result
from harness.verdicts.baseline import Baseline
from harness.verdicts.database import Questions
from harness.verdicts.expectations import AcceptedFailure
from harness.verdicts.gate import RuleVerdict, judge_gate, judge_rules, next_baseline, summarize
from harness.verdicts.judged_shares import judged_shares
from harness.verdicts.policy import GatePolicy
from harness.verdicts.query_rows import BlameSplit
from harness.verdicts.rankings import rankings
from harness.verdicts.statistics import wilson
from tests.runs.runs_samples import a_result, a_run, a_turn

RANKED = {"name", "k", "n", "low", "high", "parse_error"}


def test_summary_has_its_public_keys() -> None:
    run = a_run([a_result("a"), a_result("b", outcome=Outcome.LOST_CALL)])
    found = msgspec.json.decode(msgspec.json.encode(summarize(run)))
    assert set(found) >= {"scenarios", "replays", "outcomes", "rankings", "gate"}
    assert found["scenarios"] == 1
    assert found["replays"] == 6
    assert found["outcomes"] == {"reference": {"lost_call": 1, "pass": 1}}
    for axis in ("models", "prompts", "pairs", "normalizers"):
        (line,) = found["rankings"][axis]
        assert set(line) >= RANKED
        assert line["parse_error"] == dict.fromkeys(BlameSplit.__struct_fields__, 0)
    assert found["gate"]["verdict"] == "fail"
    assert len(found["gate"]["reasons"]) == 1


def test_summary_of_an_empty_run_has_the_same_keys() -> None:
    found = msgspec.to_builtins(summarize(a_run([])))
    assert found["outcomes"] == {}
    empty: dict[str, object] = {
        "models": (),
        "prompts": (),
        "pairs": (),
        "normalizers": (),
        "text_dialects": {},
        "agents": (),
        "conversations": (),
    }
    assert found["rankings"] == empty
    assert found["gate"]["verdict"] == "nothing"


def test_gate_passes_if_all_cells_conform() -> None:
    rows = [a_result("a"), a_result("b", outcome=Outcome.PARSE_ERROR)]
    gate = judge_gate(a_run([*rows, a_result("c", outcome=Outcome.UNSUPPORTED)]))
    assert gate.verdict == "pass"
    assert gate.reasons == ("2 cells conform",)


def test_failure_reasons_are_sorted_and_have_commands() -> None:
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


def test_interrupted_run_fails() -> None:
    gate = judge_gate(a_run([a_result()], interrupted=True))
    assert gate.verdict == "fail"
    assert gate.reasons == ("the run was interrupted after 1 of 2 cells",)
    assert judge_gate(a_run([], interrupted=True)).verdict == "fail"


def test_killed_run_fails() -> None:
    run = msgspec.structs.replace(a_run([a_result()]), footer=None)
    assert judge_gate(run).reasons == ("the run was killed after 1 cell",)


def test_run_with_missing_cells_fails() -> None:
    run = a_run([a_result()])
    assert run.footer is not None
    footer = msgspec.structs.replace(run.footer, not_run=2)
    assert judge_gate(msgspec.structs.replace(run, footer=footer)).verdict == "fail"


def test_run_without_judged_cells_has_no_verdict() -> None:
    assert judge_gate(a_run([])).verdict == "nothing"
    assert judge_gate(a_run([a_result(outcome=Outcome.UNSUPPORTED)])).verdict == "nothing"


def test_unjudged_cells_neither_conform_nor_fail() -> None:
    run = a_run([a_result("a", outcome=Outcome.UNJUDGED), a_result("b")])
    gate = judge_gate(run)
    assert (gate.verdict, gate.unjudged) == ("pass", ("a/reference",))
    assert gate.reasons == ("1 cell conforms",)
    assert gate.remark == "1 cell unjudged, such as a/reference"
    failed = judge_gate(a_run([*run.results, a_result("c", outcome=Outcome.LOST_CALL)]))
    assert failed.verdict == "fail"
    assert all("c/reference" in reason for reason in failed.reasons)
    (ranked,) = rankings(run).normalizers
    assert (ranked.k, ranked.n, ranked.unjudged) == (1, 1, 1)


def test_run_with_unjudged_cells_only_has_no_verdict() -> None:
    run = a_run([a_result(outcome=Outcome.UNJUDGED)])
    assert judge_gate(run).verdict == "nothing"
    assert rankings(run).normalizers == ()


def test_rule_forbids_unjudged_cells() -> None:
    run = a_run([a_result("a", outcome=Outcome.UNJUDGED), a_result("b")])
    for most, verdict in ((0.0, "fail"), (0.5, "pass")):
        gate = judge_gate(run, _policy(rules=(GateRule("unjudged", max=most),)))
        assert (gate.verdict, gate.rules[0].k, gate.rules[0].n) == (verdict, 1, 2)


def test_baseline_ignores_unjudged_cells() -> None:
    baseline = Baseline(1, {"a/reference": Outcome.LEAK})
    run = a_run([a_result("a", outcome=Outcome.UNJUDGED), a_result("b")])
    assert next_baseline(run, _policy(baseline=baseline)) == baseline


def test_rule_limits_turns_with_an_unjudged_field() -> None:
    turns = (
        a_turn(unjudged={"text": "EVENT-GLUED"}),
        a_turn(1, unjudged={"calls": UNSPECIFIED}),
        a_turn(2),
    )
    verdict = _judge(GateRule("unjudged_turns", max=0.0), [a_result(turns=turns)])
    assert (verdict.k, verdict.n, verdict.verdict) == (1, 3, "fail")


@given(st.lists(st.dictionaries(st.sampled_from(COUNTED_FIELDS), st.sampled_from("abc"))))
def test_each_turn_is_judged_or_has_a_reason(turns: list[dict[Field, str]]) -> None:
    shares = judged_shares(turns)
    assert tuple(share.field for share in shares) == COUNTED_FIELDS
    for share in shares:
        assert share.n == len(turns) == share.k + sum(share.reasons.values())
        assert share.k == sum(share.field not in turn for turn in turns)


DAY = date(2026, 11, 22)


def _policy(**changes: object) -> GatePolicy:
    return msgspec.structs.replace(GatePolicy(today=DAY), **changes)


def _accepting(cell: str = "a") -> AcceptedFailure:
    return AcceptedFailure(cell, "reference", "fail", "known")


def test_gate_passes_with_accepted_failure() -> None:
    run = a_run([a_result("a", outcome=Outcome.LEAK), a_result("b")])
    gate = judge_gate(run, _policy(expectations=(_accepting(),)))
    assert gate.verdict == "pass"
    assert gate.reasons == ("1 cell conforms", "1 cell accepted by expectations or the baseline")
    assert [each.cell for each in gate.excused] == ["a/reference"]


def test_gate_fails_with_stale_entry() -> None:
    gate = judge_gate(a_run([a_result("a")]), _policy(expectations=(_accepting(),)))
    assert (gate.verdict, len(gate.stale)) == ("fail", 1)
    assert "stale expectation a x reference" in gate.reasons[0]


def test_baseline_accepts_listed_failures_only() -> None:
    baseline = Baseline(1, {"a/reference": Outcome.LEAK})
    for outcome, verdict in ((Outcome.LEAK, "pass"), (Outcome.SILENT_WRONG, "fail")):
        run = a_run([a_result("a", outcome=outcome), a_result("b")])
        assert judge_gate(run, _policy(baseline=baseline)).verdict == verdict
    following = next_baseline(a_run([a_result("a")]), _policy(baseline=baseline))
    assert following == Baseline(1, {})


def test_accept_new_passes_and_grows_the_baseline() -> None:
    run = a_run([a_result("a", outcome=Outcome.LEAK)])
    policy = _policy(baseline=Baseline(1, {}), accept_new=True)
    assert judge_gate(run, policy).verdict == "pass"
    assert next_baseline(run, policy) == Baseline(1, {"a/reference": Outcome.LEAK})


def test_incomplete_run_never_changes_the_baseline() -> None:
    run = a_run([a_result("a")], interrupted=True)
    policy = _policy(baseline=Baseline(1, {"a/reference": Outcome.LEAK}))
    assert next_baseline(run, policy) is None
    assert judge_gate(run, policy).verdict == "fail"


def test_rules_apply_in_addition_to_conformance() -> None:
    run = a_run([a_result("a", outcome=Outcome.LEAK), a_result("b")])
    beside = judge_gate(run, _policy(rules=(GateRule("silent_wrong", max=0.0),)))
    assert beside.verdict == "fail"
    assert [rule.verdict for rule in beside.rules] == ["pass"]
    instead = judge_gate(run, _policy(rules=(GateRule("conformance", min=0.5),)))
    assert instead.verdict == "pass"


def test_uncertain_rule_is_inconclusive() -> None:
    rules = (GateRule("turn_success", min=0.5, min_n=30),)
    gate = judge_gate(a_run([a_result("a")]), _policy(rules=rules))
    assert gate.verdict == "inconclusive"
    assert "fewer than min_n = 30" in gate.reasons[0]
    broken = (*rules, GateRule("silent_wrong", Where(model="nobody"), max=0.0))
    worse = judge_gate(a_run([a_result("a")]), _policy(rules=broken))
    assert worse.verdict == "fail"
    assert "nothing in the run matches it" in worse.reasons[0]


def _judge(rule: GateRule, results: list[Result], excused: tuple[str, ...] = ()) -> RuleVerdict:
    names = sorted({each.normalizer for each in results}) or ["reference"]
    with Questions(a_run(results, *names)) as questions:
        (verdict,) = judge_rules(questions, (rule,), excused)
    return verdict


def _turns(good: int, bad: int, *, asked: str = "", model: str = "m") -> list[Result]:
    def result(place: int, *, success: bool) -> Result:
        turn = a_turn(success=success, blame="" if success else "model", digest=f"{model}{place}")
        said = msgspec.structs.replace(turn, asked=asked and f"{asked}{place % 2}")
        return a_result(f"{model}/{place}", model=model, turns=(said,))

    return [result(place, success=place < good) for place in range(good + bad)]


@given(
    st.integers(0, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(0.01, 0.99),
    st.sampled_from(["point", "interval"]),
)
def test_bound_is_met_broken_or_inconclusive(
    counts: tuple[int, int], bound: float, basis: str
) -> None:
    k, n = counts
    rule = GateRule("turn_success", min=bound, basis=basis)  # type: ignore[arg-type]  # a Basis
    verdict = _judge(rule, _turns(k, n - k))
    assert (verdict.k, verdict.n) == (k, n)
    low, high = wilson(k, n) if basis == "interval" else ((k / n,) * 2 if n else (0, 0))
    expected = "pass" if low >= bound else "fail" if high < bound else "inconclusive"
    assert verdict.verdict == (expected if n else "fail")


def test_rule_that_matches_nothing_fails() -> None:
    rule = GateRule("turn_success", Where(model="nobody"), min=0.0)
    verdict = _judge(rule, _turns(3, 0))
    assert (verdict.verdict, verdict.n, verdict.rate) == ("fail", 0, None)
    assert "nothing in the run matches it" in verdict.reason


def test_too_few_trials_are_inconclusive() -> None:
    rule = GateRule("turn_success", min=0.9, min_n=30)
    assert _judge(rule, _turns(29, 0)).verdict == "inconclusive"
    assert _judge(rule, _turns(0, 29)).verdict == "inconclusive"
    assert _judge(rule, _turns(30, 0)).verdict == "pass"


def test_repeated_requests_are_not_independent_trials() -> None:
    rule = GateRule("turn_success", min=0.8, basis="interval")
    assert _judge(rule, _turns(20, 0)).verdict == "pass"
    repeated = _judge(rule, _turns(20, 0, asked="the same"))
    assert (repeated.verdict, repeated.n, repeated.groups) == ("inconclusive", 20, 2)


def test_globs_select_models_and_areas() -> None:
    results = [*_turns(2, 0, model="qwen-plus"), *_turns(0, 3, model="qwen-max")]
    assert _judge(GateRule("turn_success", Where(model="qwen-*"), min=0.0), results).n == 5
    assert _judge(GateRule("turn_success", Where(model="*-plus"), min=0.0), results).n == 2
    assert _judge(GateRule("turn_success", Where(area="qwen-max"), min=0.0), results).k == 0


def test_model_rate_excludes_emulated_turns() -> None:
    emulated = a_result("e", origin="emulated", turns=(a_turn(success=False, parse_errors=1),))
    assert _judge(GateRule("turn_success", min=0.0), [emulated]).n == 0
    about = GateRule("parse_error_rate", Where(model="m"), max=0.0)
    assert _judge(about, [emulated]).n == 0
    assert _judge(GateRule("parse_error_rate", max=0.0), [emulated]).verdict == "fail"


def test_blame_filters_failures_of_a_rate() -> None:
    blamed = a_result("a", turns=(a_turn(success=False, parse_errors=1, blame="model"),))
    for metric, where, k in (
        ("turn_success", Where(blame="normalizer"), 1),
        ("turn_success", Where(blame="model"), 0),
        ("parse_error_rate", Where(blame="normalizer"), 0),
        ("parse_error_rate", Where(blame="model"), 1),
    ):
        rule = GateRule(metric, where, min=0.0)  # type: ignore[arg-type]  # a Metric
        assert _judge(rule, [blamed]).k == k


@pytest.mark.parametrize("outcome", [each for each in Outcome if not each.conforms][:6])
def test_each_failing_outcome_is_a_metric(outcome: Outcome) -> None:
    results = [a_result("a", outcome=outcome), a_result("b")]
    results.append(a_result("c", outcome=Outcome.UNSUPPORTED))
    rule = GateRule(outcome.value, max=0.0)  # type: ignore[arg-type]  # a Metric
    verdict = _judge(rule, results)
    assert (verdict.k, verdict.n, verdict.verdict) == (1, 2, "fail")
    conformance = _judge(GateRule("conformance", min=1.0), results)
    assert (conformance.k, conformance.n) == (1, 2)


def test_accepted_cells_count_in_no_rule() -> None:
    results = [a_result("a", outcome=Outcome.LEAK), a_result("b")]
    verdict = _judge(GateRule("conformance", min=1.0), results, ("a/reference",))
    assert (verdict.k, verdict.n, verdict.verdict) == (1, 1, "pass")


def _talk(name: str, *, success: bool = True, **counts: int) -> Result:
    said = ConversationFacts("answer", success, why="", blame="", requests=1, turns=1)
    facts = msgspec.structs.replace(said, **counts)
    row = a_result(name, "agent")
    return msgspec.structs.replace(row, kind="conversation", conversation=facts, turns=())


def test_only_complete_conversations_are_counted() -> None:
    results = [
        _talk("a", retries=2, broken_turns=3, recovered=2),
        _talk("b", success=False),
        a_result("c"),
    ]
    where = Where(agent="agent")
    for metric, k, n in (
        ("conversation_success", 1, 2),
        ("retries", 1, 2),
        ("recovery", 2, 3),
        ("conformance", 2, 2),
    ):
        rule = GateRule(metric, where, min=0.0)  # type: ignore[arg-type]  # a Metric
        verdict = _judge(rule, results)
        assert (metric, verdict.k, verdict.n) == (metric, k, n)
