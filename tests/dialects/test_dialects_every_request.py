"""Every dialect of the table: requests are parsed to what was built, and no body raises."""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.conversation.history.check import history_problems
from harness.dialects.kit.build_request import RequestSpec
from harness.dialects.table import AGENT_DIALECTS, DIALECTS, message_form, request_body
from harness.errors import UsageError
from harness.judging.conversations.evidence import parsed_capabilities
from harness.providers import Capabilities, capabilities_of
from harness.turns.messages import Message, calls_of, role_of, system, text_of, user
from harness.turns.turn import Tool
from tests.conversation.conversation_histories import POLICY_NAMES, histories
from tests.conversation.conversation_requests import HISTORY, body_of
from tests.tables import each_row

Normalized: TypeAlias = tuple[str, str, tuple[object, ...]]

each_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))
each_agent_dialect = pytest.mark.parametrize("dialect", sorted(AGENT_DIALECTS))
agent_dialects = st.sampled_from(sorted(AGENT_DIALECTS))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "The weather of a city", SCHEMA)
FORMS = [
    (name, variant, provider)
    for name, row in sorted(DIALECTS.items())
    for variant, form in row.request_forms.items()
    for provider in form.addresses
]


def normalized(messages: Iterable[object]) -> list[Normalized]:
    """Return role, text, and calls or the answered call; consecutive messages of a side are one.

    Ids are numbered, because not every API has them; arguments are compared as values.
    """
    numbers: dict[str, int] = {}
    each = [_normalized(message, numbers) for message in messages]
    sides = groupby(each, key=lambda one: one[0] if one[0] != "tool" else str(one))
    return [_joined(tuple(group)) for _, group in sides]


def _normalized(message: object, numbers: dict[str, int]) -> Normalized:
    role = role_of(message)
    if role == "tool":
        assert isinstance(message, dict)
        return role, text_of(message), (numbers.get(message["tool_call_id"]),)
    calls = tuple(calls_of(message))
    numbers |= {call[0]: len(numbers) + at for at, call in enumerate(calls)}
    entries = tuple((numbers[call_id], name, json.loads(text)) for call_id, name, text in calls)
    return role, text_of(message) if text_of(message).strip() else "", entries


def _joined(group: tuple[Normalized, ...]) -> Normalized:
    role = group[0][0]
    between = "\n\n" if role == "system" else ""
    return role, between.join(one[1] for one in group), tuple(x for one in group for x in one[2])


@given(st.data(), agent_dialects, POLICY_NAMES)
def test_a_built_request_is_parsed_to_its_history(
    data: st.DataObject, dialect: str, policy: str
) -> None:
    field = data.draw(st.sampled_from(["", "reasoning_content"]))
    declared = capabilities_of("openai", DIALECTS[dialect].id_pattern)
    capabilities = replace(declared, reasoning_field=field)
    history = data.draw(histories(capabilities, policy))
    found = message_form(dialect).messages_of(body_of(dialect, *history, field=field))
    assert normalized(found) == normalized(history)
    assert history_problems(found, parsed_capabilities(message_form(dialect), capabilities)) == ()


@each_agent_dialect
def test_a_built_request_has_roles_calls_and_tools(dialect: str) -> None:
    body = body_of(dialect, *HISTORY)
    found = message_form(dialect).messages_of(body)
    assert list(map(role_of, found)) == ["user", "assistant", "tool", "assistant"]
    assert [text_of(each) for each in found] == ["?", "", "clear", "Clear."]
    ((call_id, name, arguments),) = calls_of(found[1])
    assert (name, json.loads(arguments)) == ("get_weather", {"city": "Oslo"})
    assert found[2]["tool_call_id"] == call_id  # type: ignore[index]  # an object
    assert message_form(dialect).tool_names(body) == ("get_weather",)
    assert set(message_form(dialect).options_of(body)).isdisjoint(message_form(dialect).fields)


@each_agent_dialect
def test_model_system_text_and_tools_are_parsed_as_they_were_built(dialect: str) -> None:
    row = DIALECTS[dialect]
    assert row.build_request is not None
    uri = next(iter(row.request_forms[""].addresses.values())).replace("{model}", "m-1")
    spec = RequestSpec("m-1", uri, (system("Be brief."), user("?")), (WEATHER,))
    parsed = row.parse_request(uri, row.build_request(spec))
    assert (parsed.model, parsed.system, parsed.stream) == ("m-1", "Be brief.", True)
    assert parsed.tools == (WEATHER,)


