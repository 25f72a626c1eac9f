"""Any bytes are one JSON value or `NotJson`, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire.payload import MAX_DEPTH, NotJson, decode_json
from tests.tables import each_row

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

NOT_JSON = {
    "nothing": b"",
    "blank": b" \n",
    "NaN": b"NaN",
    "Infinity": b'{"a": -Infinity}',
    "nested without end": b"[" * 100_000,
    "objects without end": b'{"a":' * 100_000,
    "nested too deeply": b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
    "objects too deeply": b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1),
    "an integer of 5,000 digits": b"9" * 5000,
    "two values": b"{}{}",
    "a word": b"undefined",
    "single quotes": b"{'a': 1}",
    "a trailing comma": b'{"a": 1,}',
    "a raw line end": b'"a\nb"',
    "half": b'{"a": "b',
    "bytes that are no text": b"\xff\xfe\x00",
    "a comment": b"// x\n{}",
}


@each_row("data", NOT_JSON.values())
def test_what_is_no_json_says_why(data: bytes) -> None:
    with pytest.raises(NotJson) as caught:
        decode_json(data)
    assert str(caught.value)


@each_row(
    ("data", "value"),
    [
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"18446744073709551616", 18446744073709551616),
        (b"-9223372036854775809", -9223372036854775809),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\ude00\\ud83d"', "\ude00\ud83d"),
        (b'"a\xffb"', "a\ufffdb"),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('"\u2028\u2029"'.encode(), "\u2028\u2029"),
        (b"null", None),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b"1e999", float("inf")),
    ],
)
def test_odd_json_is_a_value(data: bytes, value: object) -> None:
    assert decode_json(data) == value


def test_deep_but_not_too_deep() -> None:
    value = decode_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert json.dumps(value) == "[" * MAX_DEPTH + "]" * MAX_DEPTH


def test_brackets_in_strings_are_not_depth() -> None:
    text = "[{" * 1000
    assert decode_json(json.dumps([text]).encode()) == [text]


@given(value=values, ascii_only=st.booleans())
def test_json_comes_back(value: object, *, ascii_only: bool) -> None:
    assert decode_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=40) | st.text('[]{}":,\\u0de1 ntrfasl-.eE', max_size=30).map(str.encode))
def test_any_bytes_give_a_value_or_not_json(data: bytes) -> None:
    try:
        value = decode_json(data)
    except NotJson:
        return
    assert json.loads(json.dumps(value)) == value
