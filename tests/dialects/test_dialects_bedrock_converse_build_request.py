"""What Bedrock's Converse demands of a request, whatever the history is."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.dialects.bedrock_converse.build_request import build_request
from harness.dialects.kit.build_request import RequestSpec
from harness.dialects.table import DIALECTS
from harness.providers import capabilities_of
from harness.turns.deltas import ToolCall
from harness.turns.messages import assistant, system, user
from tests.conversation.conversation_histories import POLICY_NAMES, histories
from tests.conversation.conversation_provider import WEATHER
from tests.conversation.conversation_requests import HISTORY, body_of

CAPABILITIES = capabilities_of("aws-bedrock", DIALECTS["bedrock-converse"].id_pattern)


@given(st.data(), POLICY_NAMES)
def test_sides_take_turns_and_results_follow_their_calls(data: st.DataObject, policy: str) -> None:
    messages = body_of("bedrock-converse", *data.draw(histories(CAPABILITIES, policy)))["messages"]
    roles = [each["role"] for each in messages]
    assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
    for before, after in pairwise([*messages, {"content": []}]):
        calls = [it["toolUse"]["toolUseId"] for it in before["content"] if "toolUse" in it]
        results = (it["toolResult"] for it in after["content"] if "toolResult" in it)
        assert [it["toolUseId"] for it in results] == calls
        assert all(re.fullmatch(CAPABILITIES.tool_id_pattern, each) for each in calls)
        assert all(it["text"].strip() for it in before["content"] if "text" in it)


def test_the_address_names_the_model_and_tools_have_a_config() -> None:
    body = body_of("bedrock-converse", system("Be kind."), *HISTORY)
    assert body.keys() == {"system", "messages", "toolConfig"}
    assert body["system"] == [{"text": "Be kind."}]
    (spec,) = body["toolConfig"]["tools"]
    assert spec["toolSpec"]["inputSchema"] == {"json": WEATHER.parameters}
    assert body["messages"][2]["content"] == [
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "clear"}]}}
    ]


def test_a_tool_that_is_not_described_has_no_empty_description() -> None:
    tool = replace(WEATHER, description="")
    body = build_request(RequestSpec("m", "", (user("?"),), (tool,)))
    assert "description" not in body["toolConfig"]["tools"][0]["toolSpec"]


def test_options_are_spelled_its_way() -> None:
    options = {"tool_choice": {"function": {"name": "f"}}, "parallel_tool_calls": False, "a": 1}
    body = body_of("bedrock-converse", *HISTORY, options=options)
    assert body["toolConfig"]["toolChoice"] == {"tool": {"name": "f"}}
    assert body["a"] == 1
    assert body.keys().isdisjoint(options.keys() - {"a"})


def test_thoughts_go_back_only_where_they_are_wanted() -> None:
    turn = assistant(None, [ToolCall("c1", "f", "{}")]) | {"reasoning_content": "I must look."}
    said = body_of("bedrock-converse", user("?"), turn, field="reasoning_content")["messages"][1]
    assert said["content"][0] == {"reasoningContent": {"reasoningText": {"text": "I must look."}}}
    assert len(body_of("bedrock-converse", user("?"), turn)["messages"][1]["content"]) == 1
