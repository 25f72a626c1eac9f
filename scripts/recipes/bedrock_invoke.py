"""Bedrock's invoke calls: the events of a model's own API, each wrapped in an AWS message."""

from harness.dialects.openai_chat.writer_options import WriterOptions as ChatSpelling
from harness.wire.aws import encode_event, wrap_chunk
from scripts.recipes.asking import OPENAI_CHAT, Api
from scripts.recipes.kit import (
    Edit,
    Recipe,
    Reply,
    call,
    each,
    finish,
    reasoning,
    tokens,
)

_INVOKE = (
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/invoke-with-response-stream"
)
_AWS = "application/vnd.amazon.eventstream"
_GPT_OSS = Api("openai-chat", {"aws-bedrock": _INVOKE}, OPENAI_CHAT.body)


def _as_message(event: bytes) -> bytes:
    """Return a server-sent event as Bedrock sends it."""
    return encode_event(wrap_chunk(event.removeprefix(b"data: ").rstrip()), "chunk")


_AS_MESSAGES: Edit = each(_as_message)

RECIPES = (
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
