"""The first seed system: what DashScope said once about a call is there when the turn ends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.replaying import replay
from harness.normalizers.seed_systems import dashscope_restore as normalizer
from harness.turns.arguments import same_value
from harness.turns.deltas import FinishReason, ToolCall
from harness.turns.turn import Turn
from tests.judging.judging_samples import DONE, an_interaction, call, chunk

END = chunk(None, "tool_calls") + DONE
LATER: list[dict[str, Any]] = [
    {"id": "", "name": ""},
    {"id": None, "name": None},
    {},
    {"id": "", "name": None},
]


def turn(*events: bytes, cuts: tuple[int, ...] = ()) -> Turn:
    seen = replay(normalizer, an_interaction(b"".join(events)), cuts)
    assert not seen.error
    return seen.turn


# The story


def test_one_call_in_split_chunks() -> None:
    got = turn(
        call("", id="call_xxx", name="writing"),
        call('{"path"', id="", name=""),
        call(': "a"}', id="", name=""),
        END,
    )
    assert got.tool_calls == (ToolCall("call_xxx", "writing", '{"path": "a"}'),)
    assert got.finish is not None
    assert got.finish.reason is FinishReason.TOOL_CALLS


def test_the_built_in_set_memory() -> None:
    got = turn(call("", id="call_m", name="set_memory"), call('{"key": "k"}', id="", name=""), END)
    assert got.tool_calls == (ToolCall("call_m", "set_memory", '{"key": "k"}'),)


def test_rounds_share_nothing() -> None:
    first = turn(call("", id="call_1", name="writing"), call("{}", id="", name=""), END)
    second = turn(call("", id="call_2", name="set_memory"), call("{}", id="", name=""), END)
    assert first.tool_calls == (ToolCall("call_1", "writing", "{}"),)
    assert second.tool_calls == (ToolCall("call_2", "set_memory", "{}"),)


def test_a_round_without_id_and_name_finds_nothing_of_the_round_before() -> None:
    turn(call("{}", id="call_1", name="writing"), END)
    assert turn(call("{}", id="", name=""), END).tool_calls == ()


def test_calls_that_a_layer_moved_to_additional_kwargs() -> None:
    def moved(**entry: Any) -> bytes:  # noqa: ANN401 - any JSON
        entries = [{"index": 0, **entry}]
        return chunk({"content": "", "additional_kwargs": {"tool_calls": entries}})

    got = turn(
        moved(id="call_k", function={"name": "writing", "arguments": ""}),
        moved(id="", function={"name": "", "arguments": '{"path": "a"}'}),
        END,
    )
    assert got.tool_calls == (ToolCall("call_k", "writing", '{"path": "a"}'),)


@pytest.mark.parametrize("index", [None, [], {}, 1.5, True, "0"])
def test_any_index_under_additional_kwargs_is_read(index: Any) -> None:  # noqa: ANN401 - any JSON
    entry = {"index": index, "id": "c", "function": {"name": "writing", "arguments": "{}"}}
    got = turn(chunk({"additional_kwargs": {"tool_calls": [entry]}}), END)
    assert got.tool_calls == (ToolCall("c", "writing", "{}"),)


@pytest.mark.parametrize("missing", ["", None])
def test_ids_are_made_up_where_none_came(missing: str | None) -> None:
    got = turn(
        call("{}", id=missing, name="writing"),
        call("{}", id=missing, name="writing", index=1),
        END,
    )
    ids = [item.id for item in got.tool_calls]
    assert len(set(ids)) == 2
    assert all(ids)


def test_made_up_ids_are_the_same_under_every_cut() -> None:
    events = (call("{}", name="writing"), END)
    assert turn(*events, cuts=(5, 50)) == turn(*events)


def test_ids_that_siblings_share_are_told_apart() -> None:
    got = turn(call("{}", id="c", name="writing"), call("{}", id="c", name="writing", index=1), END)
    assert len({item.id for item in got.tool_calls}) == 2


def test_a_call_that_never_had_a_name_is_dropped() -> None:
    writing = call('{"a": 1}', id="c", name="writing", index=1)
    got = turn(call("{}", id="call_1", name=""), writing, END)
    assert [item.name for item in got.tool_calls] == ["writing"]
    assert got.parse_errors == ()


def test_a_call_without_arguments_does_not_run_beside_those_of_a_call_without_a_name() -> None:
    got = turn(call('{"a": 1}', id="", name=""), call("{}", id="c", name="writing", index=1), END)
    assert got.tool_calls == ()
    assert [item.name for item in got.parse_errors] == ["writing"]


def test_a_name_may_come_after_the_first_arguments() -> None:
    got = turn(call("{", id="c"), call("}", id="", name="writing"), END)
    assert got.tool_calls == (ToolCall("c", "writing", "{}"),)


def test_without_an_index_all_is_one_call() -> None:
    got = turn(call("{", id="c", name="writing", index=None), call("}", index=None, id=""), END)
    assert got.tool_calls == (ToolCall("c", "writing", "{}"),)


def test_arguments_that_come_as_an_object_are_text_again() -> None:
    entry = {"index": 0, "id": "c", "function": {"name": "writing", "arguments": {"path": "é"}}}
    assert same_value(
        turn(chunk({"tool_calls": [entry]}), END).tool_calls[0].arguments, '{"path": "é"}'
    )


@pytest.mark.parametrize("arguments", ["just do it", '{"path": "a', "[]"])
def test_unusable_arguments_are_reported_and_not_run(arguments: str) -> None:
    got = turn(call(arguments, id="c", name="writing"), END)
    assert got.tool_calls == ()
    assert [(error.name, error.snippet) for error in got.parse_errors] == [("writing", arguments)]


def test_nothing_of_a_broken_stream_is_run() -> None:
    got = turn(call("{}", id="c", name="writing"))
    assert got.tool_calls == ()
    assert got.failure is not None


# In any fragments

FRAGMENTS = st.lists(st.text(max_size=8), max_size=4)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[ToolCall], list[bytes]]:
    """Draw calls, and chunks that give each one's id and name once, in its first chunk."""
    calls, queues = [], []
    for index in range(draw(st.integers(1, 3))):
        pieces = draw(FRAGMENTS)
        text = json.dumps({"path": "".join(pieces)}, ensure_ascii=draw(st.booleans()))
        at = sorted(draw(st.sets(st.integers(0, len(text)), max_size=5)))
        parts = [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]
        made = ToolCall(f"call_{index}", draw(st.sampled_from(["writing", "set_memory"])), text)
        first = call(draw(st.sampled_from(["", None])), index=index, id=made.id, name=made.name)
        later = [call(part, index=index, **draw(st.sampled_from(LATER))) for part in parts]
        calls.append(made)
        queues.append([first, *later])
    events = [queue.pop(0) for queue in queues]
    while any(queues):
        events.append(draw(st.sampled_from([queue for queue in queues if queue])).pop(0))
    return calls, events


@given(streams(), st.data())
def test_split_chunks_restore_in_any_fragments(
    drawn: tuple[list[ToolCall], list[bytes]], data: st.DataObject
) -> None:
    calls, events = drawn
    size = sum(map(len, events)) + len(END)
    cuts = data.draw(st.sets(st.integers(1, size - 1), max_size=6))
    assert turn(*events, END, cuts=tuple(sorted(cuts))).tool_calls == tuple(calls)
