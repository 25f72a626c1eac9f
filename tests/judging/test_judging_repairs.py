"""A repair of arguments is accepted if the schema of the tool demands it, and nothing else is."""

import json
from typing import Any

import pytest

from harness.judging.repairs import is_demanded
from harness.turns.schema_check import Checker
from harness.turns.turn import Tool

TOOL = Tool(
    "set",
    parameters={
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "title": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "margins": {"type": "object", "properties": {"left": {"type": "integer"}}},
            "any": {},
        },
        "required": ["count"],
        "additionalProperties": False,
    },
)


def _demanded(sent: dict[str, Any], repaired: dict[str, Any]) -> bool:
    before = json.dumps({"count": 1} | sent)
    return is_demanded(TOOL, before, json.dumps(repaired), Checker())


@pytest.mark.parametrize(
    ("sent", "repaired"),
    [
        ({"count": "5"}, {"count": 5}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"on": "true"}, {"on": True}),
        ({"title": 1.000001}, {"title": "1.000001"}),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"tags": ["a", 1]}, {"tags": ["a", "1"]}),
        ({"margins": '{"left": 3}'}, {"margins": {"left": 3}}),
        ({"margins": {"left": "3"}}, {"margins": {"left": 3}}),
        ({"title": "a", "force": True}, {"title": "a"}),
    ],
)
def test_unambiguous_conversion_is_demanded(sent: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert _demanded(sent, {"count": 1} | repaired)


@pytest.mark.parametrize(
    ("sent", "repaired"),
    [
        ({"count": True}, {"count": 1}),
        ({"count": []}, {"count": 0}),
        ({"count": "007"}, {"count": 7}),
        ({"count": "1e3"}, {"count": 1000}),
        ({"count": "end"}, {"count": 0}),
        ({"on": "no"}, {"on": False}),
        ({"title": True}, {"title": "true"}),
        ({"margins": []}, {"margins": {}}),
        ({"tags": "a, b"}, {"tags": ["a", "b"]}),
        # The schema accepts the value that was sent.
        ({"title": "5"}, {"title": 5}),
        ({"any": "5", "on": "true"}, {"any": 5, "on": True}),
        ({"title": "a", "on": "true"}, {"on": True}),
        # The result does not fit, or it contains more than was sent.
        ({"count": "5", "on": "yes"}, {"count": 5, "on": "yes"}),
        ({"on": "true"}, {"on": True, "title": "a"}),
    ],
)
def test_other_change_is_not_demanded(sent: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert not _demanded(sent, {"count": 1} | repaired)


def test_text_that_is_not_an_object_is_never_repaired() -> None:
    assert not is_demanded(TOOL, '{"count": 1,}', '{"count": 1}', Checker())
    assert not is_demanded(TOOL, "[]", '{"count": 1}', Checker())
