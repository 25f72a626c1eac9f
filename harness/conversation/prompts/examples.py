"""Make example arguments of a tool, for models that often write invalid JSON.

Models with unreliable JSON copy an example better than they follow a description. The example has
only required parameters, in the order of the schema. A value is the first that the schema contains
(a choice, a constant, a default), or a placeholder of its type.
"""

from typing import Any, Final

from harness.conversation.prompts.descriptions import SchemaReader
from harness.turns.turn import Tool

_PLACEHOLDER: Final = "VALUE"
_OF_TYPE: Final = {"integer": 1, "number": 1, "boolean": True, "null": None}
_MOST_DEPTH: Final = 5


def example_arguments(tool: Tool) -> dict[str, Any]:
    """Return arguments with the required parameters of `tool`; {} if it has none."""
    return _object(SchemaReader(tool.parameters), tool.parameters, 0)


def _object(reader: SchemaReader, value: object, depth: int) -> dict[str, Any]:
    schema = reader.resolved(value)
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict) or depth > _MOST_DEPTH:
        return {}
    return {
        name: _value(reader, properties[name], depth + 1) for name in properties if name in required
    }


def _value(reader: SchemaReader, value: object, depth: int) -> object:
    schema = reader.resolved(value)
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    kind = reader.type_of(schema).split(" | ")[0]
    if kind.startswith("object"):
        return _object(reader, next(iter(reader.objects(schema)), schema), depth)
    if kind.startswith("array"):
        has_item = "items" in schema and depth <= _MOST_DEPTH
        return [_value(reader, schema["items"], depth + 1)] if has_item else []
    bound = schema.get("minimum")
    return bound if kind in _OF_TYPE and bound is not None else _OF_TYPE.get(kind, _PLACEHOLDER)
