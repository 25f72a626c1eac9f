"""Amazon Bedrock's Converse: blocks told apart by their only member, tools in `toolConfig`.

The address names the model and asks for the stream. Thoughts go back only as text, without the
signature that a turn does not keep. Source: Amazon Bedrock API reference, `ConverseStream`.
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


def build_request(asked: RequestSpec) -> Json:
    """Return the body for `ConverseStream`."""
    instructions, messages = split_instructions(asked.messages)
    body: Json = {"system": [_text(instructions)]} if instructions else {}
    said = blocks_by_speaker(messages, _BLOCKS, asked)
    body |= {"messages": [{"role": role, "content": blocks} for role, blocks in said]}
    return body | _tools(asked) | asked.others


def _tools(asked: RequestSpec) -> Json:
    """Return the declarations; no field says that calls must come one at a time."""
    if not asked.tools:
        return {}
    config: Json = {"tools": [{"toolSpec": _tool(tool)} for tool in asked.tools]}
    config |= {"toolChoice": {"tool": {"name": asked.wanted}}} if asked.wanted else {}
    return {"toolConfig": config}


def _tool(tool: Tool) -> Json:
    """Return a declaration; an empty description is refused, so there is none."""
    described = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **described, "inputSchema": {"json": schema_of(tool)}}


def _text(text: str) -> Json:
    return {"text": text}


def _call(call_id: str, name: str, arguments: Json) -> Json:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def _result(call_id: str, name: str, result: str) -> Json:  # noqa: ARG001 - all words are called alike
    return {"toolResult": {"toolUseId": call_id, "content": [_text(result)]}}


def _thought(text: str) -> Json:
    return {"reasoningContent": {"reasoningText": {"text": text}}}


_BLOCKS: Final = BlockFormat("assistant", _text, _call, _result, _thought)


def _plain(asked: RequestSpec) -> Json:
    instructions, question = question_of(asked)
    return {
        "messages": [{"role": "user", "content": [_text(question)]}],
        "system": [_text(instructions)],
        "inferenceConfig": {"maxTokens": 1024},
        **_tools(asked),
    }


REQUEST_FORMS: Final = {
    "": RequestForm(
        {
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/converse-stream"
        },
        _plain,
    )
}
