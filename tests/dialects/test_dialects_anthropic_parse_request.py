"""What a messages request asks for, from body and address."""

from typing import Any

from harness.conversation.history.check import history_problems
from harness.dialects.anthropic.parse_request import parse_request
from harness.dialects.kit.parse_request import ChatRequest
from harness.dialects.table import message_form
from harness.judging.conversations.evidence import parsed_capabilities
from harness.providers import Capabilities
from harness.turns.messages import text_of
from harness.turns.turn import Tool
from tests.tables import each_row


def read(*messages: dict[str, Any], **members: Any) -> tuple[object, ...]:  # noqa: ANN401 - members of the body
    return message_form("anthropic").messages_of({"messages": list(messages), **members})


def called(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of the block
    block = {"type": "tool_use", "id": "t1", "name": "get", "input": {}, **members}
    return {"role": "assistant", "content": [block]}


def answered(content: object, *more: dict[str, Any]) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    return {"role": "user", "content": [result, *more]}


ASKED = {"role": "user", "content": "?"}


def quirks(*messages: dict[str, Any]) -> set[str]:
    problems = history_problems(read(*messages), Capabilities())
    return {each.quirk for each in problems}


def test_texts_and_blocks_of_text_are_the_same() -> None:
    block = [{"type": "text", "text": "Hi"}]
    assert read({"role": "user", "content": "Hi"}, system="Be kind.") == read(
        {"role": "user", "content": block}, system=[{"type": "text", "text": "Be kind."}]
    )


def test_a_result_may_be_text_or_blocks_and_the_question_after_it_is_a_message() -> None:
    more = {"type": "text", "text": "And now?"}
    for content in ("4", [{"type": "text", "text": "4"}]):
        found = read(ASKED, called(), answered(content, more))
        assert [text_of(each) for each in found] == ["?", "", "4", "And now?"]
        assert history_problems(found, Capabilities()) == ()


def test_an_input_that_is_no_object_and_a_result_that_is_no_text_are_seen() -> None:
    assert quirks(ASKED, called(input="{}"), answered("4")) == {"HIST-ARGS-INVALID"}
    assert quirks(ASKED, called(), answered({"a": 1})) == {"HIST-RESULT-NON-STRING"}
    assert quirks(ASKED, {"role": "assistant", "content": []}) == {"HIST-EMPTY-TURN"}


def test_results_of_a_turn_in_two_messages_are_a_problem_and_those_of_two_turns_are_not() -> None:
    both = called()["content"] + called(id="t2")["content"]
    turn, second = {"role": "assistant", "content": both}, answered("7")["content"]
    second[0]["tool_use_id"] = "t2"
    later = {"role": "user", "content": second}
    assert quirks(ASKED, turn, answered("4"), later) == {"HIST-RESULTS-GROUPED"}
    assert quirks(ASKED, turn, answered("4", *second)) == set()
    assert quirks(ASKED, called(), answered("4"), called(id="t2"), later) == set()


def test_a_question_before_the_result_leaves_the_call_without_one() -> None:
    late = answered("4")
    late["content"].insert(0, {"type": "text", "text": "Go on."})
    assert quirks(ASKED, called(), late) == {"HIST-MISSING-RESULT", "HIST-ORPHAN-RESULT"}


def test_what_only_the_provider_reads_is_named_and_a_picture_stays_what_it_is() -> None:
    turn = called()
    turn["content"][:0] = [
        {"type": "thinking", "thinking": "Hm.", "signature": "abc"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "server_tool_use", "id": "s1", "name": "search", "input": {}},
    ]
    picture = {"type": "image", "source": {}}
    found = read(ASKED, turn, answered("4", picture))
    assert isinstance(found[1], dict)
    assert isinstance(found[3], dict)
    assert found[1]["sealed"] == [
        {"kind": "signature", "value": "abc"},
        {"kind": "redacted_thinking", "value": "xyz"},
        {"kind": "server_tool_use"},
    ]
    assert found[1]["reasoning_content"] == "Hm."
    assert found[3]["content"] == [picture]


def test_what_a_provider_wants_beside_calls_is_said_in_blocks() -> None:
    wants = Capabilities(content_beside_calls="empty", reasoning_field="thinking")
    turn = called()
    assert {it.quirk for it in history_problems(read(ASKED, turn, answered("4")), wants)} == {
        "HIST-CONTENT-NULL",
        "HIST-REASONING-REQUIRED",
    }
    turn["content"].insert(0, {"type": "thinking", "thinking": "Hm.", "signature": ""})
    assert (
        history_problems(
            read(ASKED, turn, answered("4")), parsed_capabilities(message_form("anthropic"), wants)
        )
        == ()
    )
    assert parsed_capabilities(message_form("openai-chat"), wants) is wants


def test_options_are_what_is_neither_messages_nor_tools() -> None:
    body = {"messages": [], "system": "x", "tools": [], "max_tokens": 9}
    assert message_form("anthropic").options_of(body) == {"max_tokens": 9}


ANTHROPIC = "https://api.anthropic.com/v1/messages"
VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v1%3A0"


def test_a_request() -> None:
    schema = {"type": "object"}
    value = {
        "model": "claude-sonnet-4-5",
        "stream": True,
        "system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}],
        "messages": [{"role": "system", "content": "And brief."}, {"role": "user", "content": "x"}],
        "tools": [
            {"name": "f", "description": "d", "input_schema": schema},
            {"type": "custom", "name": "g", "input_schema": schema},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "mcp_toolset", "mcp_server_name": "s"},
        ],
    }
    assert parse_request(ANTHROPIC, value) == ChatRequest(
        model="claude-sonnet-4-5",
        tools=(Tool("f", "d", schema), Tool("g", "", schema), Tool("bash")),
        system="Be kind.\nAnd brief.",
        stream=True,
        tools_known=True,
    )


@each_row(
    ("uri", "model", "stream"),
    [
        (f"{VERTEX}/anthropic/models/claude-x@2025:streamRawPredict", "claude-x@2025", True),
        (f"{VERTEX}/anthropic/models/claude-x%402025:rawPredict", "claude-x@2025", False),
        (f"{BEDROCK}/invoke-with-response-stream", "anthropic.claude-v1:0", True),
        (f"{BEDROCK}/invoke", "anthropic.claude-v1:0", False),
        (ANTHROPIC, "", False),
        ("", "", False),
    ],
)
def test_clouds_name_the_model_in_the_address(uri: str, model: str, *, stream: bool) -> None:
    found = parse_request(uri, {"anthropic_version": "x", "messages": []})
    assert (found.model, found.stream) == (model, stream)


@each_row("wrong", [None, 5, "x", [], [5], {}, [{"type": 5, "name": []}]])
def test_invalid_members_are_ignored(wrong: object) -> None:
    keys = ("model", "stream", "system", "messages", "tools")
    assert parse_request(ANTHROPIC, dict.fromkeys(keys, wrong)) is not None
