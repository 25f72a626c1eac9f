"""The oracles of the dialects on Amazon Bedrock: what is special to them, and their framing."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.oracle.events import split_events
from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expected_failure, usable_arguments
from harness.turns.fold import fold
from harness.turns.oracle_reading import OracleReading
from harness.turns.turn import Turn
from harness.wire import cassette_file
from harness.wire.aws import encode_event, encode_exception, encode_message, wrap_chunk
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read, Request
from tests.dialects.bedrock_streams import (
    START,
    chunks,
    closed,
    counted,
    delta,
    messages,
    opened,
    piece,
    stop,
)
from tests.tables import each_row

ROOT = Path(__file__).parents[2] / "cassettes" / "aws-bedrock"
SHIPPED = sorted(ROOT.glob("*/*.yaml"))
DIALECTS_HERE = ("bedrock-converse", "bedrock-llama", "anthropic", "openai-chat")


def interaction(dialect: str, body: bytes) -> Interaction:
    return Interaction(Request(), 200, (), body, (Read(len(body)),), dialect=dialect)


def assert_agrees(dialect: str, body: bytes) -> None:
    """Compare what the reading is sure of with what the reader says."""
    reading = oracle_reading(interaction(dialect, body))
    turn = fold(DIALECTS[dialect].read(iter_frames([body]), ()))
    if reading.knows("text"):
        assert (reading.text, reading.reasoning) == (turn.text, turn.reasoning)
    if reading.knows("end") and reading.calls is not None:
        _assert_same_end(reading, turn)


def _assert_same_end(reading: OracleReading, turn: Turn) -> None:
    promised = "FINISH-TOOLCALLS-WITHOUT-CALLS" in reading.quirks
    assert (expected_failure(reading) is None) == (turn.failure is None) or promised
    if turn.finish is not None:
        assert reading.finish == turn.finish.raw
    if turn.failure is not None and reading.error is not None:
        assert reading.error[1][:80] in turn.failure.message
    worth = [(call, usable_arguments(call, reading)) for call in reading.calls or ()]
    if all(arguments.certain for _, arguments in worth):
        good = [call for call, arguments in worth if arguments.value is not None and call.name]
        kept = [] if expected_failure(reading) else good
        assert [(one.name, one.arguments) for one in turn.tool_calls] == [
            (one.name, one.arguments) for one in kept
        ]


@each_row(
    ("cassette", "quirk"),
    [
        ("amazon.nova-lite-v1/server-tool", "BED-SERVER-TOOL"),
        ("amazon.nova-lite-v1/malformed-tool-use", "BED-STOP-REASONS"),
        ("amazon.nova-lite-v1/text", "BED-UNKNOWN-EVENT"),
        ("anthropic.claude-haiku-4-5/damaged", "AWS-CHECKSUM"),
        ("anthropic.claude-haiku-4-5/exception-in-call", "BED-EXCEPTION"),
        ("anthropic.claude-haiku-4-5/as-lines", "BED-EVENT-NAMES-AS-KEYS"),
        ("anthropic.claude-haiku-4-5/no-input", "BED-EMPTY-INPUT"),
        ("anthropic.claude-haiku-4-5/interleaved", "BED-MULTI-BLOCKS"),
        ("meta.llama3-70b-instruct-v1/damaged", "AWS-CHECKSUM"),
        ("meta.llama3-70b-instruct-v1/end-after-reason", "AWS-MESSAGE-CUT"),
        ("meta.llama3-70b-instruct-v1/unknown-event", "BED-UNKNOWN-EVENT"),
        ("meta.llama3-70b-instruct-v1/http-403", "BED-EXCEPTION"),
    ],
)
def test_quirks_of_bundled_bodies_are_noted(cassette: str, quirk: str) -> None:
    (one,) = cassette_file.load_cassette(ROOT / f"{cassette}.yaml").interactions
    assert quirk in oracle_reading(one).quirks


@each_row(
    "events",
    [
        [opened("f"), opened("g", "t2"), stop()],
        [opened("f"), closed(), piece("{}"), stop()],
        [opened("f", "t1", None), stop()],
        [opened(None), stop()],
        [opened("f"), piece({"a": 1}), stop()],
        [opened("f"), stop(), stop("end_turn")],
        [opened("f"), stop(), delta({"text": "more"})],
        [opened("f"), stop(None)],
        [opened("f"), stop(), ("throttlingException", {"message": "slow"})],
    ],
)
def test_oracle_abstains_if_the_contract_leaves_the_calls_open(
    events: list[tuple[str, object]],
) -> None:
    body = messages(*events)
    assert oracle_reading(interaction("bedrock-converse", body)).calls is None
    assert_agrees("bedrock-converse", body)


@given(st.sampled_from(DIALECTS_HERE), st.binary(max_size=60))
def test_oracle_never_raises(dialect: str, rest: bytes) -> None:
    start = encode_event(b'{"role":"assistant"}', "messageStart")
    for body in (rest, b"\0" + rest, start + rest, start[:40] + rest):
        assert oracle_reading(interaction(dialect, body)) is not None


BODY = (
    encode_event(b'{"role":"assistant"}', "messageStart")
    + encode_event(wrap_chunk(b'{"generation":"a"}'), "chunk")
    + encode_exception(b"", "throttlingException")
)
headers = st.dictionaries(
    st.sampled_from([":event-type", ":message-type", ":error-message", "x"]),
    st.sampled_from(["chunk", "error", "exception", "messageStart", "\u00e9", ""]),
)


@given(st.lists(st.tuples(headers, st.binary(max_size=9)), max_size=3), st.integers(0, 30))
def test_both_framings_find_the_same_messages(
    said: list[tuple[dict[str, str], bytes]], missing: int
) -> None:
    body = b"".join(encode_message(payload, named) for named, payload in said)
    _assert_same_messages(body[: len(body) - missing] if missing < len(body) else body)


@given(st.integers(0, len(BODY) - 1), st.integers(0, 255), st.integers(0, len(BODY)))
def test_both_framings_find_the_same_damage(at: int, change: int, end: int) -> None:
    damaged = bytearray(BODY)
    damaged[at] ^= change
    _assert_same_messages(bytes(damaged[: max(end, 1)]))


def _assert_same_messages(body: bytes) -> None:
    """Compare kinds, and what messages that are whole say; damage is one error in both."""
    if not body.startswith(b"\0"):
        return
    theirs, ours = list(iter_frames([body])), list(split_events(body))
    errors = [bool(frame.failure) or frame.event == "error" for frame in theirs]
    assert [event.name == "error" for event in ours] == errors
    assert [event.complete for event in ours] == [
        is_error or frame.complete for frame, is_error in zip(theirs, errors, strict=True)
    ]
    for frame, event in zip(theirs, ours, strict=True):
        if event.complete and event.name != "error":
            assert (frame.event, frame.offset) == (event.name, event.offset)
            assert frame.data.decode("utf-8", "replace") == event.data
            assert event.damaged == (event.data.encode() != frame.data)


def test_events_of_nova_in_an_invoke_stream_are_judged() -> None:
    events = [START, opened("f"), piece('{"a": 1}'), closed(), stop(), counted(3, 4)]
    last = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 3}}
    values = [{name: value} for name, value in events]
    body = chunks(*values[:-1], values[-1] | last)
    assert_agrees("bedrock-converse", body)
    reading = oracle_reading(interaction("bedrock-converse", body))
    assert [(it.id, it.name, it.arguments) for it in reading.calls or ()] == [
        ("t1", "f", '{"a": 1}')
    ]
    assert reading.quirks == {"BED-NOVA-INVOKE"}
    glued = chunks({"messageStop": {"stopReason": "end_turn"}, "metadata": {}})
    assert oracle_reading(interaction("bedrock-converse", glued)).calls is None
