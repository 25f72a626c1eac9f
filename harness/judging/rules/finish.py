"""Rules about the end of a turn: why it ended, once, and never a failure dressed as success."""

from collections.abc import Iterator

from harness.judging.results import Outcome
from harness.judging.rule import Rule, TurnEvidence, Violation
from harness.turns.deltas import Finish, StreamFailure, UsageDelta


def _reason(seen: TurnEvidence) -> Iterator[Violation]:
    expected = seen.expectation.finish
    judged = "finish" in seen.expectation.judged and seen.expectation.failure is None
    finish, failure = seen.replay.turn.finish, seen.replay.turn.failure
    if judged and failure is None and (finish is None or finish.reason != expected):
        yield Violation("finish", str(expected), str(finish and finish.reason.value))


def _raw(seen: TurnEvidence) -> Iterator[Violation]:
    finish = seen.replay.turn.finish
    if "finish_raw" not in seen.expectation.judged or finish is None:
        return
    if finish.raw != seen.expectation.finish_raw:
        yield Violation("finish.raw", seen.expectation.finish_raw, finish.raw)


def _once(seen: TurnEvidence) -> Iterator[Violation]:
    ended = False
    for emission in seen.replay.emissions:
        delta = emission.delta
        if ended and not isinstance(delta, UsageDelta):
            yield Violation("finish", "nothing but usage after the end", delta, emission.bytes_read)
            return
        ended = ended or isinstance(delta, Finish | StreamFailure)


def _failure_reported(seen: TurnEvidence) -> Iterator[Violation]:
    expected = seen.expectation.failure
    if "failure" in seen.expectation.judged and expected and seen.replay.turn.failure is None:
        yield Violation("failure", expected, "a turn that did not fail")


def _failure_not_invented(seen: TurnEvidence) -> Iterator[Violation]:
    actual = seen.replay.turn.failure
    if "failure" in seen.expectation.judged and not seen.expectation.failure and actual:
        yield Violation("failure", "a turn that did not fail", f"{actual.code}: {actual.message}")


def _failure_code(seen: TurnEvidence) -> Iterator[Violation]:
    expected, actual = seen.expectation.failure, seen.replay.turn.failure
    judged = "failure" in seen.expectation.judged and expected and actual
    if judged and actual and expected not in ("*", actual.code):
        yield Violation("failure.code", expected, actual.code)


def _failure_message(seen: TurnEvidence) -> Iterator[Violation]:
    says, actual = seen.expectation.failure_says, seen.replay.turn.failure
    if "failure" in seen.expectation.judged and actual and says not in actual.message:
        yield Violation("failure.message", says, actual.message)


def _usage(seen: TurnEvidence) -> Iterator[Violation]:
    judged = "usage" in seen.expectation.judged
    if judged and seen.replay.turn.usage != seen.expectation.usage:
        yield Violation("usage", seen.expectation.usage, seen.replay.turn.usage)


RULES = (
    Rule(
        "FINISH-REASON",
        "MUST",
        "The finish reason is decided from the stream's words and its calls.",
        Outcome.MISMATCH,
        ("FINISH-STOP-WITH-CALLS", "FINISH-TOOLCALLS-THEN-STOP", "FINISH-STOP-TOO-EARLY"),
        _reason,
    ),
    Rule(
        "FINISH-RAW-KEPT",
        "SHOULD",
        "The provider's own word for the finish is kept.",
        Outcome.MISMATCH,
        ("FINISH-UNKNOWN", "FINISH-STOP-WITH-CALLS"),
        _raw,
    ),
    Rule(
        "END-ONCE",
        "MUST",
        "A turn ends once, and only usage may follow.",
        Outcome.MISMATCH,
        ("FINISH-DUPLICATE", "CONTENT-AFTER-FINISH", "SSE-AFTER-DONE"),
        _once,
    ),
    Rule(
        "FAILURE-REPORTED",
        "MUST",
        "An error or an interruption never looks like a finished turn.",
        Outcome.MISMATCH,
        (
            "ERR-IN-200",
            "SSE-EOF-NO-FINISH-TEXT",
            "STREAM-NO-EVENTS",
            "FINISH-TOOLCALLS-WITHOUT-CALLS",
        ),
        _failure_reported,
    ),
    Rule(
        "FAILURE-NOT-INVENTED",
        "MUST",
        "A turn that ended well is not reported as failed.",
        Outcome.MISMATCH,
        ("SSE-DONE-MISSING", "SSE-NO-FINAL-BLANK", "SSE-DATA-NULL"),
        _failure_not_invented,
    ),
    Rule(
        "FAILURE-CODE-KEPT",
        "SHOULD",
        "A failure carries the provider's code, or says which kind of break it was.",
        Outcome.MISMATCH,
        ("ERR-CODE-NOT-INT",),
        _failure_code,
    ),
    Rule(
        "FAILURE-MESSAGE-KEPT",
        "SHOULD",
        "A failure carries the provider's message.",
        Outcome.MISMATCH,
        ("ERR-IN-200", "ERR-CODE-NOT-INT", "REFUSAL-DELTA"),
        _failure_message,
    ),
    Rule(
        "USAGE-KEPT",
        "SHOULD",
        "Usage is taken from whichever chunk carries it.",
        Outcome.MISMATCH,
        ("CHUNK-CHOICES-EMPTY", "CHUNK-CHOICES-NULL", "CHUNK-CHOICES-ABSENT"),
        _usage,
    ),
)
