"""Requests in each dialect that agents ask in: the same history, spelled as the API wants it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.asking import BODIES, request_of
from harness.conversation.messages import assistant, tool_result, user
from harness.errors import UsageError
from harness.judging.conversations.chat_form import calls_of, messages_of, role_of, text_of
from harness.turns.calls import ToolCall
from tests.conversation.conversation_provider import TOOLS, Provider

CALL = ToolCall("c1", "get_weather", '{"city": "Oslo"}')
HISTORY = (user("?"), assistant(None, [CALL]), tool_result("c1", "clear"), assistant("Clear."))


def body_of(dialect: str, *messages: dict[str, Any]) -> dict[str, Any]:
    task = Provider(b"").task(dialect=dialect)
    body: dict[str, Any] = json.loads(request_of(task, messages, TOOLS[:1], {}).body)
    return body


@pytest.mark.parametrize("dialect", sorted(BODIES))
def test_every_dialect_says_the_same(dialect: str) -> None:
    found = messages_of(dialect, body_of(dialect, *HISTORY))
    assert list(map(role_of, found)) == ["user", "assistant", "tool", "assistant"]
    assert [text_of(each) for each in found] == ["?", "", "clear", "Clear."]
    ((call_id, name, arguments),) = calls_of(found[1])
    assert (name, json.loads(arguments)) == ("get_weather", {"city": "Oslo"})
    assert found[2]["tool_call_id"] == call_id  # type: ignore[index]  # an object


@given(st.lists(st.sampled_from(HISTORY), max_size=4))
def test_cohere_gets_no_null(messages: list[dict[str, Any]]) -> None:
    body = body_of("cohere", *messages)
    assert all(None not in each.values() for each in body["messages"])
    assert len(body["messages"]) == len(messages)


def test_what_nobody_can_ask_in_is_refused_with_what_can() -> None:
    with pytest.raises(UsageError, match="dialect 'gemini'") as caught:
        body_of("gemini", *HISTORY)
    assert "cohere, mistral, ollama, openai-chat" in caught.value.hint
