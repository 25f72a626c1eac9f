"""Requests that are alike match; what differs is named; method and path are as in vcrpy."""

import json
import sys
from typing import Any

import pytest
import vcr  # type: ignore[import-untyped]  # vcrpy ships no types
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.playback.matching import NAMES, body_difference, matchers
from harness.wire.interaction import Request
from tests.tables import each_row

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
JSON = st.recursive(
    SCALARS, lambda item: st.lists(item, max_size=3) | st.dictionaries(st.text(max_size=2), item)
)
URIS = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(("http", "https")),
    st.sampled_from(("a.example", "b.example:81")),
    st.sampled_from(("", "/", "/v1", "/v1/")),
    st.sampled_from(("", "?", "?a=1", "#x")),
)
METHODS = st.sampled_from(("GET", "POST", "post"))
REQUESTS = st.builds(Request, method=METHODS, uri=URIS)


def turned(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the same value with the keys of its objects in another order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_json_is_compared_by_value(value: object) -> None:
    spelled = json.dumps(value).encode()
    other = json.dumps(turned(value), indent=1, ensure_ascii=False).encode()
    assert body_difference(other, spelled) == ""


@given(JSON, JSON)
def test_other_json_differs(one: object, other: object) -> None:
    spelled, again = json.dumps(one, sort_keys=True), json.dumps(other, sort_keys=True)
    assert bool(body_difference(again.encode(), spelled.encode())) is (spelled != again)


@given(st.binary(), st.binary())
def test_what_is_no_json_is_compared_as_bytes(one: bytes, other: bytes) -> None:
    assert bool(body_difference(b"\xff" + one, b"\xff" + other)) is (one != other)


@each_row(
    ("sent", "recorded", "difference"),
    [
        ("1.0", "1", ""),
        ("1e2", "100", ""),
        ("12345678901234567890123", "12345678901234567890124", ": expected number 1"),
        ("true", "1", ": expected number 1, found True"),
        ('{"b": 1}', '{"a": null}', ".a: expected None, found nothing"),
        ('{"b": 1}', "{}", ".b: expected nothing, found number 1"),
        ('["a"]', '["a", {}]', "[1]: expected an object of 0, found nothing"),
        ("[]", "{}", ": expected an object of 0, found a list of 0"),
        ('"' + "x" * 99 + '"', '"y"', ": expected 'y', found '" + "x" * 80 + "'... of 99"),
        ("NaN", "NaN ", "expected b'NaN ', found b'NaN'"),
        ("1e9999999999999999999", "1", "expected b'1', found b'1e9"),
        ("[" * 200_000, "[]", "expected b'[]', found b'[[["),
        ("[" * 200_000 + "]" * 200_000, "[]", "expected b'[]', found b'[[["),
    ],
)
def test_the_first_difference_is_named(sent: str, recorded: str, difference: str) -> None:
    found = body_difference(sent.encode(), recorded.encode())
    assert found.startswith(difference)
    assert bool(found) is bool(difference)


@given(REQUESTS, REQUESTS)
def test_method_path_and_the_rest_agree_with_vcrpy(sent: Request, recorded: Request) -> None:
    one, other = (vcr.request.Request(each.method, each.uri, None, {}) for each in (sent, recorded))
    for name, differs in matchers(
        [name for name in NAMES if name not in {"order", "body"}]
    ).items():
        try:
            getattr(vcr.matchers, name)(one, other)
            same = True
        except AssertionError:
            same = False
        assert bool(differs(sent, recorded)) is not same, name


def test_without_vcrpy_its_matchers_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vcr", None)
    assert set(matchers(("order", "method", "path", "body"))) == {"method", "path", "body"}
    with pytest.raises(UsageError, match=r"pip install 'toolcall-harness\[vcrpy\]'"):
        matchers(("query",))
