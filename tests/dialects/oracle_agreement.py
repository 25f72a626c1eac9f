"""What must hold between the oracle and the reader of a dialect, and for any oracle reading."""

from collections.abc import Iterator

import msgspec

from harness.dialects.table import oracle_reading
from harness.judging.expected import expectation_from
from harness.normalizers.respond import respond
from harness.results.expectation import Expectation
from harness.turns.arguments import same_value
from harness.turns.fold import fold
from harness.turns.oracle_reading import OracleReading
from harness.turns.turn import Turn
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
    """Compare what the reading is sure of with the turn that the dialect's reader makes.

    If the bytes admit several readings, the turn must be one of them.
    """
    reading = oracle_reading(one)
    for each in (reading, *reading.alternatives):
        assert_sound(each, one.body)
    turn = fold(respond(one.without_body(), iter([one.body])))
    differences = [list(_differences(it, turn, one)) for it in expectation_from(reading).readings]
    assert [] in differences, differences
    return reading


def _differences(expected: Expectation, turn: Turn, one: Interaction) -> Iterator[str]:
    judged, finish = expected.judged, turn.finish
    if "text" in judged and expected.spaced(turn.text) != expected.spaced(expected.text):
        yield f"text {turn.text!r}, expected {expected.text!r}"
    same_reasoning = expected.spaced(turn.reasoning) == expected.spaced(expected.reasoning)
    if "reasoning" in judged and not same_reasoning:
        yield f"reasoning {turn.reasoning!r}, expected {expected.reasoning!r}"
    same_failure = (expected.failure is None) == (turn.failure is None)
    if "failure" in judged and one.status == 200 and not same_failure:
        yield f"failure {turn.failure}, expected {expected.failure}"
    if "finish" in judged and finish is not None and finish.reason is not expected.finish:
        yield f"finish {finish}, expected {expected.finish}"
    if "finish_raw" in judged and finish is not None and finish.raw != expected.finish_raw:
        yield f"finish {finish}, expected {expected.finish_raw!r}"
    if "calls" in judged and not _same_calls(expected, turn):
        yield f"calls {turn.tool_calls}, expected {expected.calls}"


def _same_calls(expected: Expectation, turn: Turn) -> bool:
    return len(turn.tool_calls) == len(expected.calls) and all(
        call.name == wanted.name
        and same_value(call.arguments, wanted.arguments_text)
        and wanted.id in (None, call.id)
        for call, wanted in zip(turn.tool_calls, expected.calls, strict=True)
    )
