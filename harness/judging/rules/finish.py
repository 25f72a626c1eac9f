"""Define rules about the end of a turn: one finish reason, and no success after a failure."""

from collections.abc import Iterator

from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.expected import NO_ANSWER
from harness.judging.reasons import KEEP_REST
from harness.judging.rule import Violation
from harness.judging.rules.stream_content import (
    as_sent,
    has_lone_surrogate,
    has_only_bad_calls,
    lacks_finish,
    refusal_as_text,
    without_end,
)
from harness.results.finding import Came
from harness.results.outcome import Outcome
from harness.turns.deltas import CUT_SHORT, Finish, FinishReason, StreamFailure, Usage, UsageDelta
from harness.wire.sse import ends_in_event

_NO_USAGE = Usage()
_WHOLE_IN_START = "ANT-WHOLE-IN-START"
_NO_FAILURE = "a turn that did not fail"


@turn_rule("FINISH-REASON", Outcome.MISMATCH, field="finish")
def _reason(evidence: TurnEvidence) -> Iterator[Violation]:
    expected, finish = evidence.expectation.finish, evidence.turn.finish
    failed = evidence.expectation.failure is not None or evidence.emitted_failure is not None
    if not failed and (finish is None or finish.reason != expected):
        is_sent = finish is not None and finish.raw in (evidence.oracle.finishes or ("",))
        actual = str(finish and finish.reason.value)
        lost = "calls" not in evidence.judged or bool(evidence.pairing.missing)
        is_unknown = expected is FinishReason.OTHER and not lost
        closest = FinishReason.TOOL_CALLS if evidence.turn.tool_calls else FinishReason.STOP
        is_unread = "FINISH-UNKNOWN" in evidence.oracle.quirks and not lost
        is_stop = is_unread and finish is not None and finish.reason is FinishReason.STOP
        is_closed = is_stop or (is_unknown and actual == closest)  # a client with a closed list
        is_closed = is_closed or (is_unread and is_sent and bool(evidence.normalizer.front))
        came: Came = "unknown-value" if is_closed else as_sent(is_sent=is_sent)
        came = came or _of_odd_form(evidence)
        if evidence.kind == "gateway" and evidence.expectation.may_fail and lacks_finish(evidence):
            came = "failure"
        yield Violation("finish", str(expected), actual, came=came)


def _of_odd_form(evidence: TurnEvidence) -> Came:
    """Return "undocumented" if an undocumented format explains the missing finish value, or ""."""
    finish = evidence.turn.finish
    is_open = finish is not None and finish.reason is FinishReason.OTHER and not finish.raw
    return "undocumented" if is_open and evidence.is_undocumented else ""


@turn_rule("FINISH-RAW-KEPT", Outcome.MISMATCH, field="finish_raw")
def _raw(evidence: TurnEvidence) -> Iterator[Violation]:
    expected, finish = evidence.expectation.finish_raw, evidence.turn.finish
    if finish is not None and finish.raw != expected:
        # An answer with several finish values has one in each chunk, of which a caller keeps one.
        is_sent = finish.raw in evidence.oracle.finishes
        came = as_sent(is_sent=is_sent) or _of_odd_form(evidence)
        yield Violation("finish.raw", expected, finish.raw, came=came)


@turn_rule("END-ONCE", Outcome.MISMATCH, of="deltas")
def _once(evidence: TurnEvidence) -> Iterator[Violation]:
    ended = False
    for emission in evidence.replay.emissions:
        delta = emission.delta
        if ended and not isinstance(delta, UsageDelta):
            yield Violation("finish", "nothing but usage after the end", delta, emission.bytes_read)
            return
        ended = ended or isinstance(delta, Finish | StreamFailure)


@turn_rule("FAILURE-REPORTED", Outcome.MISMATCH, field="failure")
def _failure_reported(evidence: TurnEvidence) -> Iterator[Violation]:
    expected = evidence.expectation.failure
    if expected and evidence.turn.failure is None:
        oracle = evidence.oracle
        is_end = oracle.ended and "STREAM-NO-EVENTS" in oracle.quirks  # `[DONE]` and nothing else
        is_sent = is_end or (_is_cut(evidence) and lacks_finish(evidence))
        came = as_sent(is_sent=is_sent or _hands_promise_over(evidence)) or without_end(evidence)
        came = came or refusal_as_text(evidence) or _hands_word_over(evidence)
        yield Violation("failure", expected, _NO_FAILURE, came=came)


