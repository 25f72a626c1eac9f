"""Rules about the deltas as a sequence, and how promptly text is emitted."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import msgspec

from harness.judging.results import Outcome, Replay
from harness.judging.rule import Rule, TurnEvidence, Violation
from harness.turns.deltas import (
    ArgumentsDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)


def _start_first(seen: TurnEvidence) -> Iterator[Violation]:
    started: set[int] = set()
    for emission in seen.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            started.add(delta.index)
        elif not isinstance(delta, ArgumentsDelta | ToolCallEnd | ToolCallRejected):
            continue
        elif delta.index not in started:
            yield Violation("deltas", "a start before it", delta, emission.bytes_read)
            return


def _one_end(seen: TurnEvidence) -> Iterator[Violation]:
    ended: set[int] = set()
    started: set[int] = set()
    for emission in seen.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            started.add(delta.index)
        elif not isinstance(delta, ArgumentsDelta | ToolCallEnd | ToolCallRejected):
            continue
        elif delta.index in ended:
            yield Violation("deltas", "nothing after a call's end", delta, emission.bytes_read)
            return
        elif not isinstance(delta, ArgumentsDelta):
            ended.add(delta.index)
    for index in sorted(started - ended):
        yield Violation("deltas", "an end or a rejection for each call", f"none for index {index}")


def _index_order(seen: TurnEvidence) -> Iterator[Violation]:
    starts = [e.delta.index for e in seen.replay.emissions if isinstance(e.delta, ToolCallStart)]
    if starts != list(range(len(starts))):
        yield Violation("deltas", list(range(len(starts))), starts)


RULES = (
    Rule(
        "CALL-STARTS-FIRST",
        "MUST",
        "A call's start comes before its arguments and its end.",
        Outcome.MISMATCH,
        ("DELTA-FIRST-HAS-ARGS", "DELTA-NAME-FRAGMENTED"),
        _start_first,
    ),
    Rule(
        "CALL-ENDS-ONCE",
        "MUST",
        "Each call ends or is rejected once, and nothing of it follows.",
        Outcome.MISMATCH,
        ("ARGS-EARLY-PARSEABLE", "ARGS-TRAILING-EMPTY", "FINISH-DUPLICATE"),
        _one_end,
    ),
    Rule(
        "CALL-INDEX-NEUTRAL",
        "MUST",
        "Calls are numbered from 0 in order of appearance, whatever the provider's index was.",
        Outcome.MISMATCH,
        ("DELTA-INDEX-SPARSE", "DELTA-INDEX-ALL-ZERO"),
        _index_order,
    ),
)


class LateText(msgspec.Struct, frozen=True):
    """Text that came later than it had to.

    Fields:
        offset: bytes after which the stream held it.
        wanted: characters that had to be out.
        allowed: bytes after which they had to be out.
        at: bytes that had been read when they were.
        said: characters that were out in time.
    """

    offset: int
    wanted: int
    allowed: int
    at: int
    said: int


def first_late_text(seen: TurnEvidence, marks: Iterable[tuple[int, int]]) -> LateText | None:
    """Return the first text that was not out before the read after next was pulled.

    Args:
        seen: a replay; only one that gave the right text, promptly or not, can be late.
        marks: (bytes, characters of text that must be out once these were read), ascending.
    """
    expected = seen.expectation
    if not seen.normalizer.streams or "text" not in expected.judged:
        return None
    if expected.spaced(seen.replay.turn.text) != expected.spaced(expected.text):
        return None
    ends = [*seen.replay.chunking, len(seen.interaction.body)]
    said = _text_progress(seen.replay)
    at = 0
    for offset, characters in marks:
        while at < len(said) and said[at][1] < characters:
            at += 1
        allowed = ends[min(bisect_right(ends, offset - 1) + 1, len(ends) - 1)]
        if at < len(said) and said[at][0] > allowed:
            in_time = max((count for read, count in said if read <= allowed), default=0)
            return LateText(offset, characters, allowed, said[at][0], in_time)
    return None


def _text_progress(replay: Replay) -> list[tuple[int, int]]:
    """Return (bytes read, characters of text so far) for each text delta."""
    said: list[tuple[int, int]] = []
    total = 0
    for emission in replay.emissions:
        if isinstance(emission.delta, TextDelta):
            total += len(emission.delta.text)
            said.append((emission.bytes_read, total))
    return said
