"""Random values are not differences: generated ids, and UUIDs, addresses and times in messages."""

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.random_values import mask, mask_turn, sent_ids
from harness.normalizers import reference
from harness.normalizers.protocol import Normalizer
from harness.results.outcome import Outcome
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCall,
    ToolCallRejected,
    ToolCallStart,
)
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import (
    DONE,
    HELLO,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
    shipped_subjects,
)

WITHOUT_IDS = (
    call('{"path": "a"}', index=0, name="writing")
    + call('{"path": "b"}', index=1, name="writing")
    + chunk(None, "tool_calls")
    + DONE
)
WITH_ID = call('{"path": "a"}', id="c1", name="writing") + chunk(None, "tool_calls") + DONE
_MANY = {"CUT-INVARIANT", "REPEATABLE"}
_IDS = ["id-missing", "two-without-ids", "calls-without-ids", "parallel-without-ids"]


def _editing(edit: Callable[[Delta], Delta]) -> Normalizer:
    """Return `reference` with every delta edited."""

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        return map(edit, reference.normalize(interaction, reads))

    return replace(reference.normalizer, name="sample", normalize=normalize)


def _with_ids(make: Callable[[], str], body: bytes) -> Normalizer:
    """Return `reference` with an id of `make` for each call without one in `body`."""

    def edit(delta: Delta) -> Delta:
        is_generated = isinstance(delta, ToolCallStart) and delta.id.encode() not in body
        return replace(delta, id=make()) if is_generated else delta

    return _editing(edit)


def _rules(body: bytes, by: Normalizer) -> set[str]:
    subject = LoadedSubject(a_cassette(an_interaction(body)))
    return {finding.rule for finding in judge_subject(subject, by)[0].findings}


@pytest.mark.parametrize(
    "make",
    [
        lambda: str(uuid.uuid4()),
        lambda: f"own_{time.time_ns()}",
        map(str, itertools.count()).__next__,
    ],
    ids=["uuid", "time", "number"],
)
def test_ids_that_the_stream_lacks_are_compared_by_position(make: Callable[[], str]) -> None:
    assert _rules(WITHOUT_IDS, _with_ids(make, WITHOUT_IDS)) == set()
    for subject in shipped_subjects():
        if subject.id.endswith(tuple(_IDS)):
            body = subject.cassette.interactions[0].body
            assert judge_subject(subject, _with_ids(make, body))[0].findings == (), subject.id


def test_an_id_of_the_stream_that_is_replaced_in_some_replays_is_a_difference() -> None:
    replays = itertools.count()

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        new = next(replays)
        for delta in reference.normalize(interaction, reads):
            is_start = isinstance(delta, ToolCallStart)
            yield replace(delta, id=f"own_{new}") if new and is_start else delta

    assert _rules(WITH_ID, replace(reference.normalizer, normalize=normalize)) == _MANY


def test_generated_ids_that_become_equal_are_a_difference() -> None:
    calls = [ToolCall(each, "f", "{}") for each in ("x", "y", "x")]
    both, same = Turn(tool_calls=tuple(calls[:2])), Turn(tool_calls=(calls[0], calls[2]))
    assert mask_turn(both, ()) != mask_turn(same, ())
    assert mask_turn(both, ()) == mask_turn(Turn(tool_calls=tuple(calls[1:])), ())


# Messages and exceptions


def _random_text() -> str:
    clock = time.time()
    return (
        f"request {uuid.uuid4()} ({uuid.uuid4().hex}) of <Client at {id(object()):#x}> failed "
        f"at 2026-11-23 02:22:43.{time.time_ns() % 1000:03}Z, {clock}, {int(clock * 1000)} "
        f"after {clock % 7:.3f} s"
    )


def test_random_values_in_the_message_of_a_failure_are_not_a_difference() -> None:
    body = chunk({"content": "Hel"}) + b'data: {"error": {"message": "no", "code": "429"}}\n\n'

    def edit(delta: Delta) -> Delta:
        is_failure = isinstance(delta, StreamFailure)
        return replace(delta, message=f"no: {_random_text()}") if is_failure else delta

    assert _rules(body, _editing(edit)) == set()


def test_random_values_in_the_reason_of_a_rejected_call_are_not_a_difference() -> None:
    body = call("{", id="c1", name="writing") + chunk(None, "tool_calls") + DONE

    def edit(delta: Delta) -> Delta:
        if not isinstance(delta, ToolCallRejected):
            return delta
        return replace(delta, error=replace(delta.error, error=_random_text()))

    assert _rules(body, _editing(edit)) == set()


def test_random_values_in_exceptions_are_not_a_difference() -> None:
    def normalize(_reads: Iterable[bytes]) -> Iterator[Delta]:
        raise RuntimeError(_random_text())
        yield

    assert _rules(HELLO, a_normalizer(normalize)) == {"NO-CRASH"}


def test_a_number_in_messages_is_a_difference() -> None:
    numbers = itertools.count()

    def normalize(_reads: Iterable[bytes]) -> Iterator[Delta]:
        raise RuntimeError(f"request {next(numbers)} failed")
        yield

    assert _rules(HELLO, a_normalizer(normalize)) == {"NO-CRASH", *_MANY}


@given(st.uuids(), st.integers(0, 2**64), st.datetimes(), st.text("abc 12:.-", max_size=9))
def test_masked_messages_differ_only_in_their_other_text(
    some: uuid.UUID, address: int, when: object, rest: str
) -> None:
    def message(text: str) -> str:
        return mask(f"{text}; {some} at {address:#x} on {when}; {text}", {})

    assert message("a") == mask(f"a; <random> at <random> on {mask(str(when), {})}; a", {})
    assert mask(f"{some} {rest}", {}) == f"<random> {mask(rest, {})}"


def test_generated_ids_in_messages_have_the_number_of_their_call() -> None:
    assert mask("call own_7 and own_71: no", {"own_7": "call 1"}) == "call call 1 and own_71: no"


# Failures that the harness derives


def test_a_failure_that_folding_derives_is_not_reported_as_the_clients_own() -> None:
    def normalize(_reads: Iterable[bytes]) -> Iterator[Delta]:
        yield Finish(FinishReason.TOOL_CALLS, "stop")

    body = chunk(None, "stop") + DONE
    result, _ = judge_subject(
        LoadedSubject(a_cassette(an_interaction(body))), a_normalizer(normalize), cuts="whole"
    )
    assert [each.rule for each in result.findings] == ["FINISH-REASON"]
    assert result.outcome is Outcome.MISMATCH
    assert result.turns[0].failure == "calls_missing"


def test_a_failure_that_the_client_emits_for_a_complete_turn_is_invented() -> None:
    def normalize(_reads: Iterable[bytes]) -> Iterator[Delta]:
        yield StreamFailure("calls_missing")

    body = chunk(None, "stop") + DONE
    assert _rules(body, a_normalizer(normalize)) == {"FAILURE-NOT-INVENTED"}


def test_sent_ids_accepts_half_a_character() -> None:
    assert sent_ids(["a", "\ud83d", "b", ""], [b'{"id": "a"}']) == {"a", ""}
