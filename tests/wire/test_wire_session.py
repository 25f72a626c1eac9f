"""Sessions in cassette files: every frame comes back, and a damaged file is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import parse_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.interaction import Request
from harness.wire.session import Session, SessionFrame, close_data
from harness.wire.session_file import format_numbers
from tests.tables import each_row

_FRAMES = st.builds(
    SessionFrame,
    side=st.sampled_from(["client", "server"]),
    data=st.binary(max_size=30) | st.text(max_size=30).map(str.encode),
    at_ms=st.integers(0, 10_000),
    opcode=st.sampled_from(["text", "binary", "ping", "pong", "close"]),
)


def _cassette(session: Session) -> Cassette:
    made = Cassette("s", session.interactions(), Origin("recorded"), session=session)
    return made.with_each(dialect="openai-responses")


@given(frames=st.lists(_FRAMES, max_size=6), data=st.data())
def test_a_session_file_gives_the_same_session(
    frames: list[SessionFrame], data: st.DataObject
) -> None:
    messages = [number for number, frame in enumerate(frames) if frame.is_message]
    turn = st.lists(st.sampled_from(messages or [0]), unique=True, min_size=1).map(sorted)
    turns = tuple(map(tuple, data.draw(st.lists(turn, max_size=2) if messages else st.just([]))))
    headers = (("openai-model", "m"),)
    session = Session(Request("GET", "wss://a.example/v1"), tuple(frames), turns, headers)
    cassette = _cassette(session)
    read = parse_cassette(format_cassette(cassette).encode(), "s", where="s.yaml")
    assert read.session == session
    assert [each.body for each in read.interactions] == [
        each.body for each in cassette.interactions
    ]


def _text() -> str:
    frames = (
        SessionFrame("client", b'{"type": "response.create"}'),
        SessionFrame("server", b'{"a":\n1}', 5),
        SessionFrame("server", close_data(1011), 6, "close"),
    )
    return format_cassette(_cassette(Session(Request("GET", "wss://a"), frames, ((0, 1),))))


def test_a_line_end_in_a_message_is_a_space_in_the_body() -> None:
    (interaction,) = parse_cassette(_text().encode(), "s", where="s.yaml").interactions
    assert interaction.body == b'{"a": 1}\n'
    assert interaction.request.body == b'{"type": "response.create"}'
    assert (interaction.in_session, interaction.ended) == (True, "truncated")


@each_row(
    ("old", "new", "says"),
    [
        ("from: client", "from: nobody", "one of client, server"),
        ("at: 5", "at: -5", "milliseconds"),
        ("opcode: close", "opcode: closed", "one of text, binary"),
        ('"0-1"', '"0-2"', "the numbers of messages"),
        ('"0-1"', '"1 0"', "in ascending order"),
        ('"0-1"', '"x"', "numbers of frames"),
        ("response.create", "response.cancel", "frames with SHA-256"),
        ("interactions: []", "interactions: [{response: {status: 200}}]", "found both"),
        ("  uri:", "  url:", "unknown key 'url'"),
    ],
)
def test_a_damaged_session_is_refused(old: str, new: str, says: str) -> None:
    text = _text()
    assert old in text
    with pytest.raises(UnreadableError, match=says):
        parse_cassette(text.replace(old, new, 1).encode(), "s", where="s.yaml")


def test_interactions_that_are_not_those_of_the_session_are_not_written() -> None:
    cassette = parse_cassette(_text().encode(), "s", where="s.yaml")
    other = Cassette("s", (), cassette.origin, session=cassette.session)
    with pytest.raises(ValueError, match="the interactions that"):
        format_cassette(other)


@each_row(
    ("numbers", "text"), [((), ""), ((3,), "3"), ((0, 2, 3, 4, 7), "0 2-4 7"), ((1, 2), "1-2")]
)
def test_numbers_are_written_as_ranges(numbers: tuple[int, ...], text: str) -> None:
    assert format_numbers(numbers) == text
