"""Bedrock's Converse API: blocks by index, AWS messages, and what happens to both."""

import json

from harness.dialects.bedrock_converse.writer_options import WriterOptions
from harness.turns.deltas import ArgumentsDelta, ToolCallEnd, ToolCallStart
from harness.wire.aws import encode_event
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
    end_before,
    fails,
    finish,
    fragments,
    insert,
    raw,
    reasoning,
    stream,
    swap,
    text,
    tokens,
)
from scripts.recipes.tools import declarations

_CLAUDE = "anthropic.claude-haiku-4-5"
_NOVA = "amazon.nova-lite-v1"
_GPT_OSS = "openai.gpt-oss-120b-1"
_JSON = "application/json"
_MESSAGES = WriterOptions()
_ASKS_WEATHER = "Compare the weather in Oslo and Bergen."
_ASKS_FILE = "What does a.txt say?"


def _body(asked: Asked) -> Json:
    question: Json = {"role": "user", "content": [{"text": asked.question}]}
    body: Json = {
        "messages": [question, *asked.later],
        "system": [{"text": asked.system}],
        "inferenceConfig": {"maxTokens": 1024},
    }
    tools = [{"toolSpec": _spec(tool["function"])} for tool in declarations(asked.tools)]
    return body | ({"toolConfig": {"tools": tools}} if tools else {})


def _spec(function: Json) -> Json:
    schema = {"json": function["parameters"]}
    return {
        "name": function["name"],
        "description": function["description"],
        "inputSchema": schema,
    }


API = Api(
    "bedrock-converse",
    {
        "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
        "/converse-stream",
    },
    _body,
)


def _recipe(
    name: str,
    reply: Reply,
    question: str = _ASKS_FILE,
    tools: tuple[str, ...] = ("read_file", "get_time"),
    *,
    model: str = _CLAUDE,
) -> Recipe:
    return Recipe(f"aws-bedrock/{model}/{name}", question, tools, (reply,), api=API)


def _two(name: str, reply: Reply) -> Recipe:
    return _recipe(name, reply, _ASKS_WEATHER, ("get_weather",))


_OSLO = '{"city": "Oslo"}'
_BERGEN = '{"city": "Bergen"}'
_ONE_CALL = (*call("read_file", '{"path": "a.txt"}', call_id="tooluse_a"), *finish("tool_use"))
_ONE = (*_ONE_CALL, *tokens(402, 38))
_TWO = (
    *call("get_weather", _OSLO, call_id="tooluse_a"),
    *call("get_weather", _BERGEN, index=1, call_id="tooluse_b"),
    *finish("tool_use"),
    *tokens(431, 74),
)
_INTERLEAVED = (
    ToolCallStart(0, "tooluse_a", "get_weather"),
    ToolCallStart(1, "tooluse_b", "get_weather"),
    *fragments('{"city": ', index=0, pieces=1),
    *fragments('{"city": ', index=1, pieces=1),
    *fragments('"Oslo"}', index=0, pieces=2),
    *fragments('"Bergen"}', index=1, pieces=2),
    ToolCallEnd(0),
    ToolCallEnd(1),
    *finish("tool_use"),
    *tokens(431, 74),
)
_NO_INPUT = (
    ToolCallStart(0, "tooluse_a", "get_time"),
    ToolCallEnd(0),
    *finish("tool_use"),
    *tokens(390, 9),
)
# The order in which one hosted model sends its fragments makes no JSON of them.
_SCRAMBLED = (
    ToolCallStart(0, "tooluse_a", "get_weather"),
    *(ArgumentsDelta(0, piece) for piece in ('{\n":', "slo", '"city', '"', ' "O\n}')),
    ToolCallEnd(0),
    *finish("tool_use"),
)
_CUT_CALL = (
    *text("Reading it."),
    ToolCallStart(0, "tooluse_a", "read_file"),
    *fragments('{"path": "a', pieces=2),
    ToolCallEnd(0),
    *finish("max_tokens"),
    *tokens(402, 16),
)
_DOCUMENT = {
    "metrics": {"latencyMs": 734},
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "A file.", "signature": "c2ln"}}},
                {"text": "Let me look."},
                {
                    "toolUse": {
                        "toolUseId": "tooluse_a",
                        "name": "read_file",
                        "input": {"path": "a.txt", "limit": 12345678901234567890},
                    }
                },
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 402, "outputTokens": 51, "totalTokens": 453},
}


def _event(name: str, **fields: object) -> bytes:
    return encode_event(json.dumps({**fields, "p": "abcdefgh"}).encode(), name)


_UNKNOWN = _event("safetyTrace", trace={"text": "nothing to see", "stopReason": "none"})
_CITATION = _event(
    "contentBlockDelta",
    delta={"citation": {"title": "A map", "sourceContent": [{"text": "a city"}]}},
    contentBlockIndex=0,
)


