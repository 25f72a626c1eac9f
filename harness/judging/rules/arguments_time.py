"""Define the rule about when arguments are emitted: while they stream, not at the end of a turn.

How many characters of arguments a part of the body contains is what the oracle reads in that part.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.rule import Violation
from harness.results.outcome import Outcome
from harness.turns.deltas import ArgumentsDelta, ToolCallStart
from harness.turns.oracle_reading import OracleReading
from harness.wire.aws import AWS_FIRST_BYTE
from harness.wire.interaction import Interaction

# The id or the name may still come, or fragments that repeat what came.
_UNSETTLED: Final = frozenset(
    ("DELTA-ID-LATE", "DELTA-ID-MISSING", "DELTA-NAME-FRAGMENTED", "RESP-ARGUMENTS-IN-ADDED")
)
_Marks = tuple[tuple[int, int], ...]

# Fewer characters come at once on most networks.
_FEWEST_CHARACTERS: Final = 16
# The parts of a body that are read; each costs as much as reading it.
_PARTS: Final = 6
_LENGTH_BYTES: Final = 4


class _KeptMarks:
    """Keeps the marks of the last interaction, because each of its replays needs them."""

    interaction: Interaction | None = None
    marks: _Marks = ()


@turn_rule("ARGUMENTS-PROMPT", Outcome.MISMATCH, of="time")
def _prompt_arguments(evidence: TurnEvidence) -> Iterator[Violation]:
    """Check that the client emits arguments before it takes the second read after them."""
    if not evidence.replay.chunking or not _is_comparable(evidence):
        return
    ends = [*evidence.replay.chunking, len(evidence.interaction.body)]
    progress = _progress(evidence)
    at = 0
    marks = _marks(evidence.interaction)
    for offset, characters in marks if len(marks) > 1 else ():  # in one piece, nothing is held back
        if characters < _FEWEST_CHARACTERS:
            continue
        while at < len(progress) and progress[at][1] < characters:
            at += 1
        allowed = ends[min(bisect_right(ends, offset - 1) + 1, len(ends) - 1)]
        if at < len(progress) and progress[at][0] > allowed:
            expected = f"{characters} characters of arguments after {allowed} bytes"
            yield Violation("calls", expected, f"after {progress[at][0]} bytes", offset)
            return


def _is_comparable(evidence: TurnEvidence) -> bool:
    """Return whether the client streams, and emitted the arguments exactly as they came."""
    replay, oracle = evidence.replay, evidence.oracle
    is_late = evidence.normalizer.policies.get("calls") == "at-end"
    if not evidence.normalizer.streams or is_late or replay.is_read_ahead or _may_hold(evidence):
        return False
    if "calls" not in evidence.judged or evidence.turn.failure is not None:
        return False
    return bool(oracle.calls) and _emitted(evidence) == _texts(oracle)


def _emitted(evidence: TurnEvidence) -> list[str]:
    """Return the arguments of each call as the client emitted them, of rejected calls too."""
    found: dict[int, list[str]] = {}
    for emission in evidence.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            found.setdefault(delta.index, [])
        elif isinstance(delta, ArgumentsDelta):
            found.setdefault(delta.index, []).append(delta.fragment)
    return ["".join(fragments) for fragments in found.values()]


def _may_hold(evidence: TurnEvidence) -> bool:
    """Return whether a client must see more of the stream before it knows what a fragment is.

    Actions and objects come as one value, a snapshot may be taken back, an id may still come, and
    the text of a call in text may be an answer.
    """
    row, oracle = DIALECTS[evidence.interaction.dialect], evidence.oracle
    is_value = any(it.kind == "action" or it.from_object for it in oracle.calls or ())
    is_whole = row.arguments != "text" or is_value
    is_open = evidence.is_undocumented or not _UNSETTLED.isdisjoint(oracle.quirks)
    is_open |= any(not it.id for it in oracle.calls or ())
    return is_whole or is_open or row.may_send_snapshots or evidence.expectation.has_text_calls


def _texts(reading: OracleReading) -> list[str] | None:
    return None if reading.calls is None else [call.arguments for call in reading.calls]


def _progress(evidence: TurnEvidence) -> list[tuple[int, int]]:
    """Return for each fragment the bytes read and the characters emitted up to it."""
    progress: list[tuple[int, int]] = []
    total = 0
    for emission in evidence.replay.emissions:
        if isinstance(emission.delta, ArgumentsDelta):
            total += len(emission.delta.fragment)
            progress.append((emission.bytes_read, total))
    return progress


def _marks(interaction: Interaction) -> _Marks:
    """Return pairs of a number of bytes and the characters of arguments in them, ascending."""
    if _KeptMarks.interaction is not interaction:
        _KeptMarks.interaction, _KeptMarks.marks = interaction, tuple(_find_marks(interaction))
    return _KeptMarks.marks


def _find_marks(interaction: Interaction) -> Iterator[tuple[int, int]]:
    whole = oracle_reading(interaction)
    texts = _texts(whole)
    if texts is None or sum(map(len, texts)) < _FEWEST_CHARACTERS:
        return
    ends = _event_ends(interaction.body)
    # The parts are of the events since the first call, because reasoning may be much longer.
    start = bisect_right(ends, min(call.offset for call in whole.calls or ()))
    if start == len(ends):
        return  # all calls are in a last event that does not end
    most = 0
    for place in sorted({start + (len(ends) - start) * part // _PARTS for part in range(_PARTS)}):
        body = interaction.body[: ends[place]]
        part = _texts(oracle_reading(replace(interaction, body=body, reads=())))
        # What is a call only by what follows is not late.
        if part is None or len(part) > len(texts):
            continue
        if not all(text.startswith(start) for text, start in zip(texts, part, strict=False)):
            continue
        # A client may hand over one call after the other, and so hold back one that came between.
        if part[:-1] != texts[: len(part) - 1]:
            return
        count = sum(map(len, part))
        if count > most:
            most = count
            yield ends[place], count


def _event_ends(body: bytes) -> list[int]:
    """Return the offset after each event of a body of server-sent events or AWS messages."""
    if not body.startswith(AWS_FIRST_BYTE):
        mark = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
        found = [at + len(mark) for at in range(len(body)) if body.startswith(mark, at)]
        return found or [len(body)]
    ends, at = [], 0
    while at < len(body):
        at += max(int.from_bytes(body[at : at + _LENGTH_BYTES]), 1)
        ends.append(min(at, len(body)))
    return ends
