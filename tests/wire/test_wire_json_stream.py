"""One JSON array: a frame for each element, as soon as it is there, however it is cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import frames
from harness.wire import frames as limits
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames
from harness.wire.reads import synthetic_reads
from tests.replay_every_way import decode_frames, decode_until_error

texts = st.text('{}[]",:\\ \n\u00e9a', max_size=6)
element_values = st.recursive(
    st.none() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
indents = st.sampled_from([None, 0, 2])


def decode_elements(body: bytes) -> tuple[Frame, ...]:
    return decode_frames(body, tail=b"")


@given(st.lists(element_values, max_size=4), indents)
def test_each_element_is_a_frame_at_its_offset(elements: list[Any], indent: int | None) -> None:
    body = json.dumps(elements, indent=indent, ensure_ascii=False).encode() + b"\n"
    found = decode_elements(body)
    assert [json.loads(frame.data) for frame in found] == elements
    assert all(body[f.offset :].startswith(f.data) and f.complete for f in found)
    assert sum(read.size for read in synthetic_reads(body)) == len(body)


@given(st.lists(element_values, min_size=1, max_size=3), st.data())
def test_an_array_cut_short_gives_its_whole_elements_and_the_rest(
    elements: list[Any], data: st.DataObject
) -> None:
    body = json.dumps(elements).encode()
    found = decode_elements(body[: data.draw(st.integers(1, len(body) - 1))])
    *whole, last = (*found, None) if found and found[-1].complete else (found or (None,))
    assert [json.loads(frame.data) for frame in whole if frame] == elements[: len(whole)]
    assert last is None or not last.complete


def test_an_element_is_handed_on_as_soon_as_it_is_over() -> None:
    seen: list[str] = []

    def reads() -> Any:  # noqa: ANN401 - a generator that notes when it is asked
        for read in (b'[{"a": 1}', b"\n,\n", b'{"b": 2}', b"]"):
            seen.append(read.decode())
            yield read

    for frame in iter_frames(reads()):
        seen += [f"-> {frame.data.decode()}"]
    assert seen == ['[{"a": 1}', '-> {"a": 1}', "\n,\n", '{"b": 2}', '-> {"b": 2}', "]"]


@pytest.mark.parametrize("body", [b"[]", b"[ \n ]", b"[", b"[\n"])
def test_an_array_without_an_element_has_no_frame(body: bytes) -> None:
    assert decode_elements(body) == ()


@given(st.text('{}[]",:\\ \na1', max_size=30).map(lambda text: b"[" + text.encode()))
def test_any_body_is_framed_within_itself(body: bytes) -> None:
    found = decode_elements(body)
    assert all(body[f.offset :].startswith(f.data) and f.data for f in found)
    assert [f.complete for f in found[:-1]] == [True] * (len(found) - 1 if found else 0)


def test_what_follows_the_array_is_never_an_element() -> None:
    assert decode_elements(b"[1] ]]}} garbage") == (Frame(b"1", "", 1),)


def test_a_large_element_is_refused_after_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_EVENT_BYTES", 8)
    found, error = decode_until_error(b'[{"a":1},{"a": 123}]')
    assert found == (Frame(b'{"a":1}', "", 1),)
    assert error == "byte 9: an element is larger than 8 bytes"


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
    assert [read.size for read in synthetic_reads(b'{"a":1}\n{"b":2}\r\n{"c"')] == [8, 9, 4]
    assert [read.size for read in synthetic_reads(b'{\n"a":1}\n')] == [9]


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
    monkeypatch.setattr(frames, "MAX_EVENT_BYTES", 8)
    seen, error = decode_until_error(body)
    assert error == why
    assert list(seen) == ([Frame(b"{}")] if body.startswith(b"{}") else [])
