"""Strict JSON: what a value cannot show is remembered, and faults have a place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.turns.strict_json import read_json
from harness.wire.payload import MAX_DEPTH

KEYS = st.sampled_from(["a", "b", '"', "\\", "é", "{", "1"])


@given(st.recursive(st.integers(), lambda inner: st.dictionaries(KEYS, inner), max_leaves=9))
def test_a_value_without_faults_reads_without_faults(value: dict[str, Any] | int) -> None:
    reading = read_json(json.dumps(value))
    assert reading is not None
    assert (reading.value, reading.unusable_number) == (value, "")
    assert reading.repeated_key is None
    assert not reading.too_deep


@given(st.lists(KEYS, max_size=6))
def test_a_repeated_key_is_named(keys: list[str]) -> None:
    members = [f"{json.dumps(key)}: {{}}" for key in keys]
    reading = read_json(f"{{{', '.join(members)}}}")
    assert reading is not None
    assert reading.repeated_key == next((key for key in keys if keys.count(key) > 1), None)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("inside", ["", "1"])
def test_depth_is_counted_in_open_brackets(opening: str, inside: str) -> None:
    closing = "]" if opening == "[" else "}"
    for depth in (MAX_DEPTH, MAX_DEPTH + 1):
        innermost = inside if opening == "[" else inside or '""'
        reading = read_json(opening * depth + innermost + closing * depth)
        assert reading is not None
        assert reading.too_deep == (depth > MAX_DEPTH)
