"""JSON values on one line of YAML: readers of both versions turn them back into the same."""

import json
from collections.abc import Callable

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from harness.wire import yaml_guard
from harness.wire.scalar import flow

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ("no", "null", "1e5", "<<", "=", "2026-11-22", "0o7", "12:30", "~", "")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.floats(allow_nan=False, width=64),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
).filter(lambda value: "Infinity" not in json.dumps(value))


def _core(text: str) -> object:
    return yaml_guard.load(text, "x")


def _older(text: str) -> object:
    return yaml.load(text, yaml.CSafeLoader)


@pytest.mark.parametrize("read", [_core, _older])
@given(value=JSON)
@example(value=1e16)
@example(value=[-1e-07])
def test_any_json_comes_back(read: Callable[[str], object], value: object) -> None:
    back = read(flow(value))
    assert json.dumps(back) == json.dumps(value)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_a_number_that_json_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        flow(value)
