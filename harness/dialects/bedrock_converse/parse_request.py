"""A Converse request -> what it asks for. Never raises.

The address names the model and tells a stream; tools are `toolSpec`s with a JSON Schema.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, path_of, tool, unescaped
from harness.turns.turn import Tool

_STREAM = "/converse-stream"


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:
    """Return what the request body `value`, sent to `uri`, asks for."""
    config = value.get("toolConfig")
    declared = dicts(config.get("tools") if isinstance(config, dict) else None)
    return ChatRequest(
        model=_model(uri) or as_text(value.get("modelId")),
        tools=tuple(_tool(entry["toolSpec"]) for entry in declared if _has_spec(entry)),
        system="\n".join(as_text(part.get("text")) for part in dicts(value.get("system"))),
        stream=path_of(uri).endswith(_STREAM),
        tools_known=True,
    )


def _model(uri: str) -> str:
    return unescaped(path_of(uri).partition("/model/")[2].rpartition("/")[0])


def _has_spec(entry: dict[str, Any]) -> bool:
    """A tool of the system or a mark for the cache has none."""
    return isinstance(entry.get("toolSpec"), dict)


def _tool(spec: dict[str, Any]) -> Tool:
    schema = spec.get("inputSchema")
    parameters = schema.get("json") if isinstance(schema, dict) else None
    return tool(spec.get("name"), spec.get("description"), parameters)
