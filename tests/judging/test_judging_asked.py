"""What tells one question from another, whoever is asked."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.asked import asked_of
from harness.wire.interaction import Request

bodies = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4)


def _asked(body: dict[str, Any]) -> str:
    return asked_of(Request(body=json.dumps(body).encode()))


@given(bodies)
def test_the_model_and_the_order_of_keys_do_not_matter(body: dict[str, Any]) -> None:
    turned = dict(reversed(list(body.items())))
    assert _asked({**turned, "model": "x"}) == _asked({**body, "model": "y"})


@given(bodies, bodies)
def test_other_questions_have_other_digests(one: dict[str, Any], other: dict[str, Any]) -> None:
    one.pop("model", None)
    other.pop("model", None)
    assert (_asked(one) == _asked(other)) is (one == other)


def test_what_is_no_json_is_told_by_its_bytes() -> None:
    deep = b"[" * 100_000
    assert len({asked_of(Request(body=body)) for body in (b"{", b"\xff", deep)}) == 3
    assert asked_of(Request()) == ""
