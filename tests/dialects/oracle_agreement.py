"""What must hold between the oracle and the reader of a dialect, and for any oracle reading."""

import msgspec

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expectation_from, expected_failure
from harness.turns.arguments import same_value
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read, Request


def interaction(dialect: str, body: bytes, status: int = 200) -> Interaction:
    return Interaction(Request(), status, (), body, (Read(len(body)),), dialect=dialect)


def assert_sound(reading: OracleReading, body: bytes) -> None:
    """Check what holds of every reading."""
    marks = reading.text_marks
    assert list(marks) == sorted(marks)
    assert all(0 < end <= len(body) and size <= len(reading.text) for end, size in marks)
    # An AWS message that is cut off before its payload has the offset of the missing payload.
    is_messages = body.startswith(b"\0")
    assert all(
        0 <= found.offset <= max(len(body), 1) or is_messages for found in reading.deviations
    )
    assert msgspec.json.encode(reading)  # no half of a surrogate pair, no NaN


def assert_agrees(one: Interaction) -> OracleReading:
    """Compare what the reading is sure of with the turn that the dialect's reader makes."""
    reading = oracle_reading(one)
    assert_sound(reading, one.body)
    turn = fold(DIALECTS[one.dialect].read(iter_frames([one.body]), ()))
    judged = expectation_from(reading).judged
    if "text" in judged:
        assert turn.text == reading.text
    if "reasoning" in judged:
        assert turn.reasoning == reading.reasoning
    if "failure" in judged and one.status == 200:
        assert (expected_failure(reading) is None) == (turn.failure is None)
    if "finish" in judged and turn.finish is not None:
        assert turn.finish.reason is expectation_from(reading).finish
    if "finish_raw" in judged and turn.finish is not None:
        assert turn.finish.raw == reading.finish
    if "calls" in judged:
        _assert_same_calls(reading, turn)
    return reading


def _assert_same_calls(reading: OracleReading, turn: Turn) -> None:
    expected = expectation_from(reading).calls
    assert [call.name for call in turn.tool_calls] == [call.name for call in expected]
    for call, wanted in zip(turn.tool_calls, expected, strict=True):
        assert same_value(call.arguments, wanted.arguments_text)
        assert wanted.id in (None, call.id)
