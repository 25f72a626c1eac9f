"""The dialects that the suite reads and writes, by name."""

from functools import lru_cache
from typing import Final

import msgspec

from harness.dialects import (
    anthropic,
    bedrock_converse,
    bedrock_llama,
    cohere,
    dashscope,
    gemini,
    google_interactions,
    mistral,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    tgi,
)
from harness.dialects.kit.dialect import Dialect
from harness.dialects.kit.parse_request import UNKNOWN_REQUEST, ChatRequest, bars_calls
from harness.wire.interaction import Request
from harness.wire.payload import NotJson, decode_json

DIALECTS: Final[dict[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        anthropic.DIALECT,
        bedrock_converse.DIALECT,
        bedrock_llama.DIALECT,
        cohere.DIALECT,
        dashscope.DIALECT,
        gemini.DIALECT,
        google_interactions.DIALECT,
        mistral.DIALECT,
        ollama.DIALECT,
        openai_chat.DIALECT,
        openai_completions.DIALECT,
        openai_responses.DIALECT,
        tgi.DIALECT,
    )
}

_REQUESTS_KEPT = 16


# The same request is read for each replay of its response, some forty times a cell.
@lru_cache(_REQUESTS_KEPT)
def read_request(dialect: str, request: Request) -> ChatRequest:
    """Return what `request` asks for; all empty where it was not kept or cannot be read."""
    known = DIALECTS.get(dialect)
    try:
        value = decode_json(request.body)
    except NotJson:
        return UNKNOWN_REQUEST
    if known is None or not isinstance(value, dict):
        return UNKNOWN_REQUEST
    asked = known.read_request(request.uri, value)
    return msgspec.structs.replace(asked, calls_barred=True) if bars_calls(value) else asked
