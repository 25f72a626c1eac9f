"""Ids and names: unique, as the provider takes them, always the same, and back again."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.history.identifiers import (
    NAME,
    NameMap,
    distinct_ids,
    fit_ids,
    fitting_name,
)
from harness.errors import UsageError
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, tool_result
from harness.turns.turn import Turn
from tests.conversation.conversation_histories import IDS, TURNS

PATTERNS = [
    "",
    "[a-zA-Z0-9]{9}",
    "[a-zA-Z0-9_-]{1,64}",
    ".{1,40}",
    "call_[a-z0-9]{24}",
    "[a-f0-9]{8}",
    "[0-9]+",
    "fc_[0-9a-f]{48}",
    "chatcmpl-tool-[0-9a-f]{32}",
]
ANY_IDS = IDS | st.text(max_size=60)
ROUNDS = st.lists(st.lists(ANY_IDS.filter(bool), min_size=1, max_size=4, unique=True), max_size=8)


def history(rounds: list[list[str]]) -> list[Message]:
    messages: list[Message] = []
    for ids in rounds:
        messages.append(assistant(None, [ToolCall(call_id, "f", "{}") for call_id in ids]))
        messages += [tool_result(call_id, "x") for call_id in reversed(ids)]
    return messages


def wire_ids(messages: tuple[Message, ...]) -> list[str]:
    return [call["id"] for message in messages for call in message.get("tool_calls", ())]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(rounds=ROUNDS)
def test_ids_are_unique_fit_and_lead_back(pattern: str, rounds: list[list[str]]) -> None:
    fitted = fit_ids(history(rounds), pattern)
    ids = wire_ids(fitted.messages)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(pattern or "(?s:.+)", each) for each in ids)
    assert [fitted.native[each] for each in ids] == [each for ids in rounds for each in ids]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(rounds=ROUNDS)
def test_each_result_goes_with_its_call(pattern: str, rounds: list[list[str]]) -> None:
    fitted = fit_ids(history(rounds), pattern).messages
    waiting: list[str] = []
    for message in fitted:
        if message["role"] == "assistant":
            assert waiting == []
            waiting = [call["id"] for call in message["tool_calls"]]
        else:
            assert message["tool_call_id"] == waiting.pop()


@pytest.mark.parametrize("pattern", PATTERNS)
@given(rounds=ROUNDS)
def test_more_messages_change_no_id_that_was_given(pattern: str, rounds: list[list[str]]) -> None:
    whole = fit_ids(history(rounds), pattern).messages
    for end, _ in pairwise(range(len(rounds) + 1)):
        part = fit_ids(history(rounds[:end]), pattern).messages
        assert whole[: len(part)] == part
    assert fit_ids(history(rounds), pattern).messages == whole


@given(ROUNDS)
def test_what_fits_and_is_unique_is_left_alone(rounds: list[list[str]]) -> None:
    once = fit_ids(history(rounds), "[a-zA-Z0-9]{9}").messages
    assert fit_ids(once, "[a-zA-Z0-9]{9}").messages == once


def test_native_ids_stay_where_any_are_taken() -> None:
    messages = history([["functions.Bash:0"], ["functions.Bash:1"]])
    assert list(fit_ids(messages, "").messages) == messages


def test_a_provider_that_reuses_an_id_gets_different_ones_back() -> None:
    ids = wire_ids(fit_ids(history([["call_0"]] * 3), "").messages)
    assert ids == ["call_0", "call_0-2", "call_0-3"]


def test_a_pattern_that_leaves_no_room_is_the_users_fault() -> None:
    with pytest.raises(UsageError, match="tool_id_pattern"):
        fit_ids(history([["a"]]), "é{3}")


@given(TURNS)
def test_the_ids_of_one_turn_differ(turn: Turn) -> None:
    distinct = distinct_ids(turn)
    before = [item.id for item in turn.tool_calls] + [item.id for item in turn.parse_errors]
    after = [item.id for item in distinct.tool_calls] + [item.id for item in distinct.parse_errors]
    assert len(set(after)) == len(after)
    assert all(after)
    assert distinct_ids(distinct) == distinct
    for old, new in zip(before, after, strict=True):
        assert new == old or not old or before.count(old) > 1


NAMES = st.sampled_from(
    [
        "notion.search",
        "notion_search",
        "github.Get File",
        "查询天气",
        "天气",
        "n" * 64,
        "n" * 65,
        "",
    ]
)


@given(st.lists(NAMES | st.text(max_size=70), max_size=12, unique=True))
def test_names_fit_stay_distinct_and_lead_back(names: list[str]) -> None:
    mapped = NameMap(names)
    wires = [mapped.wire(name) for name in names]
    assert all(NAME.fullmatch(wire) for wire in wires)
    assert len(set(wires)) == len(names)
    assert [mapped.declared(wire) for wire in wires] == names
    assert all(mapped.wire(name) == name for name in names if NAME.fullmatch(name))


@given(st.lists(NAMES | st.text(max_size=70), max_size=12, unique=True))
def test_names_that_nobody_declared_fit_and_stay_distinct(names: list[str]) -> None:
    wires = [fitting_name(name) for name in names]
    assert all(NAME.fullmatch(wire) for wire in wires)
    assert len(set(wires)) == len(names)


def test_a_name_keeps_as_much_of_itself_as_it_can() -> None:
    mapped = NameMap(["notion.search", "notion_search", "github.Get File"])
    assert mapped.wire("github.Get File") == "github_Get_File"
    assert mapped.wire("notion_search") == "notion_search"
    assert re.fullmatch(r"notion_search_[0-9a-f]{8}", mapped.wire("notion.search"))
    assert mapped.declared("rm_rf") == "rm_rf"
