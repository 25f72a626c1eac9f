"""Two histories are compared by meaning, and each difference is reported."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.conversations.history_difference import Part, history_differences

Message = dict[str, Any]

TEXTS = st.none() | st.sampled_from(["", "Let me see.", "晴"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
        optional={"content": TEXTS, "tool_calls": VALUES, "tool_call_id": VALUES},
    )
    | VALUES
)


def entry(call_id: str = "c1", name: str = "f", arguments: str = '{"a": 1, "b": 2}') -> Message:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def talk(
    *calls: Message, content: str | None = None, result: str = "clear", answers: str = "c1"
) -> list[Message]:
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": content, "tool_calls": list(calls or (entry(),))},
        {"role": "tool", "tool_call_id": answers, "content": result},
    ]


@given(MESSAGES, st.sets(st.text(max_size=2)))
def test_a_history_equals_itself(messages: list[Any], given_ids: set[str]) -> None:
    assert history_differences(messages, messages, given_ids) == ()


@given(MESSAGES, MESSAGES)
def test_history_differences_are_symmetric(one: list[Any], two: list[Any]) -> None:
    there, back = history_differences(one, two, ()), history_differences(two, one, ())
    assert [(it.part, it.path) for it in there] == [(it.part, it.path) for it in back]


@pytest.mark.parametrize(
    ("other", "part"),
    [
        (talk()[:2], "roles"),
        (talk(content=""), "content"),
        (talk(content="I look."), "content"),
        ([*talk()[:1], talk()[1] | {"sealed": [{"kind": "signature"}]}, *talk()[2:]], "sealed"),
        (talk(entry(), entry("c2")), "calls"),
        (talk(entry("c2")), "id"),
        (talk(entry(name="g")), "name"),
        (talk(entry(arguments='{"a": 1.0, "b": 2}')), "arguments"),
        (talk(result="rain"), "result"),
        (talk(answers="c2"), "answers"),
    ],
)
def test_each_part_is_reported(other: list[Message], part: Part) -> None:
    assert [each.part for each in history_differences(talk(), other, ("c1", "c2"))] == [part]


def test_different_texts_and_missing_texts_are_different_parts() -> None:
    (found,) = history_differences(talk(content="a"), talk(content="b"), ("c1",))
    assert (found.part, found.recorded, found.sent) == ("text", "a", "b")


@pytest.mark.parametrize(
    "other",
    [
        [{"role": "system", "content": "Be kind."}, *talk()],
        [{"role": "developer", "content": "Be kind."}, *talk()],
        talk(entry(arguments='{"b":2,"a":1}')),
        talk(entry("mine"), answers="mine"),
        [talk()[0], {**talk()[1], "refusal": None}, {**talk()[2], "name": "f"}],
        [talk()[0], talk()[1], {**talk()[2], "content": [{"type": "text", "text": "clear"}]}],
    ],
    ids=["instructions", "developer", "spelling", "invented-id", "own-members", "parts"],
)
def test_equal_meanings_are_not_a_difference(other: list[Message]) -> None:
    assert history_differences(talk(entry("c1"), answers="c1"), other, ()) == ()


def test_the_id_of_the_provider_must_be_sent_back() -> None:
    assert [
        it.part for it in history_differences(talk(), talk(entry("x"), answers="x"), ("c1",))
    ] == [
        "id",
        "answers",
    ]
