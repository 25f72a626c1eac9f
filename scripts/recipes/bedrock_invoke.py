"""Bedrock's invoke calls: the events of a model's own API, each wrapped in an AWS message."""

import json

from harness.dialects.bedrock_llama.spelling import Spelling
from harness.dialects.openai_chat.spelling import Spelling as ChatSpelling
from harness.wire.aws_event_stream import encode_event
from harness.wire.bedrock_chunk import wrapped
from scripts.recipes.asking import OPENAI_CHAT, Api, Asked, Json
from scripts.recipes.kit import (
    Edit,
    Recipe,
    Reply,
    call,
    each,
    fails,
    finish,
    raw,
    reasoning,
    stream,
    text,
    tokens,
)

_INVOKE = (
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/invoke-with-response-stream"
)
_AWS = "application/vnd.amazon.eventstream"


def _llama_body(asked: Asked) -> Json:
    return {"prompt": asked.question, "max_gen_len": 64}


_LLAMA = Api("bedrock-llama", {"aws-bedrock": _INVOKE}, _llama_body)
_GPT_OSS = Api("openai-chat", {"aws-bedrock": _INVOKE}, OPENAI_CHAT.body)


def _llama(name: str, reply: Reply) -> Recipe:
    cassette = f"aws-bedrock/meta.llama3-70b-instruct-v1/{name}"
    return Recipe(cassette, "In winter the forest", (), (reply,), api=_LLAMA)


def _as_message(event: bytes) -> bytes:
    """Return a server-sent event as Bedrock sends it."""
    return encode_event(wrapped(event.removeprefix(b"data: ").rstrip()), "chunk")


_AS_MESSAGES: Edit = each(_as_message)
_DOCUMENT = {
    "generation": " turns white.",
    "prompt_token_count": 5,
    "generation_token_count": 4,
    "stop_reason": "stop",
}

RECIPES = (
    _llama(
        "text",
        stream(
            text(" turns", " tür", "kis 雪", "."), tokens(5, 5), finish("stop"), spelling=Spelling()
        ),
    ),
    _llama(
        "length",
        stream(
            text(" turns", " white"),
            tokens(5, 2),
            finish("length"),
            spelling=Spelling(finish="with-text", metrics=False),
        ),
    ),
    _llama(
        "exception",
        stream(
            text(" turns"),
            fails("modelTimeoutException", "Model processing timed out."),
            spelling=Spelling(),
        ),
    ),
    _llama(
        "end-in-message",
        stream(
            text(" turns", " white", "."),
            finish("stop"),
            spelling=Spelling(),
            edits=(lambda events: (*events[:2], events[2][:90]),),
        ),
    ),
    _llama("document", raw(json.dumps(_DOCUMENT).encode(), content_type="application/json")),
    Recipe(
        "aws-bedrock/openai.gpt-oss-120b-1/invoke-call",
        "What does a.txt say?",
        ("read_file",),
        (
            Reply(
                (
                    *reasoning("A file ", "to read."),
                    *call("read_file", '{"path": "a.txt"}', call_id="chatcmpl-tool-a"),
                    *finish("tool_calls"),
                    *tokens(151, 42),
                ),
                ChatSpelling(arguments="with-start", done=False),
                (_AS_MESSAGES,),
                content_type=_AWS,
            ),
        ),
        api=_GPT_OSS,
    ),
)
