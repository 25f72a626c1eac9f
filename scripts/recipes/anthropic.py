"""Anthropic's messages API: content blocks, what ends them, and what imitations make of both."""

import json
from typing import Any

import msgspec

from harness.dialects.anthropic.writer_options import WriterOptions
from harness.turns.deltas import Delta, StreamFailure, ToolCallStart, UsageDelta
from harness.wire.aws import encode_event, encode_exception, wrap_chunk
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Edit,
    Recipe,
    Reply,
    append,
    call,
    each,
    fails,
    finish,
    fragments,
    insert,
    raw,
    reasoning,
    stream,
    text,
    tokens,
)
from scripts.recipes.tools import declarations

_JSON = "application/json"
_MESSAGES = "anthropic/claude-sonnet-4-5"
_BRIDGE = "compatible/claude"
_BEDROCK = "aws-bedrock/anthropic.claude-sonnet-4-5"
_VERTEX = "google-vertex/claude-sonnet-4-5"


def _body(asked: Asked) -> Json:
    messages = [{"role": "user", "content": asked.question}, *asked.later]
    body: Json = {"model": asked.model, "stream": True, "max_tokens": 1024, "system": asked.system}
    tools = [_tool(declared["function"]) for declared in declarations(asked.tools)]
    return body | ({"tools": tools} if tools else {}) | {"messages": messages}


def _tool(function: Json) -> Json:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


API = Api(
    "anthropic",
    {
        "anthropic": "https://api.anthropic.com/v1/messages",
        "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
        "/invoke-with-response-stream",
        "compatible": "https://llm.example.com/v1/messages",
        "google-vertex": "https://us-east5-aiplatform.googleapis.com/v1/projects/example"
        "/locations/us-east5/publishers/anthropic/models/{model}:streamRawPredict",
    },
    _body,
)

_CALL = tuple(call("get_weather", '{"city": "Oslo"}', call_id="toolu_a"))
_TURN: tuple[Delta, ...] = (*_CALL, *tokens(412, 58), *finish("tool_use"))
_OPEN = (ToolCallStart(0, "toolu_a", "get_weather"), *fragments('{"city": "Os', pieces=2))
_TWO = (
    *call("get_weather", '{"city": "Oslo"}', call_id="toolu_a"),
    *call("get_weather", '{"city": "Bergen"}', index=1, call_id="toolu_b"),
    *tokens(420, 101),
    *finish("tool_use"),
)


def _recipe(
    name: str, reply: Reply, *, tools: tuple[str, ...] = ("get_weather",), by: str = _MESSAGES
) -> Recipe:
    return Recipe(f"{by}/{name}", "What is the weather in Oslo?", tools, (reply,), api=API)


def _said(*deltas: Delta, edits: tuple[Edit, ...] = (), **spelling: Any) -> Reply:  # noqa: ANN401 - the switches of Spelling
    # The API counts in each message; only what is an error and nothing else has no message.
    counted = any(isinstance(delta, UsageDelta) for delta in deltas)
    counts = () if counted or isinstance(deltas[0], StreamFailure) else tokens(412, 58)
    return stream(deltas, counts, edits=edits, spelling=WriterOptions(**spelling))


def _bridge(name: str, *deltas: Delta, edits: tuple[Edit, ...] = (), **spelling: Any) -> Recipe:  # noqa: ANN401 - as above
    """Return a recipe for what a bridge to another API writes; one call where nothing is said."""
    return _recipe(name, _said(*(deltas or _TURN), edits=edits, **spelling), by=_BRIDGE)


def _event(kind: str, **fields: object) -> bytes:
    payload = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {payload}\n\n".encode()


def _block(index: int, block: Json, *deltas: Json) -> tuple[bytes, ...]:
    """Return the events of one block."""
    start = _event("content_block_start", index=index, content_block=block)
    later = (_event("content_block_delta", index=index, delta=delta) for delta in deltas)
    return (start, *later, _event("content_block_stop", index=index))


