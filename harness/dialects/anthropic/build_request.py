"""Build a request of Anthropic's Messages API from a history.

The system text is a separate member, content is a list of blocks, and `max_tokens` is always there.
Thinking is sent back with its signature, and redacted thinking unchanged, before the calls that
followed it. Thinking without a signature is sent only to servers that accept it as text.
Source: Anthropic API reference, `POST /v1/messages`; Amazon Bedrock and Vertex AI, Anthropic
models, which name the model in the address and the version in the body.
"""

from collections.abc import Callable
from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json
from harness.turns.turn import Tool

# What every model of the API may write.
_MOST_TOKENS: Final = 4096
# End of a cloud's address -> the version that its body names.
_CLOUDS: Final = (
    (":streamRawPredict", "vertex-2023-10-16"),
    ("/invoke-with-response-stream", "bedrock-2023-05-31"),
)


def build_request(spec: kit.RequestSpec) -> Json:
    """Return the body of a request of Anthropic's Messages API."""
    instructions, messages = kit.split_instructions(spec.messages)
    body = _model_or_version(spec) | {"max_tokens": _MOST_TOKENS}
    body |= {"system": instructions} if instructions else {}
    body |= {"messages": kit.blocks_by_speaker(messages, _BLOCKS, spec)}
    return body | _tools(spec) | spec.other_options


def _model_or_version(spec: kit.RequestSpec) -> Json:
    path = spec.uri.partition("?")[0]
    for end, version in _CLOUDS:
        if path.endswith(end):
            return {"anthropic_version": version}
    return {"model": spec.model, "stream": True}


def _tools(spec: kit.RequestSpec) -> Json:
    if not spec.tools:
        return {}
    fields: Json = {"tools": [_tool(tool) for tool in spec.tools]}
    if spec.required_tool:
        fields["tool_choice"] = {"type": "tool", "name": spec.required_tool}
    if spec.is_serial:
        choice = fields.setdefault("tool_choice", {"type": "auto"})
        choice["disable_parallel_tool_use"] = True
    return fields


def _tool(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": kit.schema_of(tool)}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _call(call_id: str, name: str, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, name: str, result: str) -> Json:  # noqa: ARG001 - all form are called alike
    return {"type": "tool_result", "tool_use_id": call_id, "content": result}


def _thought(text: str) -> Json:
    return {"type": "thinking", "thinking": text, "signature": ""}


_SEALED: Final[dict[str, Callable[[str, Json], Json]]] = {
    "signature": lambda value, block: block | {"signature": value},
    "redacted_thinking": lambda value, _: {"type": "redacted_thinking", "data": value},
}
_BLOCKS: Final = kit.BlockFormat("assistant", _text, _call, _result, _thought, sealed=_SEALED)


def _first_body(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    start = {"model": spec.model, "stream": True, "max_tokens": 1024, "system": instructions}
    tools = [_tool(tool) for tool in spec.tools]
    messages = [{"role": "user", "content": question}]
    return {**start, **({"tools": tools} if tools else {}), "messages": messages}


_VERTEX: Final = "aiplatform.googleapis.com/v1/projects/example/locations/us-east5"
REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {
            "anthropic": "https://api.anthropic.com/v1/messages",
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/invoke-with-response-stream",
            "compatible": "https://llm.example.com/v1/messages",
            "google-vertex": f"https://us-east5-{_VERTEX}/publishers/anthropic/models/{{model}}"
            ":streamRawPredict",
        },
        _first_body,
    )
}
