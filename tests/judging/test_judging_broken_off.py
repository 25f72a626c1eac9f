"""A body that broke off: clients notice, and an exception that reaches the caller reports it."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.scenario import Scenario
from harness.normalizers import reference
from harness.normalizers.protocol import Normalize, Normalizer
from harness.normalizers.respond import respond
from harness.normalizers.sdk import replay_client
from harness.results.expectation import Expectation, ExpectedRejection
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    StreamFailure,
    TextDelta,
    ToolCallRejected,
    ToolCallStart,
    call_deltas,
)
from harness.wire.interaction import Ended, Interaction
from tests.judging.judging_samples import DONE, a_cassette, an_interaction, call, chunk

pytest.importorskip("httpx2", reason="the extra httpx2 is not installed")

HALF = chunk({"content": "Hi"}) + call('{"path": ', id="c1", name="writing")
GOOD = HALF + call('"a"}') + chunk(None, "tool_calls") + DONE
BROKEN_CALL = HALF + chunk(None, "tool_calls") + DONE
PROBLEM = "the caller gets an exception"


def raising(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Read as `reference` over an HTTP client, whose error reaches the caller."""
    with (
        replay_client("httpx2", interaction, reads) as http,
        http.stream("POST", "http://replay.invalid") as response,
    ):
        yield from respond(interaction, response.iter_raw())


