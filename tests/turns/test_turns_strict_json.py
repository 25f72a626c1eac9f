"""Strict JSON: what a value cannot show is remembered, and faults have a place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.turns import strict_json
from harness.turns.strict_json import find_number, find_repeated_key, read_json
from harness.wire.payload import MAX_DEPTH

KEYS = st.sampled_from(["a", "b", '"', "\\", "é", "{", "1"])


@given(st.recursive(st.integers(), lambda inner: st.dictionaries(KEYS, inner), max_leaves=9))
def test_a_value_without_faults_reads_without_faults(value: dict[str, Any] | int) -> None:
    reading = read_json(json.dumps(value))
    assert reading is not None
    assert (reading.value, reading.unusable_number) == (value, "")
    assert not reading.repeats_key
    assert not reading.too_deep


@given(st.lists(KEYS, max_size=6))
def test_the_first_repeated_key_is_found_where_it_stands(keys: list[str]) -> None:
    members = [f"{json.dumps(key)}: {{}}" for key in keys]
    text = f"{{{', '.join(members)}}}"
    repeated = next((i for i, key in enumerate(keys) if key in keys[:i]), None)
    reading = read_json(text)
    assert reading is not None
    assert reading.repeats_key == (repeated is not None)
    if repeated is not None:
        offset = len("{" + ", ".join([*members[:repeated], ""]))
        assert find_repeated_key(text) == (keys[repeated], offset)


def test_a_number_is_found_outside_strings() -> None:
    assert find_number('["1e999", {"1e999": 11e999}, 1e999]', "1e999") == 29


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("inside", ["", "1"])
def test_depth_is_counted_in_open_brackets(opening: str, inside: str) -> None:
    closing = "]" if opening == "[" else "}"
    for depth in (MAX_DEPTH, MAX_DEPTH + 1):
        innermost = inside if opening == "[" else inside or '""'
        reading = read_json(opening * depth + innermost + closing * depth)
        assert reading is not None
        assert reading.too_deep == (depth > MAX_DEPTH)


PIECES = st.sampled_from(
    (
        *('"a":', '"a": ', '"b":', ' "a:b":', "1", "-0", "1.5", "1e999", "9" * 30, '""'),
        *('"\\ud83d"', '"\\u0000"', '"x:y"', "true", "null", "NaN", "{", "}", "[", "]", ","),
        *("\ufeff", "\t", "\ud83d"),
    )
)


@given(st.lists(PIECES, max_size=9).map(lambda pieces: "{" + "".join(pieces) + "}") | st.text())
def test_the_short_way_reads_what_the_long_one_does_or_nothing(text: str) -> None:
    short = strict_json._read_plain(text)
    assert short is None or repr(short) == repr(strict_json._read_with_hooks(text))


def test_plain_arguments_take_the_short_way() -> None:
    assert strict_json._read_plain('{"city": "Oslo", "days": 3, "now": true, "unit": null}')
    assert strict_json._read_plain('{"a": 1, "a": 2}') is None
    assert strict_json._read_plain('{"a": 1.5}') is None
