"""Parse a request of Cohere's chat API.

Version 2 has messages and JSON Schema. Version 1 has a preamble, and describes the parameters of
tools one by one, which become a schema here.
Source: https://docs.cohere.com/reference/chat and /reference/chat-v1
"""

from typing import Final

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_text, dicts, text_of
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


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return the content of the request `body` that was sent to `uri`."""
    return kit.ChatRequest(
        model=as_text(body.get("model")),
        tools=tuple(map(_tool, dicts(body.get("tools")))),
        system=_system(body),
        stream=body.get("stream") is True,
    )


def _tool(declared: Json) -> Tool:
    function = declared.get("function")
    if isinstance(function, dict):
        return kit.declared_tool(function)
    schema = _schema(declared.get("parameter_definitions"))
    return kit.tool(declared.get("name"), declared.get("description"), schema)


def _schema(definitions: object) -> Json:
    """Return the JSON Schema of version 1's parameters."""
    items = definitions.items() if isinstance(definitions, dict) else ()
    objects = {name: value for name, value in items if isinstance(value, dict)}
    return {
        "type": "object",
        "properties": {name: _property(value) for name, value in objects.items()},
        "required": [name for name, value in objects.items() if value.get("required") is True],
    }


def _property(definition: Json) -> Json:
    """Return the schema of one parameter; an unknown type allows anything."""
    kind = as_text(definition.get("type")).partition("[")[0].lower()
    name = _TYPES.get(kind, kind)
    return {"type": name} if name in _TYPES.values() else {}


def _system(body: Json) -> str:
    messages = (*dicts(body.get("chat_history")), *dicts(body.get("messages")))
    texts = [
        text_of(message.get("content")) or as_text(message.get("message"))
        for message in messages
        if as_text(message.get("role")) in _SYSTEM_ROLES
    ]
    return "\n".join(filter(None, (as_text(body.get("preamble")), *texts)))