def _hands_promise_over(evidence: TurnEvidence) -> bool:
    """Return whether an SDK passes on a finish value that announces calls if there are none."""
    finish = evidence.turn.finish
    promised = "FINISH-TOOLCALLS-WITHOUT-CALLS" in evidence.oracle.quirks
    is_known = finish is None or finish.reason is not FinishReason.OTHER
    is_sent = finish is not None and (finish.raw in evidence.oracle.finishes or not is_known)
    return evidence.kind == "sdk" and promised and is_sent and not evidence.turn.tool_calls


def _hands_word_over(evidence: TurnEvidence) -> Came:
    """Return "unknown-value" if the finish value that says the failure is handed over, or ""."""
    finish = evidence.turn.finish
    if finish is None or finish.reason is not FinishReason.OTHER or not finish.raw:
        return ""
    oracle = evidence.oracle
    is_known = "FINISH-TOOLCALLS-WITHOUT-CALLS" in oracle.quirks
    # A gateway may say the code of the error in this place.
    is_code = bool(evidence.normalizer.front and oracle.error) and finish.raw in (
        oracle.error or ()
    )
    return "unknown-value" if is_code or (finish.raw in oracle.finishes and not is_known) else ""


def _is_cut(evidence: TurnEvidence) -> bool:
    """Return whether the body is an answer that ends early, without an error of the provider."""
    oracle = evidence.oracle
    is_answer = NO_ANSWER.isdisjoint(oracle.quirks)
    has_error = oracle.error is not None and not ends_in_event(evidence.interaction.body)
    # A client may discard a last event without its blank line, with the finish value in it.
    is_open = not oracle.ended or ends_in_event(evidence.interaction.body)
    return is_answer and is_open and not has_error


@turn_rule("FAILURE-NOT-INVENTED", Outcome.MISMATCH, field="failure")
def _failure_not_invented(evidence: TurnEvidence) -> Iterator[Violation]:
    actual = evidence.emitted_failure
    if actual and not evidence.expectation.failure:
        said = f"{actual.code}: {actual.message}"
        came = _cut_before_output(evidence) or has_lone_surrogate(evidence)
        if not came and _WHOLE_IN_START in evidence.oracle.quirks:
            came = "as-documented"
        if not came and evidence.kind == "sdk" and has_only_bad_calls(evidence):
            came = "failure"
        # The turn is lost with all its calls, at least as bad as the loss of one of them.
        has_calls = "calls" in evidence.judged and bool(evidence.expectation.calls)
        outcome = Outcome.LOST_CALL if has_calls else None
        kept = f"{_NO_FAILURE}: {KEEP_REST}" if evidence.expectation.rejected else _NO_FAILURE
        yield Violation("failure", kept, said, came=came, outcome=outcome)


def _cut_before_output(evidence: TurnEvidence) -> Came:
    """Return "failure" if the answer reached its limit before any text or call, else ""."""
    expected, oracle = evidence.expectation, evidence.oracle
    is_empty = not (expected.text or expected.calls or expected.rejected) and oracle.calls == ()
    return "failure" if expected.finish in CUT_SHORT and is_empty else ""


@turn_rule("FAILURE-CODE-KEPT", Outcome.MISMATCH, field="failure")
def _failure_code(evidence: TurnEvidence) -> Iterator[Violation]:
    expected, actual = evidence.expectation.failure, evidence.turn.failure
    if expected and actual and expected not in ("*", actual.code):
        yield Violation("failure.code", expected, actual.code)


@turn_rule("FAILURE-MESSAGE-KEPT", Outcome.MISMATCH, field="failure")
def _failure_message(evidence: TurnEvidence) -> Iterator[Violation]:
    expected, actual = evidence.expectation.failure_says, evidence.turn.failure
    if actual and expected not in actual.message:
        yield Violation("failure.message", expected, actual.message)


@turn_rule("USAGE-KEPT", Outcome.MISMATCH, field="usage")
def _usage(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.invents_failure:
        return
    expected, actual = evidence.expectation.usage, evidence.turn.usage
    # An API may count some tokens apart, and a client may add them.
    admissible = {_counts(each) for each in (expected, *(evidence.oracle.usages or ()))}
    if _counts(actual) not in admissible:
        yield Violation("usage", expected, actual, came=_of_counts(evidence))


def _counts(usage: Usage | None) -> tuple[int, int]:
    """Return the numbers of tokens; a library may have 0 for a missing number."""
    usage = usage or _NO_USAGE
    return usage.input_tokens or 0, usage.output_tokens or 0


def _of_counts(evidence: TurnEvidence) -> Came:
    """Return why the client need not report the counts in the stream; "" if it must."""
    if not any(_counts(evidence.turn.usage)):
        return "no-count"
    return "own-count" if evidence.normalizer.policies.get("usage") == "own" else ""
