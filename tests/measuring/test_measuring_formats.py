"""Records of each log, written after its documentation, become the turns that they hold."""

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, UnreadableError
from harness.measuring.formats import turns_of
from harness.measuring.measured_turn import MeasuredTurn, measure_turn

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a": 1}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "m",
    "output": [
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "f",
            "arguments": "{}",
            "status": "completed",
        }
    ],
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
ANTHROPIC_ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
SSE = (
    'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
MESSAGES = [{"role": "user", "content": "Hi"}]


def span(**attributes: object) -> dict[str, Any]:
    listed = [
        {"key": f"gen_ai.{name.replace('__', '.')}", "value": {"stringValue": value}}
        for name, value in attributes.items()
    ]
    one = {"startTimeUnixNano": "1760000000000000000", "attributes": listed}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


OUTPUT = (
    '[{"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm"}, {"type": "tool_call",'
    ' "id": "1", "name": "f", "arguments": {"a": 1}}], "finish_reason": "tool_call"}]'
)
INPUT = '[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]'
LITELLM = {
    "call_type": "acompletion",
    "status": "success",
    "model": "m",
    "response": CHAT,
    "messages": MESSAGES,
    "custom_llm_provider": "openai",
    "startTime": 1760000000.5,
    "model_parameters": {"tools": [TOOL]},
}
LANGFUSE = {
    "type": "GENERATION",
    "trace_id": "t",
    "provided_model_name": "m",
    "start_time": "2026-05-29 13:46:19.963000",
    "input": {"messages": MESSAGES, "tools": [TOOL]},
    "output": CHAT["choices"][0]["message"],  # type: ignore[index]
}
# Name -> record, (dialect, kind of failure, blame, calls), and what the log lacks.
LOGS: dict[str, tuple[dict[str, Any], tuple[str, str, str, int], set[str]]] = {
    "stream": (
        {"body": SSE, "dialect": "openai-chat", "model": "m", "time": "2026-01-02T03:04:05Z"},
        ("openai-chat", "", "", 0),
        {"reads", "request"},
    ),
    "openai batch": (
        {"custom_id": "1", "response": {"status_code": 200, "body": CHAT}, "error": None},
        ("openai-chat", "", "", 1),
        {"reads", "request", "time", "bytes"},
    ),
    "openai batch of responses": (
        {"custom_id": "1", "response": {"status_code": 200, "body": RESPONSE}},
        ("openai-responses", "", "", 1),
        {"reads", "request", "time", "bytes"},
    ),
    "openai batch, expired": (
        {"custom_id": "1", "response": None, "error": {"code": "batch_expired", "message": "x"}},
        ("openai-chat", "failed: batch_expired", "provider", 0),
        {"reads", "request", "time", "bytes"},
    ),
    "anthropic batch": (
        {"custom_id": "1", "result": {"type": "succeeded", "message": MESSAGE}},
        ("anthropic", "", "", 1),
        {"reads", "request", "time", "bytes"},
    ),
    "anthropic batch, failed": (
        {"custom_id": "1", "result": {"type": "errored", "error": ANTHROPIC_ERROR}},
        ("anthropic", "failed: overloaded_error", "provider", 0),
        {"reads", "request", "time", "bytes"},
    ),
    "litellm": (LITELLM, ("openai-chat", "", "", 1), {"reads", "bytes"}),
    "litellm, another tool": (
        {**LITELLM, "model_parameters": {"tools": [{**TOOL, "function": {"name": "g"}}]}},
        ("openai-chat", "unusable call", "model", 1),
        {"reads", "bytes"},
    ),
    "litellm, no tools": (
        {**LITELLM, "model_parameters": {}},
        ("openai-chat", "", "", 1),
        {"reads", "bytes", "tools"},
    ),
    "otlp": (
        span(request__model="m", output__messages=OUTPUT, provider__name="openai"),
        ("openai-chat", "", "", 1),
        {"reads", "request", "bytes"},
    ),
    "otlp, messages only": (
        span(request__model="m", output__messages=OUTPUT, input__messages=INPUT),
        ("openai-chat", "", "", 1),
        {"reads", "tools", "bytes"},
    ),
    "langfuse, messages only": (
        {**LANGFUSE, "input": MESSAGES},
        ("openai-chat", "", "", 1),
        {"reads", "tools", "bytes", "finish"},
    ),
    "langfuse": (LANGFUSE, ("openai-chat", "", "", 1), {"reads", "bytes", "finish"}),
    "langfuse, failed": (
        {**LANGFUSE, "level": "ERROR", "status_message": "limit"},
        ("openai-chat", "failed: error", "provider", 0),
        {"reads", "bytes"},
    ),
}


def rows(record: dict[str, Any], **mapping: str) -> list[MeasuredTurn]:
    return [measure_turn(turn, "log", 0) for turn in turns_of(record, mapping)]


@pytest.mark.parametrize("name", LOGS)
def test_the_turn_of_each_log(name: str) -> None:
    record, expected, lacks = LOGS[name]
    (row,) = rows(record)
    assert (row.dialect, row.kind, row.blame, row.calls) == expected
    assert set(row.lacks) == lacks
    if expected[1] in ("", "unusable call") and "batch" not in name:
        assert row.model == "m"
    if "time" not in lacks:
        assert row.time.startswith(("2025-10-09", "2026-"))


def test_what_is_no_turn_is_not_one() -> None:
    assert rows({**LANGFUSE, "type": "SPAN"}) == []
    assert rows({"custom_id": "1", "result": {"type": "canceled"}}) == []
    assert rows(span(request__model="m")) == []


def test_a_mapping_names_the_columns_of_a_table() -> None:
    record = {"raw": {"text": SSE}, "llm": "m", "api": "openai-chat"}
    (row,) = rows(record, body="raw.text", model="llm", dialect="api", provider="none.such")
    assert (row.model, row.provider, row.success) == ("m", "unknown", True)


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({"a": 1, "b": 2}, "no known log: its keys are a, b"),
        ({"body": 1, "dialect": "openai-chat"}, "`body`: expected text or JSON, found int"),
        ({"body": SSE, "dialect": "none"}, "unknown dialect 'none'"),
        ({"body": SSE, "dialect": 1}, "`dialect`: expected text, found int"),
        ({"body_base64": "§"}, "`body_base64`: expected base64, found other text"),
        ({"body": SSE, "status": "ok"}, "`status`: expected a number, found str"),
        ({"custom_id": "1", "response": "x"}, "`response`: expected an object, found str"),
        (span(output__messages='[{"role": '), "an attribute of `gen_ai` is not JSON, perhaps cut"),
        (span(output__messages="[]"), "`gen_ai.output.messages` has no message"),
    ],
)
def test_a_wrong_record_is_named(record: dict[str, Any], what: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        rows(record)
    assert caught.value.what.startswith(what)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.data())