def _in_message(line: bytes) -> bytes:
    return encode_event(wrap_chunk(line.rstrip()), "chunk")


def _from_bedrock(*deltas: Delta, edits: tuple[Edit, ...] = ()) -> Reply:
    """Return a reply whose events are framed as Bedrock does."""
    reply = _said(*deltas, edits=(each(_in_message), *edits), framing="lines", metrics=True)
    return msgspec.structs.replace(reply, content_type="application/vnd.amazon.eventstream")


_SEARCH = (
    *_block(
        1,
        {"type": "server_tool_use", "id": "srvtoolu_a", "name": "web_search", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"query": "Oslo'},
        {"type": "input_json_delta", "partial_json": ' weather"}'},
    ),
    *_block(
        2,
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_a",
            "content": [
                {
                    "type": "web_search_result",
                    "title": "Oslo",
                    "url": "https://example.com",
                    "encrypted_content": "RXhhbXBsZQ==",
                    "page_age": None,
                }
            ],
        },
    ),
    *_block(
        3,
        {
            "type": "mcp_tool_use",
            "id": "mcptoolu_a",
            "name": "echo",
            "server_name": "s",
            "input": {},
        },
        {"type": "input_json_delta", "partial_json": "{}"},
    ),
)
_CITATION = {
    "type": "char_location",
    "cited_text": "Snow.",
    "document_index": 0,
    "document_title": "Weather",
    "start_char_index": 0,
    "end_char_index": 5,
    "file_id": None,
}
_CITED = _event(
    "content_block_delta", index=0, delta={"type": "citations_delta", "citation": _CITATION}
)
_REDACTED = _block(0, {"type": "redacted_thinking", "data": "RXhhbXBsZQ=="})
_THROTTLED = encode_exception(b'{"message": "Too many tokens"}', "throttlingException")
_OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_NOT_FOUND = [{"error": {"code": 404, "message": "Model was not found.", "status": "NOT_FOUND"}}]
_OTHER_API = (
    b'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [{"index": 0, '
    b'"delta": {"content": "Hello"}, "finish_reason": null}]}\n\n'
    b"data: [DONE]\n\n"
)


def _plain(value: object, status: int = 200) -> Reply:
    return raw(json.dumps(value).encode(), status=status, content_type=_JSON)


# The API's own contract.
_CONTRACT = (
    _recipe("call", _said(*_TURN)),
    _recipe("text-then-call", _said(*text("Let me ", "check 雪."), *_TURN)),
    _recipe("parallel", _said(*_TWO)),
    _recipe(
        "no-arguments",
        _said(*call("get_time", "", call_id="toolu_a"), *finish("tool_use")),
        tools=("get_time",),
    ),
    _recipe(
        "no-arguments-no-fragment",
        _said(*call("get_time", "", call_id="toolu_a"), *finish("tool_use"), input="fragments"),
        tools=("get_time",),
    ),
    _recipe("thinking-and-call", _said(*reasoning("They want ", "the weather."), *_TURN)),
    _recipe(
        "redacted-thinking",
        _said(*text("Snow."), *finish("end_turn"), edits=(insert(2, *_REDACTED),), index="sparse"),
    ),
    _recipe("server-tools", _said(*_TURN, server_tool=True)),
    _recipe(
        "server-tools-and-text",
        _said(*text("Let me ", "search."), *finish("pause_turn"), edits=(insert(-2, *_SEARCH),)),
    ),
    _recipe(
        "citations", _said(*text("Snow", "."), *finish("end_turn"), edits=(insert(4, _CITED),))
    ),
    _recipe("unknown-types", _said(*text("Snow."), *_TURN, unknown=True, ping="everywhere")),
    _recipe("whole-in-start", _said(*_TURN, whole="in-start")),
    _recipe("document", _said(*text("Let me check."), *_TURN, whole="document")),
)

