"""Each mutant violates exactly its rules, and conforming normalizers violate none.

And what catches it is what the kept kill table says.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import pytest
from msgspec.structs import replace

from harness.checks.kill_table import cuts_for, kill_rows_from_results
from harness.judging.judge import is_supported_by_normalizer, judge_subject
from harness.judging.rules import TURN_RULES
from harness.normalizers import reference
from harness.normalizers.discovery import default_normalizer_names, load_normalizer
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.protocol import Normalize
from harness.project import ClientKind
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.scenario_evidence import is_own
from harness.turns.deltas import (
    Delta,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
)
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import (
    IS_DEEP,
    assert_rows_are_stored,
    shipped_subjects,
    subjects_for_mutant,
)

_FINE: Final = len(Outcome)
BROKEN = (*MUTANTS, "naive", "closed-tag-only", "first-brace-regex", "tool-calls-empty")


def _results(name: str) -> Iterator[Result]:
    normalizer = load_normalizer(name)
    # Outside the deep profile with as few cuts as it takes, which is several times as fast.
    cuts = "quick" if IS_DEEP else cuts_for(normalizer)
    for subject in subjects_for_mutant(name, shipped_subjects()):
        yield judge_subject(subject, normalizer, cuts=cuts)[0]


@pytest.mark.parametrize("name", BROKEN)
def test_a_mutant_violates_exactly_the_rules_that_it_declares(name: str) -> None:
    results = list(_results(name))
    found = {finding.rule for result in results for finding in result.findings}
    assert found == load_normalizer(name).breaks
    if name in MUTANTS:
        rows = kill_rows_from_results(MUTANTS[name], results)
        assert_rows_are_stored(name, rows, TURN_RULES)


def test_reference_supports_every_scenario_but_those_of_other_policies() -> None:
    reference = load_normalizer("reference")
    declared = reference.policies
    other = {
        subject.id
        for subject in shipped_subjects()
        if subject.scenario and not subject.scenario.policies.items() <= declared.items()
    }
    unsupported = {
        each.id for each in shipped_subjects() if not is_supported_by_normalizer(each, reference)
    }
    assert unsupported == other


def test_default_normalizers_are_the_conforming_ones() -> None:
    assert default_normalizer_names() == (
        "action-protocol",
        "dashscope-restore",
        "reference",
        "tag-extract",
    )


def test_each_rule_has_its_own_mutant_and_each_mutant_a_rule() -> None:
    assert all(miniature.breaks for miniature in MUTANTS.values())
    alone = (each.breaks for each in MUTANTS.values() if len(each.breaks) == 1)
    assert {rule for breaks in alone for rule in breaks} == set(TURN_RULES)


def test_rules_have_level_title_and_quirks() -> None:
    assert len(TURN_RULES) >= 25
    for rule_id, rule in TURN_RULES.items():
        assert rule.id == rule_id
        # What a gateway does with a request, or adds to an answer, is no quirk of a server.
        assert rule.duty.quirks or rule_id.startswith(("REQUEST-", "ANSWER-"))
        assert rule.duty.title.endswith(".")


def test_must_rules_decide_and_should_rules_do_not() -> None:
    decided = next(_failing("name-lost"))
    assert (decided.outcome, decided.blame) == (Outcome.LOST_CALL, "normalizer")
    assert not tuple(_failing("usage-dropped"))


def test_a_client_that_drops_all_calls_fails_wherever_calls_are_due() -> None:
    dropping = MUTANTS["calls-dropped"]
    failed = 0
    for subject in shipped_subjects():
        result = judge_subject(subject, dropping, cuts="whole")[0]
        lost = [finding for finding in result.findings if finding.rule == "CALLS-KEPT"]
        # Forms that no server is known to send demand nothing.
        demanded = [finding for finding in lost if finding.came != "unsent"]
        assert {finding.level for finding in demanded} <= {"MUST"}, subject.id
        failed += result.outcome.fails
    assert failed >= 300


_REFUSED = ParseError("tool_use", "no")


def _crash(_interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    list(reads)
    raise KeyError("x")
    yield


def _fail(_interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    list(reads)
    yield StreamFailure("bad_stream", "no")


def _rejecting(most: int) -> Normalize:
    """Return `reference` with a rejection in place of the last calls, `most` of them."""

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        deltas = tuple(reference.normalize(interaction, reads))
        ends = [delta.index for delta in deltas if isinstance(delta, ToolCallEnd)]
        for delta in deltas:
            if isinstance(delta, ToolCallEnd) and delta.index in ends[-most:]:
                yield ToolCallRejected(delta.index, _REFUSED)
            else:
                yield delta

    return normalize


@pytest.mark.parametrize("area", ["gemini-live", "realtime", "responses-websocket"])
def test_a_client_that_crashes_over_the_call_of_a_session_fails(area: str) -> None:
    (subject,) = (it for it in shipped_subjects() if it.id == f"{area}/parallel")
    crashing = replace(reference.normalizer, normalize=_crash)
    assert judge_subject(subject, crashing, cuts="whole")[0].outcome is Outcome.CRASH


@pytest.mark.parametrize("kind", ["gateway", "sdk"])
def test_a_client_that_keeps_more_of_a_turn_has_no_worse_outcome(kind: ClientKind) -> None:
    steps = (_crash, _fail, _rejecting(99), _rejecting(1), reference.normalize)
    subjects = [
        each
        for each in shipped_subjects()
        if any(it.calls for it in each.expectations)
        # A client may refuse a form that no server is known to send.
        and not is_own(each.evidence)
        # The API documents that the start of a message is empty, so that a client may refuse it.
        and not any("ANT-WHOLE-IN-START" in it.quirks for it in each.oracle_readings)
    ]
    for subject in subjects if IS_DEEP else subjects[::24]:
        outcomes = [
            judge_subject(
                subject,
                replace(reference.normalizer, normalize=step, kind=kind),
                cuts="whole",
            )[0].outcome
            for step in steps
        ]
        worst_first = [outcome.badness if outcome.fails else _FINE for outcome in outcomes]
        assert worst_first == sorted(worst_first), (subject.id, outcomes)


def _failing(name: str) -> Iterator[Result]:
    judged = (it for it in _results(name) if it.outcome is not Outcome.UNSUPPORTED)
    return (result for result in judged if not result.outcome.conforms)
