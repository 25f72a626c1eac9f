"""Records of each log, written after its documentation, become the turns that they hold."""

import copy
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
    "otlp": (
        span(request__model="m", output__messages=OUTPUT, provider__name="openai"),
        ("openai-chat", "", "", 1),
        {"reads", "request", "bytes"},
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
