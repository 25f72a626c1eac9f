"""Define rules about text and reasoning: complete, emitted once, and without other text."""

from collections.abc import Iterator

from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.rule import Violation
from harness.judging.rules.deltas import text_differs
from harness.judging.rules.markup import is_text_doubled, markers_in_text
from harness.judging.rules.stream_content import as_sent, refusal_as_text
from harness.results.outcome import Outcome

_PROTOCOL_MARKS = ("data:", "[DONE]", '"choices"', '"delta"')
_REPLACEMENT = "\ufffd"


def _has_replacement(evidence: TurnEvidence) -> bool:
    actual, expected = evidence.turn.text, evidence.expectation.text
    return actual.count(_REPLACEMENT) > expected.count(_REPLACEMENT)


def _leaked_marks(evidence: TurnEvidence) -> list[str]:
    actual, expected = evidence.turn.text, evidence.expectation.text
    return [mark for mark in _PROTOCOL_MARKS if actual.count(mark) > expected.count(mark)]


def _has_reasoning(evidence: TurnEvidence) -> bool:
    reasoning = evidence.expectation.reasoning.strip()
    known = "reasoning" in evidence.judged and len(reasoning) > 1
    text, expected = evidence.turn.text, evidence.expectation.text
    return known and reasoning in text and reasoning not in expected


@turn_rule("TEXT-EXACT", Outcome.MISMATCH, field="text")
def _exact(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.invents_failure and evidence.expectation.text.startswith(evidence.turn.text):
        return
    others = (_has_replacement, _leaked_marks, _has_reasoning, is_text_doubled, markers_in_text)
    if text_differs(evidence) and not any(other(evidence) for other in others):
        came = refusal_as_text(evidence)
        yield Violation("text", evidence.expectation.text, evidence.turn.text, came=came)


@turn_rule("TEXT-NO-REPLACEMENT", Outcome.MISMATCH, field="text")
def _no_replacement(evidence: TurnEvidence) -> Iterator[Violation]:
    if text_differs(evidence) and _has_replacement(evidence):
        yield Violation("text", evidence.expectation.text, evidence.turn.text)


@turn_rule("TEXT-NO-PROTOCOL", Outcome.LEAK, field="text")
def _no_protocol(evidence: TurnEvidence) -> Iterator[Violation]:
    marks = _leaked_marks(evidence)
    if marks and text_differs(evidence) and not _has_replacement(evidence):
        yield Violation("text", f"text without {marks}", evidence.turn.text)


@turn_rule("REASONING-NOT-IN-TEXT", Outcome.LEAK, field="text")
def _reasoning_separate(evidence: TurnEvidence) -> Iterator[Violation]:
    if text_differs(evidence) and _has_reasoning(evidence):
        came = as_sent(is_sent=evidence.expectation.reasoning.strip() in evidence.oracle.text)
        yield Violation("text", "text without the reasoning", evidence.turn.text, came=came)


@turn_rule("TEXT-ONCE", Outcome.MISMATCH, field="text")
def _once(evidence: TurnEvidence) -> Iterator[Violation]:
    if text_differs(evidence) and is_text_doubled(evidence):
        yield Violation("text", evidence.expectation.text, evidence.turn.text)


@turn_rule("REASONING-KEPT", Outcome.MISMATCH, field="reasoning")
def _reasoning_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    expected, actual = evidence.expectation, evidence.turn.reasoning
    if expected.spaced(actual) != expected.spaced(expected.reasoning):
        yield Violation("reasoning", expected.reasoning, actual)
