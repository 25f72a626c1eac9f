"""Rules about replays: that they end, agree with each other and do not hold text back."""

from bisect import bisect_right
from collections.abc import Iterator

from harness.judging.results import Outcome, Replay
from harness.judging.rules.rule import Broken, Evidence, Rule
from harness.turns.deltas import TextDelta


def _no_crash(seen: Evidence) -> Iterator[Broken]:
    if seen.replay.error:
        yield Broken("replay", "no exception", seen.replay.error)


def _no_hang(seen: Evidence) -> Iterator[Broken]:
    if seen.replay.hung:
        yield Broken("replay", "an end within the limits", "none")


def _cut_invariant(seen: Evidence) -> Iterator[Broken]:
    if seen.replay is seen.whole or seen.again is not None:
        return
    difference = _difference(seen.whole, seen.replay)
    if difference:
        field, expected, actual = difference
        yield Broken(field, expected, actual)


def _repeatable(seen: Evidence) -> Iterator[Broken]:
    if seen.again is None:
        return
    difference = _difference(seen.whole, seen.again)
    if difference:
        field, expected, actual = difference
        yield Broken(field, f"as in the first replay: {expected}", actual)


def _difference(one: Replay, other: Replay) -> tuple[str, object, object] | None:
    """Return the first field of the turn in which two replays differ."""
    if (one.error, one.hung) != (other.error, other.hung):
        return "replay", one.error or "no exception", other.error or "no exception"
    for field in one.turn.__struct_fields__:
        expected, actual = getattr(one.turn, field), getattr(other.turn, field)
        if expected != actual:
            return field, expected, actual
    return None


def _prompt_text(seen: Evidence) -> Iterator[Broken]:
    """Text must be out before the read after next is pulled."""
    if not seen.normalizer.streams or "text" not in seen.expectation.judged:
        return
    if seen.replay.turn.text != seen.expectation.text:
        return
    ends = [*seen.replay.chunking, len(seen.interaction.body)]
    said = _said(seen.replay)
    at = 0
    for end_of_event, characters in seen.strict.text_marks:
        while at < len(said) and said[at][1] < characters:
            at += 1
        allowed = ends[min(bisect_right(ends, end_of_event - 1) + 1, len(ends) - 1)]
        if at < len(said) and said[at][0] > allowed:
            expected = f"{characters} characters of text after {allowed} bytes"
            yield Broken("text", expected, f"after {said[at][0]} bytes", end_of_event)
            return


def _said(replay: Replay) -> list[tuple[int, int]]:
    """Return (bytes read, characters of text so far) for each text delta."""
    said: list[tuple[int, int]] = []
    total = 0
    for emission in replay.emissions:
        if isinstance(emission.delta, TextDelta):
            total += len(emission.delta.text)
            said.append((emission.bytes_read, total))
    return said


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
