"""A generateContent request -> what the model was asked with: model, tools, system text.

The model and the wish for a stream stand in the address. The body is hostile and often not
kept: whatever cannot be read is empty. Never raises.
Source: Gemini API and Vertex AI API references, `generateContent`.
"""

import re
from collections.abc import Iterator
from typing import Any

from harness.dialects.gemini.partial_args import member
from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool

_MODEL = re.compile(r"/models/([^/:?]+)(?::|%3A)(\w+)")


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:
    """Return what the request body `value`, sent to `uri`, asks for."""
    match = _MODEL.search(uri)
    named, method = match.groups() if match else ("", "")
    inner = value.get("request")  # Code Assist wraps the request
    body = inner if isinstance(inner, dict) else value
    system = member(body, "systemInstruction", "system_instruction")
    return ChatRequest(
        model=named or as_text(value.get("model")).removeprefix("models/"),
        tools=tuple(_tools(body)),
        system=text_of(system.get("parts")) if isinstance(system, dict) else text_of(system),
        stream=method.startswith("stream") or ":streamGenerateContent" in uri,
        tools_known=True,
    )


def _tools(body: dict[str, Any]) -> Iterator[Tool]:
    """Yield the declared functions; search, code execution and the like are none."""
    for item in dicts(body.get("tools")):
        for declared in dicts(member(item, "functionDeclarations", "function_declarations")):
            schema = declared.get("parameters") or member(
                declared, "parametersJsonSchema", "parameters_json_schema"
            )
            yield tool(declared.get("name"), declared.get("description"), schema)
