"""A search finds bugs, continues after a finding, and is repeatable with the same seed."""

import os
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Literal

import msgspec
import pytest

from harness import shipped
from harness.errors import UsageError
from harness.fuzzing import search
from harness.fuzzing.found import (
    BugSignature,
    FailureLocation,
    FoundBugs,
    FuzzFinding,
    Parent,
    merge_findings,
)
from harness.fuzzing.mutators.mutator import MutatedInput, Mutation, Realism
from harness.fuzzing.search import (
    PROFILES,
    Budget,
    EnoughError,
    Profile,
    Search,
    find_profile,
    fuzz,
)
from harness.fuzzing.targets import (
    FuzzOptions,
    FuzzTarget,
    FuzzTask,
    fuzz_here,
    fuzz_in_processes,
    fuzz_target,
)
from harness.fuzzing.turns.evaluate import Trial, evaluate, unchanged
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import Seed, by_round, seeds, varied_seeds
from harness.normalizers.discovery import load_normalizer
from harness.results.finding import Finding, Level
from harness.results.outcome import Outcome
from harness.runs.load import load_subject
from harness.runs.plan import Subject
from harness.runs.selection import select_subjects
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

FEW = Profile("few", examples=60, seconds=60, shrinking=20)


def _seeds(name: str, area: str = "finish", *, clean: bool = False) -> tuple[Seed, ...]:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / area])
    return seeds(subjects, load_normalizer(name), clean=clean)


def test_seeds_are_sorted_by_size_and_clean_seeds_have_no_quirk() -> None:
    found, clean = _seeds("reference"), _seeds("reference", clean=True)
    sizes = [len(seed.interaction.body) for seed in found]
    assert sizes == sorted(sizes)
    assert 0 < len(clean) < len(found)


def test_seeds_that_servers_send_have_no_own_turn() -> None:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / "finish"])
    normalizer = load_normalizer("reference")
    left_out = {each.parent.id for each in seeds(subjects, normalizer)}
    left_out -= {each.parent.id for each in seeds(subjects, normalizer, sent=True)}
    own = {
        f"{each.id}#{index}" if len(each.expectations) > 1 else each.id
        for each in map(load_subject, subjects)
        for index in range(len(each.expectations))
        if each.is_own_turn(index)
    }
    assert left_out
    assert left_out <= own


def test_rounds_contain_each_varied_seed_once() -> None:
    kept = varied_seeds(_seeds("reference"))
    rounds = by_round(_seeds("reference"))
    assert sorted(it.parent.id for each in rounds for it in each) == sorted(
        it.parent.id for it in kept
    )
    assert all(len({it.dialect_key for it in each}) == len(each) for each in rounds)


def test_reference_has_no_finding_on_unchanged_seeds() -> None:
    normalizer = load_normalizer("reference")
    for seed in _seeds("reference"):
        assert evaluate(Trial(seed, unchanged(seed)), normalizer).findings == ()


