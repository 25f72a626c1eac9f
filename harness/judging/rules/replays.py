"""Rules about replays: that they end, agree with each other and do not hold text back."""

from collections.abc import Iterator

from harness.judging.results import Outcome, Replay
from harness.judging.rule import Rule, TurnEvidence, Violation
from harness.judging.rules.deltas import first_late_text
from harness.judging.rules.markup import marker_prefix_length, may_begin_call


def _no_crash(seen: TurnEvidence) -> Iterator[Violation]:
    if seen.replay.error:
        yield Violation("replay", "no exception", seen.replay.error)


def _no_hang(seen: TurnEvidence) -> Iterator[Violation]:
    if seen.replay.hung:
        yield Violation("replay", "an end within the limits", "none")


def _cut_invariant(seen: TurnEvidence) -> Iterator[Violation]:
    if seen.replay is seen.whole or seen.again is not None:
        return
    difference = _difference(seen.whole, seen.replay)
    if difference:
        field, expected, actual = difference
        yield Violation(field, expected, actual)


def _repeatable(seen: TurnEvidence) -> Iterator[Violation]:
    if seen.again is None:
        return
    difference = _difference(seen.whole, seen.again)
    if difference:
        field, expected, actual = difference
        yield Violation(field, f"as in the first replay: {expected}", actual)


def _difference(one: Replay, other: Replay) -> tuple[str, object, object] | None:
    """Return the first field of the turn in which two replays differ."""
    if (one.error, one.hung) != (other.error, other.hung):
        return "replay", one.error or "no exception", other.error or "no exception"
    for field in one.turn.__struct_fields__:
        expected, actual = getattr(one.turn, field), getattr(other.turn, field)
        if expected != actual:
            return field, expected, actual
    return None


def _prompt_text(seen: TurnEvidence) -> Iterator[Violation]:
    """Text must be out before the read after next is pulled.

    Where calls are spelled in the text, TEXT-HELD-BACK says what may wait. Who looks for such
    calls may wait everywhere with the beginning of a marker, and with JSON that is open.
    """
    if seen.expectation.loose_space:
        return
    marks = seen.strict.text_marks
    late = first_late_text(seen, marks)
    if late is not None and seen.normalizer.text_dialects:
        text = seen.strict.text
        due = ((end, count - marker_prefix_length(text, count)) for end, count in marks)
        late = first_late_text(seen, [(end, count) for end, count in due if count > 0])
        if late is not None and may_begin_call(text, late.said):
            return
    if late is not None:
        expected = f"{late.wanted} characters of text after {late.allowed} bytes"
        yield Violation("text", expected, f"after {late.at} bytes", late.offset)


RULES = (
    Rule(
        "NO-CRASH",
        "MUST",
        "Nothing that a stream holds raises an exception.",
        Outcome.CRASH,
        ("CHUNK-CHOICES-EMPTY", "CHUNK-CHOICES-NULL", "DELTA-NULL", "TOOLCALLS-NULL", "ARGS-NULL"),
        _no_crash,
    ),
    Rule(
        "NO-HANG",
        "MUST",
        "A replay ends in time, with a bounded number of deltas.",
        Outcome.HANG,
        ("ARGS-REPARSE-COST",),
        _no_hang,
    ),
    Rule(
        "CUT-INVARIANT",
        "MUST",
        "The turn is the same wherever the network cuts the bytes.",
        Outcome.MISMATCH,
        ("SSE-READ-SPLIT", "SSE-UTF8-SPLIT", "SSE-CR-ONLY", "SSE-CRLF"),
        _cut_invariant,
    ),
    Rule(
        "REPEATABLE",
        "MUST",
        "The same bytes give the same turn again: no state crosses from run to run.",
        Outcome.MISMATCH,
        ("DELTA-ID-MISSING",),
        _repeatable,
    ),
    Rule(
        "TEXT-PROMPT",
        "SHOULD",
        "Text is passed on while it streams, not held back to the end.",
        Outcome.MISMATCH,
        ("SSE-CRLF", "ARGS-REPARSE-COST"),
        _prompt_text,
    ),
)
