"""What a request of the Responses API asks for."""

from typing import Any

import pytest

from harness.conversation.history.check import history_problems
from harness.dialects.openai_responses.parse_request import parse_request
from harness.dialects.table import message_form
from harness.providers import Capabilities
from harness.turns.messages import calls_of, role_of, text_of
from harness.turns.turn import Tool

ASKED = {"role": "user", "content": "?"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get", "arguments": "{}"}
GAVE = {"type": "function_call_output", "call_id": "c1", "output": "4"}


def read(*items: object) -> tuple[object, ...]:
    return message_form("openai-responses").messages_of({"input": list(items)})


def quirks(*items: object) -> set[str]:
    return {each.quirk for each in history_problems(read(*items), Capabilities())}


def test_items_of_the_model_in_a_row_are_one_turn() -> None:
    text = {"type": "output_text", "text": "I look."}
    said = {"type": "message", "role": "assistant", "content": [text]}
    other = CALL | {"call_id": "c2"}
    found = read(ASKED, said, CALL, other, GAVE, GAVE | {"call_id": "c2"}, said)
    assert list(map(role_of, found)) == ["user", "assistant", "tool", "tool", "assistant"]
    assert text_of(found[1]) == "I look."
    assert [call[0] for call in calls_of(found[1])] == ["c1", "c2"]
    assert history_problems(found, Capabilities()) == ()


def test_a_text_alone_is_a_question() -> None:
    body = {"input": "?", "instructions": "Be kind."}
    assert message_form("openai-responses").messages_of(body) == (
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "?"},
    )


def test_what_is_broken_is_seen() -> None:
    assert quirks(ASKED, CALL | {"arguments": {}}, GAVE) == {"HIST-ARGS-INVALID"}
    assert quirks(ASKED, CALL, GAVE | {"output": {"a": 1}}) == {"HIST-RESULT-NON-STRING"}
    assert quirks(ASKED, CALL, GAVE, GAVE) == {"HIST-ORPHAN-RESULT"}
    assert quirks(ASKED, GAVE) == {"HIST-ORPHAN-RESULT"}
    assert quirks(ASKED, "no item") == {""}


@pytest.mark.parametrize(
    ("item", "sealed", "text"),
    [
        (
            {"summary": [], "encrypted_content": "abc"},
            [{"kind": "reasoning", "value": "abc"}],
            None,
        ),
        (
            {"summary": [{"text": "It is"}], "id": "rs_1"},
            [{"kind": "reasoning", "id": "rs_1"}],
            None,
        ),
        ({"content": [{"type": "reasoning_text", "text": "Hm."}], "id": "r"}, None, "Hm."),
    ],
)
def test_reasoning_is_text_or_only_for_the_provider(
    item: dict[str, Any], sealed: list[Any] | None, text: str | None
) -> None:
    turn = read(ASKED, {"type": "reasoning", **item}, CALL, GAVE)[1]
    assert isinstance(turn, dict)
    assert (turn.get("sealed"), turn.get("reasoning_content")) == (sealed, text)


def test_calls_of_custom_tools_hold_their_text_and_the_providers_own_are_named() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "a"}
    gave = GAVE | {"type": "custom_tool_call_output"}
    found = read(ASKED, {"type": "web_search_call", "id": "ws"}, custom, gave)
    assert list(calls_of(found[1])) == [("c1", "patch", '{"input": "a"}')]
    assert isinstance(found[1], dict)
    assert found[1]["sealed"] == [{"kind": "web_search_call"}]
    assert history_problems(found, Capabilities()) == ()


URI = "https://api.example.com/v1/responses"


def test_model_tools_system_and_stream() -> None:
    asked = parse_request(
        URI,
        {
            "model": "gpt-5-mini",
            "stream": True,
            "instructions": "Be brief.",
            "input": [
                {"role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
                {"role": "user", "content": "Hi."},
            ],
            "tools": [
                {"type": "function", "name": "f", "description": "d", "parameters": {"a": 1}},
                {"type": "function", "function": {"name": "g"}},
                {"type": "custom", "name": "sql"},
                {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "h"}]},
                {"type": "web_search"},
            ],
        },
    )
    assert (asked.model, asked.stream, asked.tools_known) == ("gpt-5-mini", True, True)
    assert asked.system == "Be brief.\nBe kind."
    assert [tool.name for tool in asked.tools] == ["f", "g", "sql", "h"]
    assert asked.tools[0].parameters == {"a": 1}


def test_the_form_of_the_chat_api_is_ignored_next_to_a_name() -> None:
    nested = {"name": "g", "parameters": {"required": ["a"]}}
    tools = [{"type": "function", "name": "f", "function": nested}]
    assert parse_request(URI, {"tools": tools}).tools == (Tool("f"),)


def test_a_session_and_a_model_in_the_address() -> None:
    asked = parse_request(f"{URI}?model=gpt-realtime", {"session": {"instructions": "Be brief."}})
    assert (asked.model, asked.system, asked.stream) == ("gpt-realtime", "Be brief.", True)


@pytest.mark.parametrize(
    "body",
    [{}, {"model": 1, "tools": 3, "input": "Hi.", "instructions": []}, {"tools": [None, {}]}],
)
def test_unreadable_members_are_empty(body: dict[str, Any]) -> None:
    asked = parse_request("", body)
    assert (asked.model, asked.system, asked.stream, asked.tools) == ("", "", False, ())