def test_oracle_decides_expected_result_after_changing_step() -> None:
    seed = next(it for it in _seeds("naive") if it.expectation.calls)
    body = seed.interaction.body
    cut = msgspec.structs.replace(seed.interaction, body=body[: len(body) // 2])
    mutated = MutatedInput(cut, (Mutation("cut-short", "in the middle"),), preserving=False)
    done = evaluate(Trial(seed, mutated), load_normalizer("naive"))
    assert done.expectation.failure is not None
    assert not evaluate(Trial(seed, mutated), load_normalizer("reference")).findings


def test_search_continues_after_finding_and_is_repeatable() -> None:
    normalizer = load_normalizer("naive")
    source = TurnSource(normalizer, _seeds("naive"))
    first, second = (fuzz(source, FEW, random=7) for _ in range(2))
    assert first.examples == FEW.examples
    assert len({finding.finding.rule for finding in first.findings}) > 1
    assert [it.slug for it in first.findings] == [it.slug for it in second.findings]
    ranks = [finding.rank for finding in first.findings]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("name", ["name-doubled", "decoded-per-read", "last-call-dropped"])
def test_search_finds_mutants_from_clean_seeds(name: str) -> None:
    normalizer = load_normalizer(name)
    clean = _seeds(name, "mistral", clean=True)

    def is_found(found: FoundBugs[Trial]) -> bool:
        return any(smallest.finding.rule in normalizer.breaks for _, smallest in found)

    budget = Budget(400, 60)
    source = TurnSource(normalizer, clean)
    assert is_found(Search(source, budget, until=is_found).run())


def test_shares_try_different_inputs() -> None:
    normalizer = load_normalizer("reference")
    known = _seeds("reference", "mistral")
    few = msgspec.structs.replace(FEW, examples=len(known) // 2 + 2)
    sources = [TurnSource(normalizer, known, slice(share, None, 2)) for share in range(2)]
    hunts = [fuzz(source, few, share=share, shares=2) for share, source in enumerate(sources)]
    assert [each.examples for each in hunts] == [few.examples] * 2
    assert hunts[0].chunkings != hunts[1].chunkings


def test_search_truncates_seeds_after_each_byte() -> None:
    seed = min(_seeds("reference"), key=lambda it: len(it.interaction.body))
    size = len(seed.interaction.body)
    missing = {(name, str(at)) for name in ("cut-short", "error-glued") for at in range(size)}

    class WatchedSource(TurnSource):
        def judge(self, tried: Trial) -> tuple[Sequence[Finding], int]:
            if len(tried.mutators) == 1 and not tried.cuts:
                missing.discard((tried.mutators[0], str(tried.mutated.steps[0]).split()[3]))
            if not missing:
                raise EnoughError
            return super().judge(tried)

    source = WatchedSource(load_normalizer("reference"), [seed])
    source.steps = source.steps[:1]  # so that the first round is short
    Search(source, Budget(4_000, 3_600)).run()
    assert missing == set()


def test_budget_ends_with_examples_or_time() -> None:
    now = [0.0]
    budget = Budget(2, 10, clock=lambda: now[0])
    budget.count(5)
    assert not budget.spent
    assert (budget.examples, budget.chunkings) == (1, 5)
    budget.count(5)
    assert budget.spent
    late = Budget(2, 10, clock=lambda: now[0])
    now[0] = 10.0
    assert late.spent


def test_find_profile_by_name() -> None:
    assert [find_profile(name).name for name in PROFILES] == ["dev", "ci", "deep"]
    with pytest.raises(UsageError, match="quick"):
        find_profile("quick")


def _finding(rule: str = "CALLS-KEPT", path: str = "turns[0].calls[1]") -> Finding:
    return Finding(rule, "MUST", Outcome.LOST_CALL, path, "", "")


_CRASHED = ("NO-CRASH", Outcome.CRASH)


def _trial(steps: tuple[str, ...] = (), quirks: tuple[str, ...] = ()) -> Trial:
    seed = _seeds("reference")[0]
    seed = msgspec.structs.replace(seed, parent=Parent("a", "a", quirks=quirks, realism="seen"))
    mutations = tuple(Mutation(name, "") for name in steps)
    return Trial(seed, MutatedInput(seed.interaction, mutations, preserving=True))


def _signatures(*trials: Trial, raised: str = "") -> list[tuple[tuple[str, ...], str]]:
    found = FoundBugs[Trial]()
    for number, trial in enumerate(trials):
        finding = _finding(path=f"turns[0].calls[{number}]")
        found.note(trial, [msgspec.structs.replace(finding, raised=raised)], number)
    assert len(found) == len(list(found))
    return [(signature.mutators, signature.family) for signature, _ in found]


def test_bug_with_fewer_steps_replaces_bug_with_more() -> None:
    one, two, both = _trial(("a",)), _trial(("b",)), _trial(("a", "b"))
    assert _signatures(both, one) == _signatures(one, both) == [(("a",), "")]
    assert _signatures(one, two) == [(("a",), ""), (("b",), "")]
    assert _signatures(one, two, _trial()) == [((), "")]


def test_seed_with_a_quirk_explains_only_that_quirk() -> None:
    named, zero = _trial((), ("DELTA-NAME-REPEATED",)), _trial((), ("DELTA-INDEX-ALL-ZERO",))
    assert len(_signatures(named, zero)) == 2
    assert len(_signatures(named, _trial(("index-all-zero",)))) == 2
    assert _signatures(named, _trial(("name-repeated",))) == [((), "DELTA-NAME-REPEATED")]
    assert _signatures(named, zero, _trial()) == [((), "")]


def test_exception_of_one_function_is_one_bug() -> None:
    trials = _trial(("a",)), _trial((), ("SSE-COMMENT",)), _trial(("b",))
    assert _signatures(*trials, raised="KeyError in x:f") == [((), "")]


def test_exception_is_one_bug_under_each_rule_that_it_violates() -> None:
    for cuts, crash in permutations(((), ((3,),)), 2):
        found = FoundBugs[Trial]()
        for number, chunkings in enumerate((cuts, crash)):
            rule, outcome = ("CUT-INVARIANT", Outcome.LOST_CALL) if chunkings else _CRASHED
            finding = Finding(rule, "MUST", outcome, "replay", "", str(number), raised="E in x:f")
            found.note(msgspec.structs.replace(_trial(), cuts=chunkings), [finding], number)
        assert [smallest.finding.rule for _, smallest in found] == ["NO-CRASH"]


def test_exception_is_reported_where_it_violates_a_must_rule() -> None:
    should, must = _trial(), _trial(("a",))
    for tried in ((should, must), (must, should)):
        found = FoundBugs[Trial]()
        for each in tried:
            level: Level = "SHOULD" if each is should else "MUST"
            finding = msgspec.structs.replace(_finding(), level=level, raised="E in x:f")
            found.note(each, [finding], 0)
        assert [(it.finding.level, it.input) for _, it in found] == [("MUST", must)]


def test_exceptions_of_other_functions_and_types_are_other_bugs() -> None:
    found, names = FoundBugs[Trial](), ["E in x:f", "E in x:g", "F in x:f"]
    for name in names:
        found.note(_trial(), [msgspec.structs.replace(_finding(), raised=name)], 0)
    assert [signature.location.path for signature, _ in found] == names
    assert len({signature.slug for signature, _ in found}) == len(names)


def test_bug_shows_its_most_realistic_input() -> None:
    seen = _trial((), ("FINISH-LENGTH-WITH-CALL",))
    seed = msgspec.structs.replace(seen.seed, parent=Parent("written"))
    general = msgspec.structs.replace(seen, seed=seed)
    for order in ((seen, general), (general, seen)):
        found = FoundBugs[Trial]()
        for trial in order:
            found.note(trial, [_finding()], 0)
        ((signature, smallest),) = found
        assert signature.family == ""
        assert smallest.input.realism == "seen"


def test_findings_are_ordered_by_severity_realism_and_size() -> None:
    def made(outcome: Outcome, realism: Realism, size: int, seeds: int = 0) -> FuzzFinding:
        interaction = msgspec.structs.replace(_seeds("reference")[0].interaction, body=b"x" * size)
        finding = msgspec.structs.replace(_finding(), outcome=outcome)
        return FuzzFinding(
            slug=f"{outcome}-{realism}-{size}",
            normalizer="n",
            finding=finding,
            dialect_key="openai-chat",
            parent=Parent("a"),
            interaction=interaction,
            realism=realism,
            every_seed=seeds,
        )

    ordered = [
        made(Outcome.MISMATCH, "seen", 9, seeds=7),
        made(Outcome.SILENT_WRONG, "seen", 2),
        made(Outcome.SILENT_WRONG, "seen", 3),
        made(Outcome.SILENT_WRONG, "possible", 1),
        made(Outcome.CRASH, "seen", 1),
        made(Outcome.SILENT_WRONG, "never seen", 1),
    ]
    mixed = [*ordered[3:], *ordered[:3]]
    assert sorted(mixed, key=lambda each: each.rank) == ordered


def broken(_interaction: Interaction, _reads: Iterator[bytes]) -> Iterator[Delta]:
    """Fail on every input, as an adapter with a wrong import does."""
    raise KeyError("choices")


def test_report_says_what_every_seed_shows() -> None:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / "finish"])
    options = FuzzOptions(subjects, FEW, random=3)
    report = fuzz_target(FuzzTarget("normalizer", f"{__name__}:broken"), options)
    first, *others = report.findings
    assert first.finding.rule == "NO-CRASH"
    assert first.every_seed == report.seeds > 1
    assert first.finding.level == "MUST"
    assert not any(each.finding.raised == first.finding.raised for each in others)
    naive = fuzz_target(FuzzTarget("normalizer", "naive"), options)
    assert not any(each.every_seed for each in naive.findings)


def test_slug_depends_on_signature_alone() -> None:
    badness = Outcome.LOST_CALL.badness
    place = FailureLocation("MUST", badness, "CALLS-KEPT", "turns[*].calls[*]", "openai-chat/glm")
    assert place.outcome is Outcome.LOST_CALL
    assert BugSignature(place, ("a",)).slug == BugSignature(place, ("a",)).slug
    assert BugSignature(place, ("a",)).slug != BugSignature(place).slug
    assert BugSignature(place).slug.startswith("calls-kept-openai-chat-glm-")


def _task(
    kind: Literal["normalizer", "agent"], name: str, subjects: tuple[Subject, ...] = ()
) -> FuzzTask:
    return FuzzTask(FuzzTarget(kind, name), FuzzOptions(subjects, FEW, random=3))


def test_search_stops_when_the_parent_asks_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "stop_requested", lambda: True)
    report = fuzz_here(_task("agent", "plain-loop"))
    assert (report.interrupted, report.examples) == (True, 0)