def test_no_value_of_a_log_breaks_the_reading(data: st.DataObject) -> None:
    record = copy.deepcopy(LOGS[data.draw(st.sampled_from(sorted(LOGS)))][0])
    place: Any = record
    while True:
        key = data.draw(st.sampled_from(sorted(place))) if isinstance(place, dict) else None
        if key is None or not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            break
        place = place[key]
    if key is not None:
        place[key] = data.draw(JSON)
    try:
        found = rows(record)
    except HarnessError:
        return
    assert all(row.success == (not row.kind) for row in found)


def test_a_span_keeps_its_instructions_prompt_and_id() -> None:
    record = span(
        request__model="m",
        output__messages=OUTPUT,
        system_instructions='[{"type": "text", "content": "You are a guide."}]',
        input__messages='[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]',
        prompt__name="guide",
    )
    record["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"] = "00f067aa0ba902b7"
    (turn,) = turns_of(record, {})
    asked = json.loads(turn.interaction.request.body)["messages"]
    assert asked == [
        {"role": "system", "content": "You are a guide."},
        {"role": "user", "content": "Hi"},
    ]
    assert (turn.prompt, turn.record) == ("guide", "span 00f067aa0ba902b7")
    assert "request" not in turn.lacks


def test_instructions_tell_prompts_apart() -> None:
    texts = ("You are a guide.", "You are a poet.", "You are a guide.")
    found = [
        row.prompt
        for text in texts
        for row in rows(span(output__messages=OUTPUT, system_instructions=json.dumps(text)))
    ]
    assert found[0] == found[2] != found[1]


