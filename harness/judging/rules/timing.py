"""Define rules about time and life cycle: stalls, keep-alives, breaks, retries and cancellation.

Findings contain no measured seconds, so that equal clients have equal findings.
"""

from collections.abc import Iterator
from typing import Final

from harness.judging.rule import Violation
from harness.judging.timing.evidence import TimingEvidence, timing_rule
from harness.results.outcome import Outcome

_STALL: Final = "TIME-STALL-ENDS"
_KEEP_ALIVE: Final = "TIME-KEEP-ALIVE"
_CALL: Final = "TIME-CALL-NOT-RUN"
_LATE: Final = (_STALL, _KEEP_ALIVE)


@timing_rule(_STALL, Outcome.HANG, of="time")
def _stall(evidence: TimingEvidence) -> Iterator[Violation]:
    if evidence.is_endless and not evidence.script.has_comments:
        yield _endless(evidence)


@timing_rule(_KEEP_ALIVE, Outcome.MISMATCH, of="time")
def _keep_alive(evidence: TimingEvidence) -> Iterator[Violation]:
    if not evidence.script.has_comments:
        return
    if evidence.is_endless:
        yield _endless(evidence)
    elif not evidence.is_content_right:
        yield _other_turn(evidence)


def _endless(evidence: TimingEvidence) -> Violation:
    bound = evidence.expected.ended_within
    expected = "an end" if bound is None else f"an end within {bound:g} s of silence"
    return Violation("ended", expected, "the client waited longer")


@timing_rule(_CALL, Outcome.SILENT_WRONG, yields_to=_LATE)
def _call(evidence: TimingEvidence) -> Iterator[Violation]:
    calls = evidence.played.turn.tool_calls
    if evidence.expected.executes_nothing and calls:
        given = [{"name": call.name, "arguments": call.arguments} for call in calls]
        yield Violation("calls", "no call that agent code may execute", given)


@timing_rule("TIME-FAILURE-TOLD", Outcome.MISMATCH, yields_to=(*_LATE, _CALL))
def _failure(evidence: TimingEvidence) -> Iterator[Violation]:
    turn = evidence.played.turn
    if evidence.expected.fails and turn.failure is None:
        finish = None if turn.finish is None else turn.finish.raw or turn.finish.reason.value
        yield Violation("failure", "a failure of the turn", f"finish {finish}")


@timing_rule("TIME-BYTES-USED", Outcome.MISMATCH, of="time")
def _bytes(evidence: TimingEvidence) -> Iterator[Violation]:
    script = evidence.script
    other = script.has_comments or script.client.consumer_pause or evidence.request_count > 1
    if not other and len(script.responses) == 1 and not evidence.is_content_right:
        yield _other_turn(evidence)


@timing_rule("TIME-SLOW-CONSUMER", Outcome.MISMATCH)
def _slow(evidence: TimingEvidence) -> Iterator[Violation]:
    if evidence.script.client.consumer_pause and not evidence.is_content_right:
        yield _other_turn(evidence)


@timing_rule("TIME-NO-MIX", Outcome.SILENT_WRONG, yields_to=("TIME-NOT-TWICE",))
def _mix(evidence: TimingEvidence) -> Iterator[Violation]:
    if evidence.request_count > 1 and not evidence.is_content_right:
        turn = evidence.played.turn
        outcome = Outcome.MISMATCH if turn.failure is not None else None
        found = _other_turn(evidence)
        yield Violation(found.path, found.expected, found.actual, outcome=outcome)


def _other_turn(evidence: TimingEvidence) -> Violation:
    content, turn = evidence.content, evidence.played.turn
    expected = "" if content is None else _content(content.text, content.calls)
    if turn.failure is not None:
        return Violation("turn", expected, f"failure {turn.failure.code}")
    return Violation("turn", expected, _content(turn.text, turn.tool_calls))


def _content(text: str, calls: tuple[object, ...]) -> str:
    shown = ", ".join(
        f"{getattr(call, 'name', '')} {getattr(call, 'json_text', getattr(call, 'arguments', ''))}"
        for call in calls
    )
    return f"text {text!r}, calls: {shown or 'none'}"


@timing_rule("TIME-UPSTREAM-CLOSED", Outcome.MISMATCH, of="time", yields_to=_LATE)
def _upstream(evidence: TimingEvidence) -> Iterator[Violation]:
    within, played = evidence.expected.upstream_closed_within, evidence.played
    if within is None or not played.requests:
        return
    last = played.requests[-1].response
    left = [it.at for it in played.marks if it.kind == "left" and it.response == last]
    if not left or left[0] - played.ended > evidence.bound(within):
        yield Violation(
            "upstream", f"closed within {within:g} s of the end of the client", "it stayed open"
        )


@timing_rule("TIME-RETRY-AFTER", Outcome.MISMATCH)
def _retry_after(evidence: TimingEvidence) -> Iterator[Violation]:
    for demanded, _ in evidence.short_waits[:1] if evidence.expected.retry_after_kept else ():
        yield Violation(
            "requests", f"a new request after at least {demanded:g} s", "an earlier request"
        )


@timing_rule("TIME-RETRY-STATUS", Outcome.MISMATCH)
def _retry_status(evidence: TimingEvidence) -> Iterator[Violation]:
    least = (evidence.expected.requests or (0, 0))[0]
    if evidence.request_count < least:
        yield Violation("requests", f"at least {least}", str(evidence.request_count))


@timing_rule("TIME-RETRY-BOUND", Outcome.MISMATCH)
def _retry_bound(evidence: TimingEvidence) -> Iterator[Violation]:
    requests = evidence.expected.requests
    twice = evidence.expected.nothing_twice
    if requests is not None and not twice and evidence.request_count > requests[1]:
        yield Violation("requests", f"at most {requests[1]}", str(evidence.request_count))


@timing_rule("TIME-NOT-TWICE", Outcome.SILENT_WRONG)
def _not_twice(evidence: TimingEvidence) -> Iterator[Violation]:
    if evidence.expected.nothing_twice and evidence.is_repeated:
        expected = "no new request after agent code got content"
        yield Violation("requests", expected, f"{evidence.request_count} requests")
