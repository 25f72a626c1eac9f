"""What Anthropic's API demands of a request, whatever the history is."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.replies import next_request
from harness.dialects.table import DIALECTS
from harness.providers import capabilities_of
from harness.turns.deltas import ToolCall
from harness.turns.messages import assistant, system, user
from tests.conversation.conversation_histories import POLICY_NAMES, histories
from tests.conversation.conversation_provider import TOOLS, Provider
from tests.conversation.conversation_requests import HISTORY, body_of

CAPABILITIES = capabilities_of("compatible", DIALECTS["anthropic"].id_pattern)


@given(st.data(), POLICY_NAMES)
def test_sides_take_turns_and_results_stand_first_right_behind_their_calls(
    data: st.DataObject, policy: str
) -> None:
    body = body_of("anthropic", *data.draw(histories(CAPABILITIES, policy)))
    messages = body["messages"]
    roles = [each["role"] for each in messages]
    assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
    assert body["max_tokens"] > 0
    for before, after in pairwise([*messages, {"content": []}]):
        wanted = [it["id"] for it in before["content"] if it["type"] == "tool_use"]
        kinds = [it["type"] for it in after["content"]]
        assert kinds[: len(wanted)] == ["tool_result"] * len(wanted)
        results = (it for it in after["content"] if it["type"] == "tool_result")
        assert [it["tool_use_id"] for it in results] == wanted
        assert all(re.fullmatch(CAPABILITIES.tool_id_pattern, each) for each in wanted)
        assert all(it["text"].strip() for it in before["content"] if it["type"] == "text")


def test_instructions_stand_apart_and_arguments_are_objects() -> None:
    body = body_of("anthropic", system("Be kind."), *HISTORY)
    assert body["system"] == "Be kind."
    assert body["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Oslo"}}
    ]
    assert body["tools"][0]["input_schema"] == TOOLS[0].parameters
    assert "tool_choice" not in body


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        ({"tool_choice": {"function": {"name": "f"}}}, {"type": "tool", "name": "f"}),
    ],
)
def test_options_are_spelled_its_way(options: dict[str, Any], choice: dict[str, Any]) -> None:
    body = body_of("anthropic", *HISTORY, options={**options, "temperature": 0})
    assert (body["tool_choice"], body["temperature"]) == (choice, 0)
    assert "parallel_tool_calls" not in body


@pytest.mark.parametrize(
    ("uri", "version"),
    [
        ("https://x.example/models/claude:streamRawPredict", "vertex-2023-10-16"),
        ("https://x.example/model/c/invoke-with-response-stream?a=b", "bedrock-2023-05-31"),
    ],
)
def test_clouds_name_the_version_in_the_body_and_the_model_in_the_address(
    uri: str, version: str
) -> None:
    body = body_of("anthropic", *HISTORY, uri=uri)
    assert body["anthropic_version"] == version
    assert body.keys().isdisjoint({"model", "stream"})


def test_the_api_itself_gets_the_version_as_a_header() -> None:
    request = next_request(Provider(b"").task(dialect="anthropic"), [user("?")], (), {})
    assert ("anthropic-version", "2023-06-01") in request.headers


def test_thoughts_go_back_only_where_they_are_wanted() -> None:
    call = ToolCall("c1", "get_weather", "{}")
    turn = assistant("Let me look.", [call]) | {"reasoning_content": "I must look."}
    said = body_of("anthropic", user("?"), turn, field="reasoning_content")["messages"][1]
    assert [it["type"] for it in said["content"]] == ["thinking", "text", "tool_use"]
    assert said["content"][0]["thinking"] == "I must look."
    silent = body_of("anthropic", user("?"), turn)["messages"][1]
    assert [it["type"] for it in silent["content"]] == ["text", "tool_use"]
