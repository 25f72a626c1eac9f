"""Define rules about the sequence of deltas, and about how promptly text is emitted."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import msgspec

from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.rule import Violation
from harness.results.outcome import Outcome
from harness.results.replay import Replay
from harness.turns.deltas import (
    ArgumentsDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)

_AFTER_START = ArgumentsDelta | ToolCallEnd | ToolCallRejected


@turn_rule("CALL-STARTS-FIRST", Outcome.MISMATCH, of="deltas")
def _starts_first(evidence: TurnEvidence) -> Iterator[Violation]:
    started: set[int] = set()
    for emission in evidence.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            started.add(delta.index)
        elif isinstance(delta, _AFTER_START) and delta.index not in started:
            yield Violation("deltas", "a start before it", delta, emission.bytes_read)
            return


@turn_rule("CALL-ENDS-ONCE", Outcome.MISMATCH, of="deltas")
def _ends_once(evidence: TurnEvidence) -> Iterator[Violation]:
    ended: set[int] = set()
    started: set[int] = set()
    for emission in evidence.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            started.add(delta.index)
        elif not isinstance(delta, _AFTER_START):
            continue
        elif delta.index in ended:
            yield Violation("deltas", "nothing after a call's end", delta, emission.bytes_read)
            return
        elif not isinstance(delta, ArgumentsDelta):
            ended.add(delta.index)
    for index in sorted(started - ended):
        yield Violation("deltas", "an end or a rejection for each call", f"none for index {index}")


@turn_rule("CALL-INDEX-NEUTRAL", Outcome.MISMATCH, of="deltas")
def _index_order(evidence: TurnEvidence) -> Iterator[Violation]:
    emissions = evidence.replay.emissions
    starts = [e.delta.index for e in emissions if isinstance(e.delta, ToolCallStart)]
    if starts != list(range(len(starts))):
        yield Violation("deltas", list(range(len(starts))), starts)


def text_differs(evidence: TurnEvidence) -> bool:
    """Return whether the text of the turn differs from the expected text."""
    expected = evidence.expectation
    return expected.spaced(evidence.turn.text) != expected.spaced(expected.text)


class LateText(msgspec.Struct, frozen=True):
    """Describes text that the client emitted later than necessary.

    Fields:
        violation: the violation that a rule reports.
        in_time: the number of characters that the client emitted in time.
    """

    violation: Violation
    in_time: int


def first_late_text(evidence: TurnEvidence, marks: Iterable[tuple[int, int]]) -> LateText | None:
    """Return the first text that came two reads late or more; None if all text came in time.

    Args:
        evidence: the evidence of a replay. If its text is wrong, the result is None.
        marks: pairs (number of bytes, number of characters that these bytes contain), ascending.
    """
    in_step = evidence.normalizer.streams and not evidence.replay.is_read_ahead
    if not in_step or "text" not in evidence.judged or text_differs(evidence):
        return None
    ends = [*evidence.replay.chunking, len(evidence.interaction.body)]
    progress = _text_progress(evidence.replay)
    at = 0
    for offset, characters in marks:
        while at < len(progress) and progress[at][1] < characters:
            at += 1
        allowed = ends[min(bisect_right(ends, offset - 1) + 1, len(ends) - 1)]
        if at < len(progress) and progress[at][0] > allowed:
            in_time = max((count for read, count in progress if read <= allowed), default=0)
            expected = f"{characters} characters of text after {allowed} bytes"
            found = f"after {progress[at][0]} bytes"
            return LateText(Violation("text", expected, found, offset), in_time)
    return None


def _text_progress(replay: Replay) -> list[tuple[int, int]]:
    """Return for each text delta the bytes read and the characters emitted up to it."""
    progress: list[tuple[int, int]] = []
    total = 0
    for emission in replay.emissions:
        if isinstance(emission.delta, TextDelta):
            total += len(emission.delta.text)
            progress.append((emission.bytes_read, total))
    return progress
