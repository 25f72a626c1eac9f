"""Converse messages as other clients send them, read in OpenAI's form."""

from typing import Any

from harness.conversation.history.check import history_problems
from harness.dialects.table import message_form
from harness.providers import Capabilities
from harness.turns.messages import text_of

ASKED = {"role": "user", "content": [{"text": "?"}]}


def called(*before: dict[str, Any], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of the block
    block = {"toolUse": {"toolUseId": "t1", "name": "get", "input": {}, **members}}
    return {"role": "assistant", "content": [*before, block]}


def gave(content: object) -> dict[str, Any]:
    return {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": content}}]}


def read(*messages: object) -> tuple[object, ...]:
    return message_form("bedrock-converse").messages_of({"messages": list(messages)})


def quirks(*messages: object) -> set[str]:
    return {each.quirk for each in history_problems(read(*messages), Capabilities())}


def test_a_result_is_texts_and_json() -> None:
    found = read(ASKED, called(), gave([{"text": "It is "}, {"json": {"a": 4}}]))
    assert text_of(found[2]) == 'It is {"a": 4}'
    assert history_problems(found, Capabilities()) == ()


def test_what_is_broken_is_seen() -> None:
    assert quirks(ASKED, called(input="{}"), gave([{"text": "4"}])) == {"HIST-ARGS-INVALID"}
    assert quirks(ASKED, called(), gave({"a": 1})) == {"HIST-RESULT-NON-STRING"}
    assert quirks(ASKED, called(), gave([4])) == {"HIST-RESULT-NON-STRING"}
    assert quirks(ASKED, called(), ASKED) == {"HIST-MISSING-RESULT"}
    assert quirks(ASKED, gave([])) == {"HIST-ORPHAN-RESULT"}
    assert quirks(ASKED, {"role": "assistant", "content": []}) == {"HIST-EMPTY-TURN"}
    assert quirks(ASKED, "no message") == {""}


def test_a_picture_is_more_than_text() -> None:
    content = read(ASKED, called(), gave([{"image": {"format": "png"}}]))[2]
    assert isinstance(content, dict)
    assert content["content"] == [{"type": "other", "image": {"format": "png"}}]


def test_signatures_and_what_nobody_may_read_are_named() -> None:
    blocks: tuple[dict[str, Any], ...] = (
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "abc"}}},
        {"reasoningContent": {"redactedContent": "xyz"}},
        {"cachePoint": {"type": "default"}},
    )
    turn = read(ASKED, called(*blocks), gave([]))[1]
    assert isinstance(turn, dict)
    assert turn["sealed"] == [
        {"kind": kind} for kind in ("reasoningText", "redactedContent", "cachePoint")
    ]
    assert turn["reasoning_content"] == "Hm."


def test_tools_stand_in_a_config() -> None:
    tools = [{"toolSpec": {"name": "get"}}, {"cachePoint": {}}]
    assert message_form("bedrock-converse").tool_names({"toolConfig": {"tools": tools}}) == ("get",)
    assert message_form("bedrock-converse").tool_names({"toolConfig": []}) is None
