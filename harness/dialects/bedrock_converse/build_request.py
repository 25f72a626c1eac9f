"""Build a request of Amazon Bedrock's Converse API from a history.

Each block is an object with one member, and tools are in `toolConfig`. The address names the model
and requests the stream. Reasoning is sent back only as text, because a turn does not store its
signature. Source: Amazon Bedrock API reference, `ConverseStream`.
"""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json
from harness.turns.turn import Tool


def build_request(spec: kit.RequestSpec) -> Json:
    """Return the body of a `ConverseStream` request."""
    instructions, messages = kit.split_instructions(spec.messages)
    body: Json = {"system": [_text(instructions)]} if instructions else {}
    body |= {"messages": kit.blocks_by_speaker(messages, _BLOCKS, spec)}
    return body | _tools(spec) | spec.other_options


def _tools(spec: kit.RequestSpec) -> Json:
    """Return the member with the tools; {} if there are none.

    The API has no field that limits the model to one call at a time.
    """
    if not spec.tools:
        return {}
    config: Json = {"tools": [{"toolSpec": _tool(tool)} for tool in spec.tools]}
    config |= {"toolChoice": {"tool": {"name": spec.required_tool}}} if spec.required_tool else {}
    return {"toolConfig": config}


def _tool(tool: Tool) -> Json:
    """Return a declaration. It has no empty description, because the API refuses one."""
    described = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **described, "inputSchema": {"json": kit.schema_of(tool)}}


def _text(text: str) -> Json:
    return {"text": text}


def _call(call_id: str, name: str, arguments: Json) -> Json:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def _result(call_id: str, name: str, result: str) -> Json:  # noqa: ARG001 - all form are called alike
    return {"toolResult": {"toolUseId": call_id, "content": [_text(result)]}}


def _thought(text: str) -> Json:
    return {"reasoningContent": {"reasoningText": {"text": text}}}


_BLOCKS: Final = kit.BlockFormat("assistant", _text, _call, _result, _thought)


def _first_body(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    return {
        "messages": [{"role": "user", "content": [_text(question)]}],
        "system": [_text(instructions)],
        "inferenceConfig": {"maxTokens": 1024},
        **_tools(spec),
    }


REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/converse-stream"
        },
        _first_body,
    )
}
