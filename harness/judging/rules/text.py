"""Rules about text and reasoning: all of it, once, and nothing else."""

from collections.abc import Iterator

from harness.judging.results import Outcome
from harness.judging.rule import Rule, TurnEvidence, Violation
from harness.judging.rules.markup import is_text_doubled, markers_in_text

_PROTOCOL_MARKS = ("data:", "[DONE]", '"choices"', '"delta"')
_REPLACEMENT = "\ufffd"


def _differs(seen: TurnEvidence) -> bool:
    expected = seen.expectation
    judged = "text" in expected.judged
    return judged and expected.spaced(seen.replay.turn.text) != expected.spaced(expected.text)


def _replaced(seen: TurnEvidence) -> bool:
    actual, expected = seen.replay.turn.text, seen.expectation.text
    return actual.count(_REPLACEMENT) > expected.count(_REPLACEMENT)


def _leaked(seen: TurnEvidence) -> list[str]:
    actual, expected = seen.replay.turn.text, seen.expectation.text
    return [mark for mark in _PROTOCOL_MARKS if actual.count(mark) > expected.count(mark)]


def _reasoning_leaked(seen: TurnEvidence) -> bool:
    reasoning = seen.expectation.reasoning.strip()
    known = "reasoning" in seen.expectation.judged and len(reasoning) > 1
    text, expected = seen.replay.turn.text, seen.expectation.text
    return known and reasoning in text and reasoning not in expected


def _text_exact(seen: TurnEvidence) -> Iterator[Violation]:
    if not _differs(seen):
        return
    special = _replaced(seen) or _leaked(seen) or _reasoning_leaked(seen) or is_text_doubled(seen)
    if not special and not markers_in_text(seen):
        yield Violation("text", seen.expectation.text, seen.replay.turn.text)


def _no_replacement(seen: TurnEvidence) -> Iterator[Violation]:
    if _differs(seen) and _replaced(seen):
        yield Violation("text", seen.expectation.text, seen.replay.turn.text)


def _no_leak(seen: TurnEvidence) -> Iterator[Violation]:
    if _differs(seen) and _leaked(seen) and not _replaced(seen):
        yield Violation("text", f"text without {_leaked(seen)}", seen.replay.turn.text)


def _reasoning_apart(seen: TurnEvidence) -> Iterator[Violation]:
    if _differs(seen) and _reasoning_leaked(seen):
        yield Violation("text", "text without the reasoning", seen.replay.turn.text)


def _once(seen: TurnEvidence) -> Iterator[Violation]:
    if _differs(seen) and is_text_doubled(seen):
        yield Violation("text", seen.expectation.text, seen.replay.turn.text)


def _reasoning_kept(seen: TurnEvidence) -> Iterator[Violation]:
    expected, actual = seen.expectation, seen.replay.turn.reasoning
    judged = "reasoning" in expected.judged
    if judged and expected.spaced(actual) != expected.spaced(expected.reasoning):
        yield Violation("reasoning", expected.reasoning, actual)


RULES = (
    Rule(
        "TEXT-EXACT",
        "MUST",
        "The text is all that the stream says, and only that.",
        Outcome.MISMATCH,
        (
            "CONTENT-AND-CALL-SAME-DELTA",
            "TEXT-AFTER-CALL",
            "CONTENT-AFTER-FINISH",
            "SSE-READ-SPLIT",
        ),
        _text_exact,
    ),
    Rule(
        "TEXT-NO-REPLACEMENT",
        "MUST",
        "No U+FFFD comes out that the bytes do not hold.",
        Outcome.MISMATCH,
        ("SSE-UTF8-SPLIT",),
        _no_replacement,
    ),
    Rule(
        "TEXT-NO-PROTOCOL",
        "MUST",
        "No piece of the protocol shows in the text.",
        Outcome.LEAK,
        ("SSE-COMMENT-AS-DATA", "ERR-UNFRAMED"),
        _no_leak,
    ),
    Rule(
        "REASONING-NOT-IN-TEXT",
        "MUST",
        "Reasoning does not show in the visible text.",
        Outcome.LEAK,
        ("REASONING-FIELD-NAMES",),
        _reasoning_apart,
    ),
    Rule(
        "TEXT-ONCE",
        "MUST",
        "A message that repeats what the deltas said is not said twice.",
        Outcome.MISMATCH,
        ("MESSAGE-NOT-DELTA",),
        _once,
    ),
    Rule(
        "REASONING-KEPT",
        "SHOULD",
        "Reasoning is handed on, since some providers want it back.",
        Outcome.MISMATCH,
        ("REASONING-FIELD-NAMES",),
        _reasoning_kept,
    ),
)
