"""A Cohere request -> what the model was asked with: model, tools, system text.

Version 2 has messages and JSON Schema; version 1 a preamble and tools whose parameters are
described one by one, which become a schema here. Never raises, whatever the body.
Source: https://docs.cohere.com/reference/chat and /reference/chat-v1
"""

from typing import Any, Final

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool

_SYSTEM_ROLES: Final = frozenset(("system", "developer", "SYSTEM"))
# Python's names for types, which version 1 takes, -> those of JSON Schema.
_TYPES: Final = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - other dialects name the model in the address
    """Return what the request body `value`, sent to `uri`, asks for."""
    return ChatRequest(
        model=as_text(value.get("model")),
        tools=tuple(map(_tool, dicts(value.get("tools")))),
        system=_system(value),
        stream=value.get("stream") is True,
        tools_known=True,
    )


def _tool(declared: dict[str, Any]) -> Tool:
    function = declared.get("function")
    if isinstance(function, dict):
        return tool(function.get("name"), function.get("description"), function.get("parameters"))
    schema = _schema(declared.get("parameter_definitions"))
    return tool(declared.get("name"), declared.get("description"), schema)


def _schema(definitions: object) -> dict[str, Any]:
    """Return the JSON Schema of version 1's parameters."""
    items = definitions.items() if isinstance(definitions, dict) else ()
    known = {name: told for name, told in items if isinstance(told, dict)}
    return {
        "type": "object",
        "properties": {name: _property(told) for name, told in known.items()},
        "required": [name for name, told in known.items() if told.get("required") is True],
    }


def _property(told: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one parameter; a type that is not known allows anything."""
    kind = as_text(told.get("type")).partition("[")[0].lower()
    name = _TYPES.get(kind, kind)
    return {"type": name} if name in _TYPES.values() else {}


def _system(value: dict[str, Any]) -> str:
    messages = (*dicts(value.get("chat_history")), *dicts(value.get("messages")))
    texts = [
        text_of(message.get("content")) or as_text(message.get("message"))
        for message in messages
        if as_text(message.get("role")) in _SYSTEM_ROLES
    ]
    return "\n".join(filter(None, (as_text(value.get("preamble")), *texts)))
