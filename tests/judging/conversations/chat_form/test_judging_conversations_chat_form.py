"""Requests of any dialect are read as messages in one form; no bytes are too odd."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.history.check import history_problems
from harness.conversation.replies import next_request
from harness.conversation.task import Task
from harness.dialects.table import AGENT_DIALECTS, message_form, request_body
from harness.providers import Capabilities
from harness.turns.deltas import ToolCall
from harness.turns.messages import assistant, calls_of, role_of, text_of, tool_result, user
from harness.turns.turn import Tool


def a_task(dialect: str) -> Task:
    return Task((), (), send=lambda _: None, call_tool=lambda _n, _a: None, dialect=dialect)  # type: ignore[arg-type,return-value]  # nobody asks it


def test_ollamas_history_is_whole_once_its_ids_are_given_back() -> None:
    calls = [ToolCall("c1", "get", '{"a": 1}'), ToolCall("c2", "get", '{"a": 2}')]
    history = [user("Hi"), assistant(None, calls), tool_result("c1", "x"), tool_result("c2", "y")]
    request = next_request(a_task("ollama"), history, (Tool("get"),), {})
    body = request_body(request.body) or {}
    messages = message_form("ollama").messages_of(body)
    assert history_problems(messages, Capabilities()) == ()
    assert message_form("ollama").tool_names(body) == ("get",)
    orphan = message_form("ollama").messages_of({"messages": body["messages"][2:]})
    assert {each.quirk for each in history_problems(orphan, Capabilities())} == {
        "HIST-ORPHAN-RESULT"
    }


def test_ollama_wants_objects() -> None:
    call = {"function": {"name": "get", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    messages = message_form("ollama").messages_of({"messages": [user("Hi"), message]})
    found = {each.quirk for each in history_problems(messages, Capabilities())}
    assert "HIST-ARGS-INVALID" in found


# Members of a body that hold messages, tools or instructions in some dialect.
MEMBERS = (
    *("messages", "tools", "system", "input", "instructions", "contents", "request"),
    "toolConfig",
)
WORDS = (
    *("role", "content", "tool_calls", "function", "name", "arguments", "tool_name", "id"),
    *("type", "text", "thinking", "signature", "tool_use", "tool_result", "tool_use_id"),
    *("call_id", "output", "function_call", "function_call_output", "reasoning", "summary"),
    *("parts", "functionCall", "functionResponse", "response", "args", "model", "thought"),
    *("systemInstruction", "functionDeclarations", "toolUse", "toolResult", "toolUseId", "json"),
    *("reasoningContent", "reasoningText", "toolSpec"),
    *MEMBERS,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["assistant", *WORDS]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(JSON, st.sampled_from([*sorted(AGENT_DIALECTS), "tgi"]))
def test_no_body_is_too_odd(value: object, dialect: str) -> None:
    for body in (value, dict.fromkeys(MEMBERS, value), {key: [value] for key in MEMBERS}):
        read = request_body(json.dumps(body).encode()) or {}
        messages = message_form(dialect).messages_of(read)
        history_problems(messages, Capabilities())
        message_form(dialect).tool_names(read)
        message_form(dialect).options_of(read)
        for message in messages:
            (
                text_of(message),
                role_of(message),
                list(calls_of(message)),
            )


@given(st.binary())
def test_bytes_that_are_no_json_hold_nothing(body: bytes) -> None:
    assert isinstance((request_body(body) or {}), dict)
