"""One JSON array: a frame for each element, as soon as it is there, however it is cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import limits
from harness.wire.frames import Frame
from harness.wire.framing import frames
from harness.wire.reads import synthetic
from tests.replay_every_way import decode_frames, decode_until_error

texts = st.text('{}[]",:\\ \n\u00e9a', max_size=6)
values = st.recursive(
    st.none() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
indents = st.sampled_from([None, 0, 2])


def decode(body: bytes) -> tuple[Frame, ...]:
    return decode_frames(body, tail=b"")


@given(st.lists(values, max_size=4), indents)
def test_each_element_is_a_frame_at_its_offset(elements: list[Any], indent: int | None) -> None:
    body = json.dumps(elements, indent=indent, ensure_ascii=False).encode() + b"\n"
    found = decode(body)
    assert [json.loads(frame.data) for frame in found] == elements
    assert all(body[f.offset :].startswith(f.data) and f.complete for f in found)
    assert sum(read.size for read in synthetic(body)) == len(body)


@given(st.lists(values, min_size=1, max_size=3), st.data())
def test_an_array_cut_short_gives_its_whole_elements_and_the_rest(
    elements: list[Any], data: st.DataObject
) -> None:
    body = json.dumps(elements).encode()
    found = decode(body[: data.draw(st.integers(1, len(body) - 1))])
    *whole, last = (*found, None) if found and found[-1].complete else (found or (None,))
    assert [json.loads(frame.data) for frame in whole if frame] == elements[: len(whole)]
    assert last is None or not last.complete


def test_an_element_is_handed_on_as_soon_as_it_is_over() -> None:
    seen: list[str] = []

    def reads() -> Any:  # noqa: ANN401 - a generator that notes when it is asked
        for read in (b'[{"a": 1}', b"\n,\n", b'{"b": 2}', b"]"):
            seen.append(read.decode())
            yield read

    for frame in frames(reads()):
        seen += [f"-> {frame.data.decode()}"]
    assert seen == ['[{"a": 1}', '-> {"a": 1}', "\n,\n", '{"b": 2}', '-> {"b": 2}', "]"]


@pytest.mark.parametrize("body", [b"[]", b"[ \n ]", b"[", b"[\n"])
def test_an_array_without_an_element_has_no_frame(body: bytes) -> None:
    assert decode(body) == ()


@given(st.text('{}[]",:\\ \na1', max_size=30).map(lambda text: b"[" + text.encode()))
def test_any_body_is_framed_within_itself(body: bytes) -> None:
    found = decode(body)
    assert all(body[f.offset :].startswith(f.data) and f.data for f in found)
    assert [f.complete for f in found[:-1]] == [True] * (len(found) - 1 if found else 0)


def test_what_follows_the_array_is_never_an_element() -> None:
    assert decode(b"[1] ]]}} garbage") == (Frame(b"1", "", 1),)


def test_a_large_element_is_refused_after_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_EVENT_BYTES", 8)
    found, error = decode_until_error(b'[{"a":1},{"a": 123}]')
    assert found == (Frame(b'{"a":1}', "", 1),)
    assert error == "byte 9: an element is larger than 8 bytes"