def _server_tool(index: int) -> tuple[bytes, ...]:
    """Return the blocks of a tool that the provider runs: its call, and the result."""
    use = {"toolUseId": "tooluse_s", "name": "nova_code_interpreter", "type": "server_tool_use"}
    result = {"toolUseId": "tooluse_s", "status": "success", "type": "nova_code_interpreter_result"}
    snippet = {"toolUse": {"input": '{"snippet": "6 * 7"}'}}
    printed = {"toolResult": [{"json": {"stdOut": "42", "stdErr": "", "exitCode": 0}}]}
    return (
        _event("contentBlockStart", start={"toolUse": use}, contentBlockIndex=index),
        _event("contentBlockDelta", delta=snippet, contentBlockIndex=index),
        _event("contentBlockStop", contentBlockIndex=index),
        _event("contentBlockStart", start={"toolResult": result}, contentBlockIndex=index + 1),
        _event("contentBlockDelta", delta=printed, contentBlockIndex=index + 1),
        _event("contentBlockStop", contentBlockIndex=index + 1),
    )


RECIPES = (
    _recipe("call", stream(_ONE, spelling=_MESSAGES)),
    _recipe(
        "text-and-call",
        stream(
            text("Let me ", "look — ", "ein Blick genügt 🔍."), _ONE, spelling=WriterOptions(gaps=1)
        ),
    ),
    _recipe(
        "text",
        stream(
            text("Grüße aus ", "東京 und ", "Zürich."),
            finish("end_turn"),
            tokens(21, 12),
            spelling=WriterOptions(block_starts="all"),
            edits=(insert(3, _UNKNOWN, _CITATION),),
        ),
        tools=(),
        model=_NOVA,
    ),
    _recipe(
        "reasoning-and-call",
        stream(
            reasoning("The user wants ", "a file."),
            text("Let me look."),
            _ONE,
            spelling=_MESSAGES,
        ),
    ),
    _recipe(
        "no-input", stream(_NO_INPUT, spelling=WriterOptions(tool_type="given")), "What time is it?"
    ),
    _recipe(
        "empty-fragment",
        stream(_NO_INPUT, spelling=WriterOptions(input="empty-first")),
        "What time is it?",
    ),
    _two("two-calls", stream(_TWO, spelling=WriterOptions(input="empty-first"))),
    _two("two-calls-without-stops", stream(_TWO, spelling=WriterOptions(block_stops=False))),
    _two("interleaved", stream(_INTERLEAVED, spelling=WriterOptions(first_index=1))),
    _recipe(
        "scrambled",
        stream(_SCRAMBLED, tokens(88, 30), spelling=_MESSAGES),
        "How is the weather in Oslo?",
        ("get_weather",),
        model=_GPT_OSS,
    ),
    _recipe(
        "server-tool",
        stream(
            _ONE,
            spelling=WriterOptions(tool_type="given", input="whole", first_index=2),
            edits=(insert(1, *_server_tool(0)),),
        ),
        model=_NOVA,
    ),
    _recipe("end-turn-with-call", stream(_ONE_CALL[:-1], finish("end_turn"), spelling=_MESSAGES)),
    _recipe("max-tokens-in-call", stream(_CUT_CALL, spelling=_MESSAGES)),
    _recipe(
        "guardrail",
        stream(
            text("Sorry, I cannot answer that."),
            finish("guardrail_intervened"),
            tokens(34, 0),
            spelling=_MESSAGES,
        ),
        tools=(),
    ),
    _recipe(
        "malformed-tool-use",
        stream(
            call("read_file", '{"path": "a.txt"}', call_id="tooluse_a"),
            finish("malformed_tool_use"),
            tokens(402, 38),
            spelling=_MESSAGES,
        ),
        model=_NOVA,
    ),
    _recipe(
        "unknown-reason",
        stream(text("Done."), finish("paused_for_review"), spelling=_MESSAGES),
        tools=(),
    ),
    _recipe(
        "exception-after-text",
        stream(
            text("Let me look"),
            fails("throttlingException", "Too many tokens, please wait before trying again."),
            spelling=_MESSAGES,
        ),
    ),
    _recipe(
        "exception-in-call",
        stream(
            _ONE_CALL[:-1],
            fails("modelStreamErrorException", "The model stopped in the middle of a tool."),
            spelling=_MESSAGES,
        ),
    ),
    _recipe(
        "end-before-stop", stream(_ONE, spelling=_MESSAGES, edits=(end_before(b"stopReason"),))
    ),
    _recipe(
        "end-in-message",
        stream(_ONE, spelling=_MESSAGES, edits=(cut_after(b'"stopReason": "tool'),)),
    ),
    _recipe("damaged", stream(_ONE, spelling=_MESSAGES, edits=(swap(rb"\"a.", rb"\"b."),))),
    _recipe("as-lines", stream(_TWO, spelling=WriterOptions(framing="lines", padding=False))),
    _recipe("document", raw(json.dumps(_DOCUMENT).encode(), content_type=_JSON)),
    _recipe(
        "http-400",
        raw(
            json.dumps({"message": "The model returned no tool configuration."}).encode(),
            status=400,
            content_type=_JSON,
        ),
    ),
    _recipe("no-event", Reply(spelling=_MESSAGES)),
)
