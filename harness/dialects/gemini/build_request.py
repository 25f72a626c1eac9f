"""Gemini's contents: the model is `model`, calls and results are parts, results are objects.

The address names the model and asks for the stream. Thought signatures do not go back, since a
turn does not keep them: models before Gemini 3 do without, later ones refuse calls without.
Source: Gemini API reference, `models.generateContent`; Vertex AI takes the same body.
"""

from typing import Final

from harness.dialects.kit.build_request import (
    BlockFormat,
    Json,
    RequestSpec,
    blocks_by_speaker,
    schema_of,
    split_instructions,
)
from harness.turns.turn import Tool


def gemini(asked: RequestSpec) -> Json:
    """Return the body for `streamGenerateContent`."""
    instructions, messages = split_instructions(asked.messages)
    body: Json = {"systemInstruction": {"parts": [_text(instructions)]}} if instructions else {}
    said = blocks_by_speaker(messages, _BLOCKS, asked)
    body |= {"contents": [{"role": role, "parts": parts} for role, parts in said]}
    return body | _tools(asked) | asked.others


def _tools(asked: RequestSpec) -> Json:
    """Return the declarations; no field says that calls must come one at a time."""
    if not asked.tools:
        return {}
    fields: Json = {"tools": [{"functionDeclarations": [_tool(tool) for tool in asked.tools]}]}
    if asked.wanted:
        calling = {"mode": "ANY", "allowedFunctionNames": [asked.wanted]}
        fields["toolConfig"] = {"functionCallingConfig": calling}
    return fields


def _tool(tool: Tool) -> Json:
    schema = schema_of(tool)
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}


def _text(text: str) -> Json:
    return {"text": text}


def _call(call_id: str, name: str, arguments: Json) -> Json:
    return {"functionCall": {"id": call_id, "name": name, "args": arguments}}


def _result(call_id: str, name: str, result: str) -> Json:
    response = {"output": result}
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def _thought(text: str) -> Json:
    return {"text": text, "thought": True}


_BLOCKS: Final = BlockFormat("model", _text, _call, _result, _thought)
