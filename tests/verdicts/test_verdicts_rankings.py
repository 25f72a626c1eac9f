"""Rankings and questions: what counts, what never counts, and how fast it is."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.scenario_evidence import EvidenceKind, ScenarioEvidence
from harness.verdicts.causes import group_causes
from harness.verdicts.database import Questions
from harness.verdicts.query_rows import BlameSplit
from harness.verdicts.rankings import Ranked, rankings
from harness.verdicts.statistics import wilson
from tests.runs.runs_samples import a_finding, a_result, a_run, a_turn

FAILED = a_turn(success=False)


def counts(ranked: tuple[Ranked, ...]) -> list[tuple[str, int, int]]:
    return [(line.name, line.k, line.n) for line in ranked]


def test_models_are_ranked_by_lower_bound() -> None:
    many = [
        a_result(f"s{i}", model="many", turns=(a_turn(success=i > 1),), origin="imported")
        for i in range(100)
    ]
    found = rankings(a_run([*many, a_result("one", model="one")])).models
    assert counts(found) == [("many", 98, 100), ("one", 1, 1)]
    assert (found[0].low, found[0].high) == wilson(98, 100)
    assert [(line.rank_low, line.rank_high) for line in found] == [(1, 2), (1, 2)]


def test_ties_are_sorted_by_trials_then_name() -> None:
    rows = [
        a_result("a", model="z", turns=(FAILED,)),
        a_result("b", model="y", turns=(FAILED,)),
        a_result("c", model="x", turns=(FAILED, a_turn(1, success=False))),
    ]
    assert [line.name for line in rankings(a_run(rows)).models] == ["x", "y", "z"]


@pytest.mark.parametrize(("digests", "n"), [(("d1", "d2"), 2), (("d1", "d1"), 1), (("", ""), 1)])
def test_turns_of_two_cassettes_with_one_id_both_count(digests: tuple[str, str], n: int) -> None:
    rows = [
        a_result(scenario, cassette="p/m/x", turns=(a_turn(digest=digest),), origin="imported")
        for scenario, digest in zip(("s", "cassette:p/m/x"), digests, strict=True)
    ]
    assert counts(rankings(a_run(rows)).models) == [("m", n, n)]


def test_best_normalizer_is_chosen_for_each_body() -> None:
    rows = [
        a_result("s", cassette="x", turns=(a_turn(success=False, digest="d1"),)),
        a_result("t", cassette="x", turns=(a_turn(success=False, digest="d2"),)),
        a_result("s", "other", cassette="x", turns=(a_turn(digest="d1"),)),
    ]
    with Questions(a_run(rows, "reference", "other")) as questions:
        (rate,) = questions.turn_success("model")
    assert (rate.k, rate.n, rate.best_k) == (0, 2, 1)


def test_emulated_turns_never_count_for_a_model() -> None:
    found = rankings(a_run([a_result(origin="emulated")]))
    assert found.models == found.prompts == ()
    assert counts(found.normalizers) == [("reference", 1, 1)]


def test_a_model_that_is_not_known_has_no_line_and_its_turns_count_for_the_prompt() -> None:
    rows = [a_result("a", model="unknown"), a_result("b", turns=(FAILED,))]
    found = rankings(a_run(rows))
    assert counts(found.models) == [("m", 0, 1)]
    assert [each.name for each in found.pairs] == ["m x p"]
    assert counts(found.prompts) == [("p", 1, 2)]
    with Questions(a_run(rows)) as questions:
        assert [(each.model, each.k, each.n) for each in questions.measured_turns()] == [
            ("m", 0, 1)
        ]


@pytest.mark.parametrize("scenario", ["a", "z"])
def test_recorded_turn_counts_once(scenario: str) -> None:
    rows = [
        a_result(scenario, cassette="c"),
        a_result("cassette:c", cassette="c", turns=(FAILED,)),
        a_result(scenario, "naive", cassette="c", turns=(FAILED,)),
    ]
    assert counts(rankings(a_run(rows, "naive", "reference")).models) == [("m", 1, 1)]


def test_first_normalizer_leads_without_reference() -> None:
    rows = [a_result(normalizer="b"), a_result(normalizer="a", turns=(FAILED,))]
    assert counts(rankings(a_run(rows, "b", "a")).models) == [("m", 1, 1)]
    assert counts(rankings(a_run(rows, "a", "b")).models) == [("m", 0, 1)]


def test_best_normalizer_must_conform() -> None:
    rows = [
        a_result("one", turns=(FAILED,)),
        a_result("one", "good"),
        a_result("two", turns=(FAILED,)),
        a_result("two", "good", outcome=Outcome.LOST_CALL),
    ]
    (model,) = rankings(a_run(rows, "reference", "good")).models
    assert (model.k, model.best_k, model.n) == (0, 1, 2)


def test_parse_errors_are_counted_by_turn_and_blame() -> None:
    turns = (
        a_turn(0, success=False, parse_errors=2, blame="model"),
        a_turn(1, success=False, parse_errors=1, blame="provider"),
        a_turn(2, success=False, parse_errors=1, blame="normalizer"),
        a_turn(3, success=False, blame="model"),
    )
    rows = [a_result(turns=turns), a_result("two", origin="emulated", turns=turns[:1])]
    found = rankings(a_run(rows))
    assert found.models[0].parse_error == BlameSplit(1, 1, 1)
    assert found.prompts[0].parse_error == BlameSplit(1, 1, 1)
    assert found.normalizers[0].parse_error == BlameSplit(2, 1, 1)


def test_conformance_excludes_unsupported_cells() -> None:
    rows = [
        a_result("a", outcome=Outcome.PARSE_ERROR),
        a_result("b", outcome=Outcome.UNSUPPORTED),
        a_result("c", outcome=Outcome.CRASH),
        a_result("d", "other", outcome=Outcome.UNSUPPORTED),
    ]
    found = rankings(a_run(rows, "reference", "other"))
    assert counts(found.normalizers) == [("reference", 1, 2)]
    assert counts(found.models) == [("m", 2, 2)]


def _turns_of(model: str, n: int, broken: int, asked: str = "") -> list[Result]:
    turns = [
        a_turn(0, success=i >= broken, parse_errors=int(i < broken), blame="model", digest=f"{i}")
        for i in range(n)
    ]
    return [
        a_result(f"{model}/{i}", model=model, turns=(msgspec.structs.replace(turn, asked=asked),))
        for i, turn in enumerate(turns)
    ]


def test_parse_error_rates_are_ranked_by_the_upper_bound() -> None:
    rows = [*_turns_of("good", 200, 2), *_turns_of("bad", 200, 100), *_turns_of("one", 1, 0)]
    found = {each.name: each.parse_error_rate for each in rankings(a_run(rows)).models}
    ranks = {}
    for name, rate in found.items():
        assert rate is not None
        assert (rate.low, rate.high) == pytest.approx(wilson(rate.k, rate.n))
        ranks[name] = (rate.k, rate.n, rate.rank_low, rate.rank_high, rate.distinguishable)
    assert ranks == {
        "good": (2, 200, 1, 2, True),
        "bad": (100, 200, 2, 3, True),
        "one": (0, 1, 1, 3, False),
    }


def test_parse_errors_of_one_request_are_not_independent() -> None:
    rows = [*_turns_of("alone", 8, 4), *_turns_of("repeated", 8, 8, asked="same")]
    alone, repeated = (each.parse_error_rate for each in rankings(a_run(rows)).models)
    assert alone
    assert repeated
    assert (alone.low, alone.high) == wilson(4, 8)
    assert (repeated.low, repeated.high) == wilson(1, 1)


def test_entries_that_are_not_told_apart_say_how_many_turns_would() -> None:
    rows = [*_turns_of("a", 10, 5), *_turns_of("b", 10, 3)]
    for line in rankings(a_run(rows)).models:
        assert not line.distinguishable
        low, high = sorted(
            (wilson(0.5 * line.needed_n, line.needed_n), wilson(0.7 * line.needed_n, line.needed_n))
        )
        assert low.high < high.low
    half = rankings(a_run([*rows, *_turns_of("c", 100, 100)])).models
    assert {each.name: each.distinguishable for each in half} == {"a": True, "b": True, "c": True}
    (alone,) = rankings(a_run(_turns_of("a", 10, 5))).models
    assert alone.distinguishable
    same = rankings(a_run([*_turns_of("a", 10, 5), *_turns_of("b", 10, 5)])).models
    assert [(each.distinguishable, each.needed_n) for each in same] == [(False, 0)] * 2


def test_what_is_unknown_is_not_ranked() -> None:
    found = rankings(a_run([a_result("a", prompt="unknown"), a_result("b", model="unknown")]))
    assert counts(found.models) == [("m", 1, 1)]
    assert counts(found.prompts) == [("p", 1, 1)]
    assert found.pairs == ()


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("pq"), st.booleans())))
def test_models_and_prompts_split_the_same_turns(facts: list[tuple[str, str, bool]]) -> None:
    rows = [
        a_result(f"s{i}", model=model, prompt=prompt, turns=(a_turn(success=success),))
        for i, (model, prompt, success) in enumerate(facts)
    ]
    found = rankings(a_run(rows))
    for ranked in (found.models, found.prompts, found.pairs):
        assert sum(line.n for line in ranked) == len(facts)
        assert sum(line.k for line in ranked) == sum(success for *_, success in facts)
        assert [line.low for line in ranked] == sorted((e.low for e in ranked), reverse=True)
        assert all(line.k <= line.best_k <= line.n for line in ranked)


def test_outcomes_are_counted_worst_first() -> None:
    rows = [a_result("a"), a_result("b"), a_result("c", outcome=Outcome.LEAK)]
    with Questions(a_run(rows)) as questions:
        counted = questions.outcome_counts()
    assert [*counted["reference"].items()] == [("leak", 1), ("pass", 2)]


def test_failures_are_grouped_by_cause() -> None:
    lost = a_finding("calls.kept")
    rows = [
        a_result("a", outcome=Outcome.LOST_CALL, findings=(lost, lost), quirks=("Q1", "Q2")),
        a_result("b", outcome=Outcome.LOST_CALL, findings=(lost,), quirks=("Q1",)),
        a_result("c", outcome=Outcome.CRASH),
        a_result("d", findings=(a_finding("late", Outcome.MISMATCH, level="SHOULD"),)),
        a_result("e", outcome=Outcome.UNSUPPORTED),
    ]
    crash, kept, late = group_causes(a_run(rows).results)
    assert (kept.cause, kept.outcome, kept.cells) == ("calls.kept", Outcome.LOST_CALL, 2)
    assert kept.all_cells == ("a/reference", "b/reference")
    assert kept.quirks == ("Q1", "Q2")
    assert (crash.cause, crash.level, crash.outcome, crash.quirks) == (
        *("", "MUST"),
        Outcome.CRASH,
        (),
    )
    assert (late.cause, late.level, late.all_cells) == ("late", "SHOULD", ("d/reference",))


def test_of_one_outcome_the_cause_with_the_best_evidence_comes_first() -> None:
    def row(scenario: str, rule: str, kind: EvidenceKind | None) -> Result:
        findings = (a_finding(rule),)
        result = a_result(scenario, outcome=Outcome.LOST_CALL, findings=findings)
        evidence = ScenarioEvidence(kind, "p") if kind else None
        return replace(result, evidence=evidence).with_cause()

    rows = [
        row("a", "INVENTED", "own"),
        row("b", "INVENTED", "own"),
        row("c", "SILENT", None),
        row("d", "DOCUMENTED", "documented"),
        row("a1", "SENT", "reported"),
        row("e", "SENT", "recorded"),
    ]
    causes = group_causes(rows)
    assert [each.cause for each in causes] == ["SENT", "DOCUMENTED", "SILENT", "INVENTED"]
    assert causes[0].all_cells == ("e/reference", "a1/reference")
    assert causes[0].evidence == ScenarioEvidence("recorded", "p")
    assert [each.evidence is None for each in causes] == [False, False, True, False]


RAISED = "KeyError in lib:read"


@given(st.lists(st.sampled_from(["NO-CRASH", "CUT-INVARIANT"]), min_size=1, max_size=6))
def test_one_exception_is_one_cause_whatever_rules_and_quirks_its_cells_have(
    rules: list[str],
) -> None:
    rows = [
        a_result(
            f"area/{index}",
            outcome=Outcome.CRASH,
            findings=(a_finding(rule, Outcome.CRASH, raised=RAISED),),
            quirks=(f"Q{index}",),
        )
        for index, rule in enumerate(rules)
    ]
    run = a_run([*rows, a_result("fine")])
    (group,) = group_causes(run.results)
    (ranked,) = rankings(run).normalizers
    assert (group.cause, group.cells) == (RAISED, len(rules))
    assert (ranked.n - ranked.k, ranked.causes) == (len(rules), 1)


def test_rankings_count_the_causes_of_each_client_and_not_those_of_others() -> None:
    inherited = a_finding("NO-CRASH", Outcome.CRASH, raised="KeyError in openai.streaming:read")
    rows = [
        a_result(
            f"area/{number}", name, outcome=Outcome.LOST_CALL, findings=(finding,), quirks=("A",)
        )
        for name, rules in (("one", "A"), ("two", "ABBC"), ("openai-sdk", ""))
        for number, finding in enumerate((*map(a_finding, rules), inherited))
    ]
    found = rankings(a_run([*rows, a_result("fine", "three")], "one", "two", "three", "openai-sdk"))
    assert {each.name: each.causes for each in found.normalizers} == {
        "one": 1,
        "two": 3,
        "three": 0,
        "openai-sdk": 1,
    }


def test_losses_are_grouped_by_quirk() -> None:
    rows = [
        a_result("a", outcome=Outcome.LOST_CALL, quirks=("Q1", "Q2")),
        a_result("b", quirks=("Q1",)),
        a_result("c", quirks=("Q1",), outcome=Outcome.UNSUPPORTED),
    ]
    with Questions(a_run(rows)) as questions:
        losses = questions.losses_by_quirk()
    assert [(loss.quirk, loss.k, loss.n, loss.worst) for loss in losses] == [
        ("Q1", 1, 2, Outcome.LOST_CALL),
        ("Q2", 0, 1, Outcome.LOST_CALL),
    ]


@pytest.mark.parametrize("name", ["'; DROP TABLE results; --", "a\x00b", "\ud83d", "$lead", ""])
def test_names_are_never_sql(name: str) -> None:
    (model,) = rankings(a_run([a_result(model=name)])).models
    assert model.name == name.replace("\ud83d", "\ufffd")


def test_database_has_no_access_to_files() -> None:
    with Questions(a_run([])) as questions, pytest.raises(Exception, match="disabled"):
        questions._rows("SELECT * FROM read_csv('/etc/hostname')", {})


def test_ten_thousand_results_are_ranked() -> None:
    finding = a_finding("calls.kept")
    rows: list[Result] = [
        a_result(f"s{i}", findings=(finding,) * 2, quirks=("Q",), model=f"m{i % 9}")
        for i in range(10_000)
    ]
    found = rankings(a_run(rows))
    assert sum(line.n for line in found.models) == 10_000


def test_normalizers_are_ranked_within_each_text_dialect() -> None:
    rows = [
        a_result(f"{text_dialect}/{place}", name, text_dialect=text_dialect, outcome=outcome)
        for text_dialect, name, outcomes in (
            ("", "two", [Outcome.LEAK] * 3),
            ("b", "one", [Outcome.PASS, Outcome.PARSE_ERROR]),
            ("b", "two", [Outcome.PASS, Outcome.LEAK]),
            ("a", "one", [Outcome.UNSUPPORTED]),
            ("a", "two", [Outcome.PASS] * 40),
            ("a", "three", [Outcome.LEAK] * 40),
            ("c", "one", [Outcome.UNSUPPORTED]),
        )
        for place, outcome in enumerate(outcomes)
    ]
    found = rankings(a_run(rows, "one", "two", "three"))
    assert {name: counts(ranked) for name, ranked in found.text_dialects.items()} == {
        "a": [("two", 40, 40), ("three", 0, 40)],
        "b": [("one", 2, 2), ("two", 1, 2)],
    }
    ranks = [(line.rank_low, line.rank_high) for line in found.text_dialects["a"]]
    assert ranks == [(1, 1), (2, 2)]
    assert [line.n for line in found.normalizers if line.name == "two"] == [45]


def test_answers_to_one_request_are_not_independent_trials() -> None:
    def turns(model: str, asked: str) -> list[Result]:
        said = [
            msgspec.structs.replace(
                a_turn(digest=f"{model}{place}"), asked=asked and f"{asked}{place}"
            )
            for place in range(8)
        ]
        if asked == "same":
            said = [msgspec.structs.replace(turn, asked=asked) for turn in said]
        return [a_result(f"{model}/{n}", model=model, turns=(turn,)) for n, turn in enumerate(said)]

    rows = [*turns("not stored", ""), *turns("varied", "other"), *turns("repeated", "same")]
    models = {each.name: each for each in rankings(a_run(rows)).models}
    assert {name: each.groups for name, each in models.items()} == {
        "not stored": 8,
        "varied": 8,
        "repeated": 1,
    }
    assert models["varied"].effective_n == models["not stored"].effective_n == 8
    assert models["repeated"].effective_n == 1
    assert models["repeated"].low < models["varied"].low == models["not stored"].low