def test_search_in_processes_joins_their_reports() -> None:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / "finish"])
    task = _task("normalizer", "naive", subjects)
    report = fuzz_in_processes(task, 2)
    assert (report.examples, report.crashed, report.interrupted) == (2 * FEW.examples, 0, False)
    assert report.findings == merge_findings(report.findings)


def test_crashed_process_is_counted_and_the_others_are_kept() -> None:
    killer = f"{__name__}:killer"
    subjects = select_subjects([shipped.bundled_folder("scenarios") / "finish"])
    report = fuzz_in_processes(_task("normalizer", killer, subjects), 2)
    assert report.crashed > 0


def killer(_interaction: Interaction, _reads: Iterator[bytes]) -> Iterator[Delta]:
    """Kill the process, as a segmentation fault would."""
    os._exit(3)


@pytest.mark.parametrize(("mutator", "accused"), [("comment", True), ("frame-dropped", False)])
def test_a_change_that_no_server_makes_accuses_no_client(mutator: str, *, accused: bool) -> None:
    silent = msgspec.structs.replace(
        load_normalizer("reference"), normalize=lambda _interaction, _reads: iter(())
    )
    trial = _trial()
    changed = MutatedInput(trial.mutated.interaction, (Mutation(mutator, ""),), preserving=True)
    found = evaluate(msgspec.structs.replace(trial, mutated=changed), silent).findings
    assert found
    assert any(each.level == "MUST" for each in found) == accused