# How a message ends.
_ENDINGS = (
    _recipe("stop-sequence", _said(*text("One, two"), *tokens(9, 4), *finish("stop_sequence"))),
    _recipe("refusal", _said(*text("I can"), *finish("refusal"))),
    _recipe("window-exceeded", _said(*text("And so"), *finish("model_context_window_exceeded"))),
    _recipe("max-tokens-in-input", _said(*_OPEN, *finish("max_tokens"))),
    _recipe(
        "max-tokens-in-parameter",
        _said(
            *call("get_weather", '{"city": "Oslo"}', call_id="toolu_a"),
            *call("write_file", '{"path": "a.txt"}', index=1, call_id="toolu_b"),
            *finish("max_tokens"),
        ),
        tools=("get_weather", "write_file"),
    ),
    _recipe(
        "fine-grained-invalid",
        _said(
            *call("search", '{"query": Dave, "limit": 1}', call_id="toolu_a"),
            *finish("tool_use"),
            input="fragments",
        ),
        tools=("search",),
    ),
    _recipe("error-in-call", _said(*_OPEN, *fails("overloaded_error", "Overloaded"))),
    _recipe("error-first", _said(*fails("invalid_request_error", "messages: too long"))),
    _recipe("cut-in-call", _said(*_OPEN, *fails("interrupted"))),
    _recipe("http-529", _plain(_OVERLOADED, status=529)),
    _recipe("empty-body", _said(*fails("empty_stream"))),
)

# What clouds and imitations make of it.
_SPELLED = (
    _bridge(
        "input-in-start",
        *call("show_order", '{"order": 123456789012345678901}', call_id="toolu_a"),
        *finish("tool_use"),
        input="in-start",
    ),
    _bridge("start-input-and-fragments", input="start-and-fragments"),
    _bridge("start-input-absent", start_input="absent", input="fragments"),
    _bridge("no-event-lines", event_line="absent"),
    _bridge("json-lines", framing="lines"),
    _bridge("json-list", framing="list"),
    _bridge("index-zero", *text("Let me check."), *_TWO, index="zero"),
    _bridge("index-absent", *_TWO, index="absent"),
    _bridge("blocks-not-closed", *_TWO, block_stop=False),
    _bridge(
        "fragments-after-stop",
        *_OPEN,
        *finish("tool_use"),
        edits=(
            insert(
                -2,
                _event("content_block_stop", index=0),
                _event(
                    "content_block_delta",
                    index=0,
                    delta={"type": "input_json_delta", "partial_json": 'lo"}'},
                ),
            ),
        ),
    ),
    _bridge(
        "fragments-without-start",
        *text("Let me check."),
        *finish("tool_use"),
        edits=(
            insert(
                -2,
                _event(
                    "content_block_delta",
                    index=7,
                    delta={"type": "input_json_delta", "partial_json": '{"city": "Oslo"}'},
                ),
            ),
        ),
    ),
    _bridge("text-without-start", *text("Let me ", "check."), *_TURN, text_at="no-start"),
    _bridge("message-stop-missing", message_stop=False),
    _bridge("done-at-end", done=True),
    _bridge("end-turn-with-call", *_CALL, *finish("end_turn")),
    _bridge("signature-on-call", signature="on-calls"),
    _recipe("another-api", raw(_OTHER_API), by=_BRIDGE),
    _recipe(
        "call",
        _from_bedrock(*text("Let me check."), *_TURN),
        by=_BEDROCK,
    ),
    _recipe("exception-in-call", _from_bedrock(*_OPEN, edits=(append(_THROTTLED),)), by=_BEDROCK),
    _recipe("call", _said(*_TURN), by=_VERTEX),
    _recipe("http-404", _plain(_NOT_FOUND, status=404), by=_VERTEX),
)
RECIPES = (*_CONTRACT, *_ENDINGS, *_SPELLED)