@each_row(("dialect", "variant", "provider"), FORMS)
def test_the_request_of_an_emulated_cassette_is_parsed(
    dialect: str, variant: str, provider: str
) -> None:
    row = DIALECTS[dialect]
    form = row.request_forms[variant]
    uri = form.addresses[provider].replace("{model}", "m-1")
    spec = RequestSpec("m-1", uri, (system("Be brief."), user("?")), (WEATHER,))
    body = form.body(spec)
    parsed = row.parse_request(uri, body)
    has_tools = "get_weather" in json.dumps(body)
    assert parsed.model == "m-1"
    assert [tool.name for tool in parsed.tools] == ["get_weather"] * has_tools
    assert parsed.system == ("Be brief." if "Be brief." in json.dumps(body) else "")


@each_row(
    "dialect",
    sorted(n for n in AGENT_DIALECTS if n == "openai-chat" or message_form(n).has_blocks),
)
def test_an_invalid_history_is_found_in_the_request(dialect: str) -> None:
    def quirks(*messages: Message) -> set[str]:
        found = message_form(dialect).messages_of(body_of(dialect, *messages))
        return {each.quirk for each in history_problems(found, Capabilities())}

    assert quirks(*HISTORY) == set()
    assert quirks(HISTORY[0], HISTORY[1], user("And?")) == {"HIST-MISSING-RESULT"}
    assert quirks(HISTORY[0], HISTORY[2]) == {"HIST-ORPHAN-RESULT"}
    middle = {"role": "system", "content": "Be brief."}
    assert quirks(*HISTORY, middle, user("And?")) == {"HIST-SYSTEM-MID"}
    assert quirks(*HISTORY[:3], *HISTORY[1:3]) == {"ID-REUSED-ACROSS-TURNS"}


@given(st.lists(st.sampled_from(HISTORY), max_size=4))
def test_cohere_gets_no_null(messages: list[dict[str, Any]]) -> None:
    body = body_of("cohere", *messages)
    assert all(None not in each.values() for each in body["messages"])
    assert len(body["messages"]) == len(messages)


def test_a_dialect_without_agents_is_refused_with_the_supported_ones() -> None:
    with pytest.raises(UsageError, match="dialect 'tgi'") as caught:
        body_of("tgi", *HISTORY)
    assert "anthropic, bedrock-converse" in caught.value.hint


# Hostile bodies

# Members of a body that contain messages, tools or instructions in some dialect.
MEMBERS = (
    *("messages", "tools", "system", "input", "instructions", "contents", "request", "session"),
    *("toolConfig", "parameters", "functions", "chat_history", "preamble"),
)
WORDS = (
    *("role", "content", "tool_calls", "function", "name", "arguments", "tool_name", "id"),
    *("type", "text", "thinking", "signature", "tool_use", "tool_result", "tool_use_id"),
    *("call_id", "output", "function_call", "function_call_output", "reasoning", "summary"),
    *("parts", "functionCall", "functionResponse", "response", "args", "model", "thought"),
    *("systemInstruction", "functionDeclarations", "toolUse", "toolResult", "toolUseId", "json"),
    *("reasoningContent", "reasoningText", "toolSpec", "parameter_definitions", "custom"),
    *MEMBERS,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["assistant", *WORDS]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6)
    ),
    max_leaves=20,
)


@each_dialect
@given(JSON)
def test_no_body_raises(dialect: str, value: object) -> None:
    for content in (value, dict.fromkeys(MEMBERS, value), {key: [value] for key in MEMBERS}):
        body = request_body(json.dumps(content).encode()) or {}
        DIALECTS[dialect].parse_request("", body)
        messages = message_form(dialect).messages_of(body)
        history_problems(messages, Capabilities())
        message_form(dialect).tool_names(body)
        message_form(dialect).options_of(body)
        for message in messages:
            assert isinstance(text_of(message) + role_of(message), str)
            assert all(isinstance(part, str) for call in calls_of(message) for part in call)


@given(st.binary())
def test_a_body_that_is_not_json_is_no_object(body: bytes) -> None:
    assert isinstance(request_body(body), dict | None)


# Ollama's calls have no ids


def test_ollamas_history_is_complete_with_generated_ids() -> None:
    body = {
        "messages": [
            user("Hi"),
            _ollama_turn({"a": 1}, {"a": 2}),
            {"role": "tool", "tool_name": "get", "content": "x"},
            {"role": "tool", "tool_name": "get", "content": "y"},
        ],
    }
    assert _ollama_quirks(body["messages"]) == set()
    assert _ollama_quirks(body["messages"][2:]) == {"HIST-ORPHAN-RESULT"}


def test_ollamas_arguments_must_be_objects() -> None:
    assert "HIST-ARGS-INVALID" in _ollama_quirks([user("Hi"), _ollama_turn("{}")])


def _ollama_turn(*arguments: object) -> Message:
    calls = [{"function": {"name": "get", "arguments": each}} for each in arguments]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _ollama_quirks(messages: list[Message]) -> set[str]:
    found = message_form("ollama").messages_of({"messages": messages})
    return {each.quirk for each in history_problems(found, Capabilities())}
