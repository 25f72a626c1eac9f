"""Anthropic's messages: the system text apart, content in blocks, `max_tokens` always.

Thoughts go back only to servers that take them as text: Anthropic wants its own with their
signature, which a turn does not keep, and asks for none where thinking is not switched on, as
here. Source: Anthropic API reference, `POST /v1/messages`; Amazon Bedrock and Vertex AI,
Anthropic models, which name the model in the address and the version in the body.
"""

from typing import Final

from harness.dialects.kit.build_request import (
    BlockFormat,
    Json,
    RequestForm,
    RequestSpec,
    blocks_by_speaker,
    question_of,
    schema_of,
    split_instructions,
)
from harness.turns.turn import Tool

# What every model of the API may write.
_MOST_TOKENS: Final = 4096
# End of a cloud's address -> the version that its body names.
_CLOUDS: Final = (
    (":streamRawPredict", "vertex-2023-10-16"),
    ("/invoke-with-response-stream", "bedrock-2023-05-31"),
)


def build_request(asked: RequestSpec) -> Json:
    """Return the body for Anthropic's messages API."""
    instructions, messages = split_instructions(asked.messages)
    said = blocks_by_speaker(messages, _BLOCKS, asked)
    body = _model_or_version(asked) | {"max_tokens": _MOST_TOKENS}
    body |= {"system": instructions} if instructions else {}
    body |= {"messages": [{"role": role, "content": blocks} for role, blocks in said]}
    return body | _tools(asked) | asked.others


def _model_or_version(asked: RequestSpec) -> Json:
    path = asked.uri.partition("?")[0]
    for end, version in _CLOUDS:
        if path.endswith(end):
            return {"anthropic_version": version}
    return {"model": asked.model, "stream": True}


def _tools(asked: RequestSpec) -> Json:
    if not asked.tools:
        return {}
    choice: Json = {"type": "tool", "name": asked.wanted} if asked.wanted else {"type": "auto"}
    choice |= {"disable_parallel_tool_use": True} if asked.serial else {}
    tools = [_tool(tool) for tool in asked.tools]
    return {"tools": tools} | ({"tool_choice": choice} if asked.wanted or asked.serial else {})


def _tool(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": schema_of(tool)}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _call(call_id: str, name: str, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, name: str, result: str) -> Json:  # noqa: ARG001 - all words are called alike
    return {"type": "tool_result", "tool_use_id": call_id, "content": result}


def _thought(text: str) -> Json:
    return {"type": "thinking", "thinking": text, "signature": ""}


_BLOCKS: Final = BlockFormat("assistant", _text, _call, _result, _thought)


def _plain(asked: RequestSpec) -> Json:
    instructions, question = question_of(asked)
    start = {"model": asked.model, "stream": True, "max_tokens": 1024, "system": instructions}
    tools = [_tool(tool) for tool in asked.tools]
    messages = [{"role": "user", "content": question}]
    return {**start, **({"tools": tools} if tools else {}), "messages": messages}


_VERTEX: Final = "aiplatform.googleapis.com/v1/projects/example/locations/us-east5"
REQUEST_FORMS: Final = {
    "": RequestForm(
        {
            "anthropic": "https://api.anthropic.com/v1/messages",
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/invoke-with-response-stream",
            "compatible": "https://llm.example.com/v1/messages",
            "google-vertex": f"https://us-east5-{_VERTEX}/publishers/anthropic/models/{{model}}"
            ":streamRawPredict",
        },
        _plain,
    )
}