def told_without_calls(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Report the exception, and no call that was received so far."""
    deltas: list[Delta] = []
    try:
        deltas += raising(interaction, reads)
    except Exception as problem:  # noqa: BLE001 - of any HTTP library
        yield TextDelta("Hi")
        yield StreamFailure("interrupted", str(problem))
    else:
        yield from deltas


def judged(by: Normalize, body: bytes, ended: Ended, expected: Expectation | None = None) -> Result:
    cassette = a_cassette(replace(an_interaction(body), ended=ended))
    scenario = Scenario("s", "t", cassette.id, (expected,)) if expected else None
    subject = LoadedSubject(cassette, scenario)
    # Promptness is not the subject here.
    return judge_subject(subject, Normalizer("sample", by, streams=False), cuts="quick")[0]


BREAKS = st.sampled_from(("reset", "truncated"))


@given(st.integers(0, len(GOOD)), BREAKS)
@example(len(GOOD), "reset")
def test_a_client_that_raises_at_the_break_conforms(size: int, ended: Ended) -> None:
    result = judged(raising, GOOD[:size], ended)
    assert (result.outcome.conforms, result.findings) == (True, ())
    assert {turn.blame for turn in result.turns} <= {"", "provider"}


@given(st.integers(0, len(GOOD)), BREAKS)
def test_a_normalizer_of_the_reads_alone_sees_a_plain_end(size: int, ended: Ended) -> None:
    result = judged(reference.normalize, GOOD[:size], ended)
    assert (result.outcome.conforms, result.findings) == (True, ())


@pytest.mark.parametrize("ended", ["reset", "truncated"])
@pytest.mark.parametrize("body", [HALF, GOOD.removesuffix(DONE)])
def test_a_reported_exception_needs_no_partial_call(body: bytes, ended: Ended) -> None:
    result = judged(told_without_calls, body, ended)
    assert (result.outcome, result.findings) == (Outcome.PASS, ())
    assert [(turn.failure, turn.blame) for turn in result.turns] == [("interrupted", "provider")]


def test_how_the_body_ended_reaches_the_normalizer() -> None:
    interaction = replace(an_interaction(GOOD), ended="truncated")
    assert (interaction.without_body().ended, interaction.broken) == ("truncated", True)
    assert not replace(interaction, ended="aborted").broken


def says(*deltas: Delta, early: bool = False) -> Normalize:
    """Return a client that yields `deltas` and raises, at once or after the last read."""

    def normalize(_: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        if not early:
            list(reads)
        yield from deltas
        raise KeyError(PROBLEM)

    return normalize


STARTED = (TextDelta("Hi"), ToolCallStart(0, "c1", "writing"), ArgumentsDelta(0, '{"path": '))


def test_an_open_call_is_rejected_by_the_exception() -> None:
    result = judged(says(*STARTED), HALF, "reset")
    assert (result.outcome, result.findings) == (Outcome.PARSE_ERROR, ())


@pytest.mark.parametrize(
    ("ended", "early"), [("complete", False), ("aborted", False), ("reset", True)]
)
def test_any_other_exception_is_a_crash(ended: Ended, early: bool) -> None:  # noqa: FBT001 - drawn
    result = judged(says(*STARTED, early=early), HALF, ended)
    assert (result.outcome, result.findings[0].rule) == (Outcome.CRASH, "NO-CRASH")


def test_something_that_is_no_delta_is_a_crash() -> None:
    result = judged(says(TextDelta(None)), HALF, "reset")  # type: ignore[arg-type]  # that is the fault
    assert result.outcome is Outcome.CRASH


def test_a_call_that_was_handed_over_before_the_exception_was_executed() -> None:
    handed = call_deltas(0, "c1", "writing", "{}")
    result = judged(says(TextDelta("Hi"), *handed), HALF, "truncated")
    assert result.findings[0].rule == "TRUNCATED-CALL-NOT-RUN"
    done = says(TextDelta("Hi"), *call_deltas(0, "c1", "writing", '{"path": "a"}'), CALLED)
    assert judged(done, GOOD, "reset").outcome is Outcome.PASS


def test_many_calls_that_were_handed_over_are_judged_as_few_are() -> None:
    many = 70
    sent = (call(f'{{"n": {n}}}', index=n, id=f"c{n}", name="writing") for n in range(many))
    body = b"".join(sent)  # and no end
    handed = [call_deltas(n, f"c{n}", "writing", f'{{"n":{n}.0}}') for n in range(many)]
    invented = call_deltas(many, "other", "writing", '{"n":-1}')

    def client(_: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        for each in (*handed, invented):
            yield from each

    sdk = Normalizer("client", client, kind="sdk")
    result = judge_subject(LoadedSubject(a_cassette(an_interaction(body))), sdk, cuts="whole")[0]
    found = [it for it in result.findings if it.rule == "TRUNCATED-CALL-NOT-RUN"]
    assert [it.path for it in found if it.level == "MUST"] == [f"turns[0].calls[{many}]"]
    assert len(found) == many + 1


# Rejected, or the turn failed

CALLED = Finish(FinishReason.TOOL_CALLS, "tool_calls")
EITHER = Expectation(
    "scenario",
    text="Hi",
    rejected=(ExpectedRejection("writing", '{"path"'),),
    finish=FinishReason.TOOL_CALLS,
    finish_raw="tool_calls",
    may_fail=True,
)


def fixed(*deltas: Delta) -> Normalize:
    return lambda _interaction, _reads: iter(deltas)


def _rejected(name: str) -> tuple[Delta, ...]:
    error = ParseError("tool_use", "not JSON", '{"path"')
    return ToolCallStart(0, "c1", name), ToolCallRejected(0, error)


@pytest.mark.parametrize(
    ("client", "rule"),
    [
        (reference.normalize, ""),
        (fixed(StreamFailure("unreadable", "no JSON")), ""),
        (
            fixed(*call_deltas(0, "c1", "writing", "{}"), StreamFailure("x")),
            "TRUNCATED-CALL-NOT-RUN",
        ),
        (
            fixed(TextDelta("Hi"), *call_deltas(0, "c1", "writing", "{}"), CALLED),
            "BROKEN-CALL-NOT-RUN",
        ),
        (fixed(TextDelta("Hi"), CALLED), "PARSE-ERROR-REPORTED"),
        (fixed(*_rejected("writing"), StreamFailure("x")), ""),
        (fixed(*_rejected("reading"), StreamFailure("x")), "PARSE-ERROR-NOT-INVENTED"),
    ],
)
def test_a_turn_that_may_fail_gives_its_result_or_fails(client: Normalize, rule: str) -> None:
    result = judged(client, BROKEN_CALL, "complete", EITHER)
    assert [each.rule for each in result.findings if each.level == "MUST"][:1] == [rule] * bool(
        rule
    )


def test_a_turn_that_may_not_fail_is_judged_as_before() -> None:
    failing = fixed(StreamFailure("unreadable", "no JSON"))
    rules = {each.rule for each in judged(failing, BROKEN_CALL, "complete").findings}
    assert "FAILURE-NOT-INVENTED" in rules
