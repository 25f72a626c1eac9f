"""What the reader of DashScope's native API makes of what its writer never spells."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from harness.dialects.dashscope import DIALECT
from harness.dialects.dashscope.snapshots import GrowingFields
from harness.dialects.kit.parse_request import ChatRequest
from harness.turns.turn import Tool, Turn
from tests.dialects.scripted_turns import read_turn
from tests.tables import each_row

Json = dict[str, Any]


def event(finish: object = "null", **message: object) -> Json:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"output": {"choices": [choice]}, "request_id": "r1"}


def entry(arguments: object, name: object = "f", **fields: object) -> Json:
    return {"function": {"name": name, "arguments": arguments}, **fields}


def read(*events: Json, name: str = "result") -> Turn:
    lines = (f"event:{name}\ndata:{json.dumps(each)}\n\n" for each in events)
    return read_turn("dashscope", "".join(lines).encode())


def text(*values: str) -> Turn:
    return read(*(event(content=value) for value in values), event("stop", content=""))


def calls(*lists: Sequence[Json]) -> Turn:
    events = [event(content="", tool_calls=list(entries)) for entries in lists]
    return read(*events, event("tool_calls", content=""))


def failure(turn: Turn) -> tuple[str, str]:
    assert turn.failure is not None
    return turn.failure.code, turn.failure.message


# Snapshots and increments


@each_row(
    ("values", "whole"),
    [
        (("A", "B"), "AB"),
        (("A", "AB"), "AB"),
        (("A", "AB", "ABC"), "ABC"),
        (("A", "AB", "B"), "AABB"),
        (("A", "A", "B"), "AAB"),
        (("ha", "ha"), "ha"),  # the limit: it may be "haha"
        (("=", "==", "===", "===="), "===="),
        (("=", "==", "===", "a"), "======a"),
        (("A sentence", "A sentence."), "A sentence."),
        (("A sentence", "", "A sentence that"), "A sentence that"),
        (("A sentence", "A sentence.", "A sentence."), "A sentence."),
        (("A sentence", "A sentence.", "A sent"), "A sentence."),
    ],
)
def test_values_that_begin_with_those_before_are_snapshots(
    values: tuple[str, ...], whole: str
) -> None:
    turn = text(*values)
    assert (turn.text, turn.failure) == (whole, None)


def test_a_snapshot_that_takes_back_what_came_before_fails_the_turn() -> None:
    assert failure(text("A sentence", "A sentence.", "Another"))[0] == "bad_event"


def test_arguments_that_take_back_what_came_before_are_rejected() -> None:
    first, second, other = '{"city":"Os', '{"city":"Oslo"', '{"city":"Rome"}'
    turn = calls(*([entry(each, id="c1", index=0)] for each in (first, second, other)))
    assert turn.tool_calls == ()
    assert [error.name for error in turn.parse_errors] == ["f"]


def test_what_is_still_open_at_the_end_is_told_by_what_is_json() -> None:
    turn = calls([entry('{"a":', index=0, id="c1")], [entry('{"a":1}}', "", index=0)])
    assert [call.arguments for call in turn.tool_calls] == ['{"a":{"a":1}}']


def test_one_field_decides_for_all() -> None:
    turn = read(
        event(content="ha", reasoning_content="The answer"),
        event(content="ha", reasoning_content=" is short."),
        event("stop"),
    )
    assert (turn.text, turn.reasoning) == ("haha", "The answer is short.")


def test_what_was_held_back_is_said_when_the_turn_fails() -> None:
    turn = read(event(content="He"), event(content="Hello"), {"code": "X", "message": "m"})
    assert (turn.text, failure(turn)) == ("Hello", ("X", "m"))


def test_text_is_handed_on_at_once_and_held_back_only_while_it_is_doubtful() -> None:
    said: list[str] = []
    pieces = GrowingFields()
    pieces.field("text", said.append, said.clear)
    for value, so_far in (("He", "He"), ("Hello", "He"), ("Hello you", "Hello you")):
        pieces.take("text", value)
        assert "".join(said) == so_far
    assert pieces.cumulative is True


# Calls


def test_snapshots_without_an_index_are_told_apart_by_their_place() -> None:
    one, two = entry('{"a":1}', id="c1"), entry('{"b":2}', "g", id="c2")
    turn = calls([entry('{"a"', id="c1")], [one], [one, two], [one, two])
    assert [(c.id, c.name, c.arguments) for c in turn.tool_calls] == [
        ("c1", "f", '{"a":1}'),
        ("c2", "g", '{"b":2}'),
    ]


def test_another_id_with_a_name_at_the_same_index_is_another_call() -> None:
    turn = calls([entry('{"a":1}', id="c1", index=0)], [entry('{"b":2}', id="c2", index=0)])
    assert [call.arguments for call in turn.tool_calls] == ['{"a":1}', '{"b":2}']


def test_an_object_keeps_its_digits() -> None:
    body = json.dumps(event("tool_calls", tool_calls=[entry({}, id="c1")]))
    body = body.replace('"arguments": {}', '"arguments": {"n": 1.10}')
    turn = read_turn("dashscope", body.encode())
    assert [call.arguments for call in turn.tool_calls] == ['{"n": 1.10}']


def test_a_call_that_is_no_function_is_rejected() -> None:
    turn = calls([entry("{}", id="c1", index=0, type="plugin")])
    assert len(turn.parse_errors) == 1


# Ends and errors


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"code": "InvalidApiKey", "message": "m", "request_id": "r"}, ("InvalidApiKey", "m")),
        ({"message": "m", "request_id": "r"}, ("error", "m")),
        ({"error": {"code": "c", "message": "m"}}, ("c", "m")),
        ({"status_code": 400, "code": "c", "message": "m", "output": None}, ("c", "m")),
    ],
)
def test_errors_in_each_shape(value: Json, told: tuple[str, str]) -> None:
    assert failure(read(event(content="a"), value)) == told
    assert failure(read_turn("dashscope", json.dumps(value).encode())) == told


def test_an_event_called_error_fails_whatever_it_holds() -> None:
    assert failure(read({"what": "happened"}, name="error"))[0] == "error"


@pytest.mark.parametrize("code", ["", None, 200, "200"])
def test_the_code_of_a_good_answer_is_no_error(code: object) -> None:
    answer = {"code": code, "message": "", **event("stop", content="a")}
    assert (read(answer).text, read(answer).failure) == ("a", None)


@pytest.mark.parametrize("value", [{"choices": []}, {"output": "a"}, {}])
def test_what_is_no_event_of_this_api_is_an_unknown_envelope(value: Json) -> None:
    assert failure(read(value))[0] == "unknown_envelope"


def test_the_text_null_is_no_finish() -> None:
    assert failure(read(event(content="a")))[0] == "interrupted"


def test_only_the_first_choice_is_read() -> None:
    value = event("stop", content="a")
    value["output"]["choices"].insert(0, {"index": 1, "message": {"content": "b"}})
    assert read(value).text == "a"


# Requests


def test_a_request_says_model_tools_and_system_text() -> None:
    declared = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    value = {
        "model": "qwen-plus",
        "input": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user"}]},
        "parameters": {"incremental_output": True, "tools": [{"function": declared}, {}]},
    }
    wanted = ChatRequest(
        "qwen-plus",
        (Tool("f", "d", {"type": "object"}),),
        "Be brief.",
        stream=True,
        tools_known=True,
    )
    assert DIALECT.parse_request("https://x/api/v1/services/aigc/", value) == wanted


def test_a_hostile_request_is_empty() -> None:
    value = {"model": [], "input": 1, "parameters": {"tools": {"function": {}}}}
    assert DIALECT.parse_request("", value) == ChatRequest(tools_known=True)