def test_a_failed_span_without_an_answer_counts() -> None:
    assert rows(span(request__model="m", operation__name="chat")) == []
    record = span(request__model="m", operation__name="chat")
    spans = record["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[0]["attributes"].append({"key": "error.type", "value": {"stringValue": "429"}})
    (row,) = rows(record)
    assert (row.model, row.success, row.blame) == ("m", False, "request")


FLAT = {
    "gen_ai.request.model": "m",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be short.",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.finish_reason": "tool_calls",
    "gen_ai.completion.0.tool_calls.0.id": "c",
    "gen_ai.completion.0.tool_calls.0.name": "f",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
    "llm.request.functions.0.name": "f",
    "llm.request.functions.0.parameters": '{"type": "object"}',
}
PHOENIX = {
    "span_kind": "LLM",
    "context.span_id": "s1",
    "start_time": "2026-01-02T03:04:05+00:00",
    "attributes.llm.model_name": "m",
    "attributes.llm.input_messages": [{"message.role": "user", "message.content": "Hi"}],
    "attributes.llm.output_messages": [
        {
            "message.role": "assistant",
            "message.tool_calls": [
                {
                    "tool_call.id": "c",
                    "tool_call.function.name": "f",
                    "tool_call.function.arguments": '{"a": 1}',
                }
            ],
        }
    ],
    "attributes.llm.tools": [{"tool.json_schema": json.dumps(TOOL)}],
}
REQUEST = {"model": "m", "messages": MESSAGES, "tools": [TOOL]}
HELICONE = {
    "request_id": "r1",
    "request_created_at": "2026-01-02T03:04:05Z",
    "request_body": REQUEST,
    "response_body": CHAT,
    "response_status": 200,
    "provider": "OPENAI",
    "request_properties": {"Helicone-Prompt-Id": "guide"},
}
WEAVE = {
    "id": "w1",
    "op_name": "weave:///e/p/op/openai.chat.completions.create:x",
    "trace_id": "t",
    "started_at": "2026-01-02T03:04:05Z",
    "inputs": REQUEST,
    "output": CHAT,
}
MLFLOW_SPAN = {
    "span_id": "m1",
    "start_time_unix_nano": 1760000000000000000,
    "attributes": {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanInputs": json.dumps(REQUEST),
        "mlflow.spanOutputs": json.dumps(CHAT),
    },
}
MLFLOW = {"info": {"trace_id": "t"}, "data": {"spans": [MLFLOW_SPAN, {"attributes": None}]}}


def otlp(attributes: dict[str, str]) -> dict[str, Any]:
    listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    spans = [{"spanId": "o1", "startTimeUnixNano": "1760000000000000000", "attributes": listed}]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


EXPORTS: dict[str, tuple[dict[str, Any], str]] = {
    "openllmetry": (otlp(FLAT), "span o1"),
    "phoenix, a table": (PHOENIX, "span s1"),
    "phoenix, objects": (
        {
            "span_kind": "LLM",
            "context": {"span_id": "s1"},
            "start_time": "2026-01-02T03:04:05+00:00",
            "attributes": {
                "llm": {
                    key.rpartition(".")[2]: value
                    for key, value in PHOENIX.items()
                    if key.startswith("attributes.llm.")
                }
            },
        },
        "span s1",
    ),
    "helicone": (HELICONE, "request r1"),
    "weave": (WEAVE, "call w1"),
    "mlflow": (MLFLOW, "span m1"),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_the_turn_of_each_export(name: str) -> None:
    record, record_id = EXPORTS[name]
    (row,) = rows(record)
    assert (row.model, row.success, row.calls, row.record) == ("m", True, 1, record_id)
    assert row.time.startswith(("2026-01-02", "2025-10-09"))
    assert "request" not in row.lacks


@pytest.mark.parametrize(
    "record",
    [
        {**HELICONE, "response_status": 429, "response_body": {"error": {"message": "busy"}}},
        {**WEAVE, "output": None, "exception": "Busy"},
        {"info": {}, "data": {"spans": [{**MLFLOW_SPAN, "status": {"code": "STATUS_CODE_ERROR"}}]}},
    ],
)
def test_a_failed_request_of_an_export_counts(record: dict[str, Any]) -> None:
    (row,) = rows(record)
    assert (row.model, row.success, row.calls) == ("m", False, 0)


@pytest.mark.parametrize(
    "record",
    [
        {**WEAVE, "inputs": {"query": "x"}},
        {"info": {}, "data": {"spans": [{"attributes": {"mlflow.spanType": '"TOOL"'}}]}},
        {**PHOENIX, "attributes.llm.output_messages": 1},
    ],
)
def test_what_is_no_call_to_a_model_is_no_turn(record: dict[str, Any]) -> None:
    with suppress(UnreadableError):
        assert rows(record) == []


@given(st.data())
def test_no_value_of_an_export_breaks_the_reading(data: st.DataObject) -> None:
    record = copy.deepcopy(EXPORTS[data.draw(st.sampled_from(sorted(EXPORTS)))][0])
    record[data.draw(st.sampled_from(sorted(record)))] = data.draw(JSON)
    with suppress(HarnessError):
        rows(record)


def test_a_call_left_in_the_text_of_a_logged_answer_is_lost() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    answer = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    (row,) = rows({**LITELLM, "response": {**CHAT, "choices": [{"index": 0, **answer}]}})
    assert (row.success, row.kind) == (False, "lost call")
    (row,) = rows({**LITELLM, "model_parameters": {}, "response": {**CHAT, "choices": [answer]}})
    assert row.success


@pytest.mark.parametrize(
    ("arguments", "signature"),
    [
        ('{"a": ', "parse error · the end of the text"),
        ('{"a": 1}{"a": 2}', "parse error · objects in a row"),
        ("None", "parse error · "),
    ],
)
def test_a_signature_is_the_kind_of_the_parse_error(arguments: str, signature: str) -> None:
    found = set()
    for padding in ("", " "):
        broken = copy.deepcopy(LITELLM)
        call = broken["response"]["choices"][0]["message"]["tool_calls"][0]  # type: ignore[index]
        call["function"]["arguments"] = padding + arguments
        (row,) = rows(broken)
        found.add(row.signature)
    (only,) = found
    assert only.startswith(signature)


def test_an_unknown_log_gets_a_draft_of_its_map() -> None:
    record = {"llm": "m", "payload": {"x": 1}, "raw": {"completion": "x"}, "ts": 1}
    with pytest.raises(UnreadableError) as caught:
        rows(record)
    draft = "body: raw.completion; request: payload; model: llm; time: ts"
    assert f"Pass --map FILE with its columns, such as `{draft}`" in caught.value.what
