"""What the Responses API demands of a request, whatever the history is."""

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.providers import capabilities_of
from harness.turns.deltas import ToolCall
from harness.turns.messages import assistant, system, user
from tests.conversation.conversation_histories import POLICY_NAMES, histories
from tests.conversation.conversation_requests import HISTORY, body_of

CAPABILITIES = capabilities_of("openai", DIALECTS["openai-responses"].id_pattern)


@given(st.data(), POLICY_NAMES)
def test_every_call_has_its_output_and_no_item_has_an_id(data: st.DataObject, policy: str) -> None:
    items = body_of("openai-responses", *data.draw(histories(CAPABILITIES, policy)))["input"]
    called = [it["call_id"] for it in items if it["type"] == "function_call"]
    answered = [it["call_id"] for it in items if it["type"] == "function_call_output"]
    assert called == answered
    assert len(set(called)) == len(called)
    assert all("id" not in it for it in items)
    assert {it["type"] for it in items} <= {"message", "function_call", "function_call_output"}


def test_instructions_stand_apart_and_arguments_stay_texts() -> None:
    body = body_of("openai-responses", system("Be kind."), *HISTORY)
    assert (body["instructions"], body["store"]) == ("Be kind.", False)
    assert body["input"][1] == {
        "type": "function_call",
        "call_id": "c1",
        "name": "get_weather",
        "arguments": '{"city": "Oslo"}',
    }
    (tool,) = body["tools"]
    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "get_weather", False)
    assert body.keys().isdisjoint({"tool_choice", "parallel_tool_calls"})


def test_options_are_spelled_its_way() -> None:
    options = {"tool_choice": {"function": {"name": "f"}}, "parallel_tool_calls": False, "a": 1}
    body = body_of("openai-responses", *HISTORY, options=options)
    assert body["tool_choice"] == {"type": "function", "name": "f"}
    assert (body["parallel_tool_calls"], body["a"]) == (False, 1)


def test_thoughts_go_back_only_where_they_are_wanted() -> None:
    call = ToolCall("c1", "get_weather", "{}")
    turn = assistant("Let me look.", [call]) | {"reasoning_content": "I must look."}
    said = body_of("openai-responses", user("?"), turn, field="reasoning_content")["input"]
    assert [it["type"] for it in said] == ["message", "reasoning", "message", "function_call"]
    assert said[1]["content"] == [{"type": "reasoning_text", "text": "I must look."}]
    silent = body_of("openai-responses", user("?"), turn)["input"]
    assert [it["type"] for it in silent] == ["message", "message", "function_call"]
