"""Define rules about replays: they end, are equal under all cuts, and do not delay text."""

from collections.abc import Iterator

from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.random_values import ids_of_turn, mask, mask_turn, sent_ids
from harness.judging.reasons import KEEP_REST
from harness.judging.rule import Violation
from harness.judging.rules.deltas import first_late_text
from harness.judging.rules.markup import marker_prefix_length, may_begin_call
from harness.judging.rules.stream_content import answer_of, has_only_bad_calls
from harness.results.outcome import Outcome


@turn_rule("NO-CRASH", Outcome.CRASH, always=True)
def _no_crash(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.replay.error:
        replay, came = evidence.replay, answer_of(evidence)
        expected = evidence.expectation
        is_loud = expected.failure is not None or expected.may_fail or has_only_bad_calls(evidence)
        if not came and is_loud:
            came = "failure"
        keeps_rest = expected.rejected and expected.failure is None
        text = f"no exception: {KEEP_REST}" if keeps_rest else "no exception"
        yield Violation("replay", text, replay.error, raised=replay.raised, came=came)


@turn_rule("NO-HANG", Outcome.HANG, always=True)
def _no_hang(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.replay.hung:
        yield Violation("replay", "an end within the limits", "none")


@turn_rule("CUT-INVARIANT", Outcome.MISMATCH, of="many", always=True)
def _cut_invariant(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.replay is not evidence.whole and evidence.again is None:
        yield from _first_difference(evidence)


@turn_rule("REPEATABLE", Outcome.MISMATCH, of="many", always=True)
def _repeatable(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.again is not None:
        yield from _first_difference(evidence, "as in the first replay: ")


def _first_difference(evidence: TurnEvidence, label: str = "") -> Iterator[Violation]:
    """Yield a violation for the first field that differs from the replay of the unsplit body."""
    one, other = evidence.whole, evidence.replay
    if (mask(one.error, {}), one.hung) != (mask(other.error, {}), other.hung):
        before, after = (each.error or "no exception" for each in (one, other))
        raised = other.raised or one.raised
        yield Violation("replay", label + before, after, raised=raised)
        return
    if one.turn == other.turn:
        return
    ids = ids_of_turn(one.turn) + ids_of_turn(other.turn)
    known = sent_ids(ids, [evidence.interaction.body]) | evidence.expectation.ids
    masked = [mask_turn(turn, known) for turn in (one.turn, other.turn)]
    for field in one.turn.__struct_fields__:
        before, after = (getattr(turn, field) for turn in masked)
        if before != after:
            before, after = getattr(one.turn, field), getattr(other.turn, field)
            yield Violation(field, f"{label}{before}" if label else before, after)
            return


@turn_rule("TEXT-PROMPT", Outcome.MISMATCH, of="time")
def _prompt_text(evidence: TurnEvidence) -> Iterator[Violation]:
    """Check that the client emits text before it takes the second read after the text.

    If text calls are expected, TEXT-HELD-BACK decides which text may wait. A normalizer that parses
    text calls may always delay the start of a marker, and JSON until it ends.
    """
    if evidence.expectation.has_text_calls:
        return
    marks = evidence.oracle.text_marks
    late = first_late_text(evidence, marks)
    if late is not None and evidence.normalizer.text_dialects:
        text = evidence.oracle.text
        due = ((end, count - marker_prefix_length(text, count)) for end, count in marks)
        late = first_late_text(evidence, [(end, count) for end, count in due if count > 0])
        if late is not None and may_begin_call(text, late.in_time):
            return
    if late is not None:
        yield late.violation
