"""NDJSON: one frame a line, told apart from a JSON document over several lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import limits
from harness.wire.frames import Frame
from harness.wire.reads import synthetic
from tests.replay_every_way import decode_frames, decode_until_error

values = st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.integers(), max_size=3)
objects = values.map(lambda value: json.dumps(value, ensure_ascii=False).encode())
line_ends = st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n"])


def decode(body: bytes) -> tuple[Frame, ...]:
    return decode_frames(body, tail=b"")


@given(st.lists(objects, min_size=1, max_size=4), line_ends)
def test_each_line_is_a_frame_at_its_offset(lines: list[bytes], line_end: bytes) -> None:
    body = line_end.join(lines) + line_end
    frames = decode(body)
    assert [frame.data for frame in frames] == lines
    assert all(body[f.offset :].startswith(f.data) and f.complete for f in frames)


@given(objects, objects)
def test_a_last_line_without_its_end_is_handed_on_as_incomplete(first: bytes, last: bytes) -> None:
    body = first + b"\n  " + last
    assert decode(body) == (
        Frame(first),
        Frame(last, "", len(first) + 3, complete=False),
    )


@given(values, st.sampled_from(["\n", "\r\n"]))
def test_a_document_over_several_lines_is_one_frame(value: dict[str, object], end: str) -> None:
    text = json.dumps({"a": 1, **value}, indent=1).replace("\n", end).encode()
    assert decode(text + b"\n") == (Frame(text),)
    assert decode(b"\n " + text) == (Frame(text, "", 2),)


@given(objects)
def test_a_body_of_one_line_is_complete_with_or_without_its_end(line: bytes) -> None:
    assert decode(line) == decode(line + b"\n") == (Frame(line),)


@given(st.text('{}[]":,\n\r \\a1', max_size=30).map(lambda text: b"{" + text.encode()))
def test_no_byte_but_blanks_is_lost(body: bytes) -> None:
    frames = decode(body)
    assert all(frame.data == body[frame.offset :][: len(frame.data)] for frame in frames)
    seen = sum(len(frame.data.split()) for frame in frames)
    assert seen == len(body.split())


def test_a_stray_line_later_stays_a_line() -> None:
    frames = decode(b'{"a":1}\noops\n{"b":2}\n')
    assert [frame.data for frame in frames] == [b'{"a":1}', b"oops", b'{"b":2}']


def test_synthetic_reads_are_lines_unless_it_is_a_document() -> None:
    assert [read.size for read in synthetic(b'{"a":1}\n{"b":2}\r\n{"c"')] == [8, 9, 4]
    assert [read.size for read in synthetic(b'{\n"a":1}\n')] == [9]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"a": 123}\n', "byte 0: a line is larger than 8 bytes"),
        (b'{}\n{"a": 123}\n{}\n', "byte 3: a line is larger than 8 bytes"),
        (b'{}\n{"a": 123', "byte 3: a line is larger than 8 bytes"),
        (b'{\n"a": 123}', "byte 0: a plain body is larger than 8 bytes"),
    ],
)
def test_a_large_line_is_refused_after_those_before_it(
    body: bytes, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_EVENT_BYTES", 8)
    seen, error = decode_until_error(body)
    assert error == why
    assert list(seen) == ([Frame(b"{}")] if body.startswith(b"{}") else [])
