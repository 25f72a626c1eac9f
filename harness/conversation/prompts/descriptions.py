"""Describe tools as text, for models without a field for tools.

One block for each tool: `### name`, its description, then a line for each parameter with its type,
whether it is required, and its description. Parameters inside parameters are indented. A JSON
Schema may come from any source: one that cannot be parsed becomes `any`, only references into the
same schema are followed, and depth and number of steps are bounded.
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from harness.conversation.wording import TEXTS, DescriptionTexts, Language
from harness.turns.turn import Tool, referenced_schema

Schema = dict[str, Any]

MOST_VALUES: Final = 40
_MOST_STEPS: Final = 10_000
_MOST_DEPTH: Final = 8
_ANY: Final = "any"
_CHOICES: Final = ("anyOf", "oneOf")
# A type that only its own keywords tell.
_TYPE_KEYWORDS: Final = {
    "properties": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
}
# The first that fits; true and false are whole numbers too.
_KINDS: Final = (
    (type(None), "null"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)
_BOUNDS: Final = (("minimum", "at_least"), ("maximum", "at_most"), ("format", "format"))


class SchemaReader:
    """Reads the JSON Schema of one tool's parameters."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._steps = 0

    def resolved(self, value: object, depth: int = 0) -> Schema:
        """Return a part of the schema, with its `$ref` followed and its `allOf` merged."""
        self._steps += 1
        if not isinstance(value, dict) or depth > _MOST_DEPTH or self._steps > _MOST_STEPS:
            return {}
        schema = value
        if isinstance(value.get("$ref"), str):
            rest = {key: item for key, item in value.items() if key != "$ref"}
            target = referenced_schema(self._root, value["$ref"])
            schema = {**self.resolved(target, depth + 1), **rest}
        for part in _list(schema.get("allOf")):
            schema = _joined(schema, self.resolved(part, depth + 1))
        return schema

    def type_of(self, value: object, depth: int = 0) -> str:
        """Return the type that a part of the schema describes, in a few words."""
        return " | ".join(dict.fromkeys(self._types(value, depth)))

    def _types(self, value: object, depth: int) -> list[str]:
        schema = self.resolved(value)
        if depth > _MOST_DEPTH:
            return [_ANY]
        options = [option for key in _CHOICES for option in _list(schema.get(key))]
        if options and "type" not in schema:
            return [name for option in options for name in self._types(option, depth + 1)]
        return [self._named(name, schema, depth) for name in _type_names(schema)]

    def _named(self, name: str, schema: Schema, depth: int) -> str:
        if name == "array" and "items" in schema:
            return f"array<{self.type_of(schema['items'], depth + 1)}>"
        values = schema.get("additionalProperties")
        if name == "object" and isinstance(values, dict) and not schema.get("properties"):
            return f"object<string, {self.type_of(values, depth + 1)}>"
        return name

    def objects(self, value: object, depth: int = 0) -> tuple[Schema, ...]:
        """Return the object schemas with properties that the value, or its items, may match."""
        schema = self.resolved(value)
        if isinstance(schema.get("properties"), dict) and schema["properties"]:
            return (schema,)
        if depth > _MOST_DEPTH:
            return ()
        inner = [schema[key] for key in ("items", "additionalProperties") if key in schema]
        inner += [option for key in _CHOICES for option in _list(schema.get(key))]
        return tuple(found for part in inner for found in self.objects(part, depth + 1))


def iter_notes(schema: Schema, words: DescriptionTexts) -> Iterator[str]:
    """Yield further facts in the schema as text: choices, default, bounds."""
    if _list(schema.get("enum")):
        yield words.one_of.format(_values(schema["enum"], words))
    if "const" in schema:
        yield words.always.format(json_text(schema["const"]))
    for key, word in _BOUNDS:
        if isinstance(schema.get(key), str | int | float):
            yield getattr(words, word).format(schema[key])
    if "default" in schema and schema["default"] is not None:
        yield words.default.format(json_text(schema["default"]))


def json_text(value: object) -> str:
    """Return a value as JSON, without escapes for characters outside ASCII."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _values(values: list[object], words: DescriptionTexts) -> str:
    shown = " | ".join(map(json_text, values[:MOST_VALUES]))
    hidden = len(values) - MOST_VALUES
    return f"{shown} ({words.more.format(hidden)})" if hidden > 0 else shown


def _type_names(schema: Schema) -> list[str]:
    named = schema.get("type")
    names = (
        [named] if isinstance(named, str) else [it for it in _list(named) if isinstance(it, str)]
    )
    if not names:
        names = [kind for key, kind in _TYPE_KEYWORDS.items() if key in schema]
    values = [*_list(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]
    return names or [_kind(value) for value in values] or [_ANY]


def _kind(value: object) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), _ANY)


def _joined(schema: Schema, part: Schema) -> Schema:
    both = {**part, **schema}
    properties = {**_dict(part.get("properties")), **_dict(schema.get("properties"))}
    required = [*_list(part.get("required")), *_list(schema.get("required"))]
    return both | ({"properties": properties} if properties else {}) | {"required": required}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> Schema:
    return value if isinstance(value, dict) else {}


# Depth of described parameters inside parameters; below it, only the type is given.
_MOST_LEVELS: Final = 5


def describe(tools: Iterable[Tool], language: Language = "en") -> str:
    """Return the description of all tools, with an empty line between them."""
    return "\n\n".join(_tool(tool, language) for tool in tools)


def _tool(tool: Tool, language: Language) -> str:
    try:
        # Unlike JSON, this format keeps NaN apart from null and 1 apart from 1.0.
        packed = msgspec.msgpack.encode(tool)
    except (TypeError, ValueError, OverflowError, RecursionError):  # it is not JSON
        return _described(tool, TEXTS[language].description)
    return _described_once(packed, language)


@lru_cache(maxsize=256)
def _described_once(packed: bytes, language: Language) -> str:
    """Return the description of a tool. It is cached, because an agent sends it in each request."""
    tool = msgspec.msgpack.decode(packed, type=Tool)
    return _described(tool, TEXTS[language].description)


def _described(tool: Tool, words: DescriptionTexts) -> str:
    parameters = list(_Parameters(tool.parameters, words).lines())
    head = [words.parameters, *parameters] if parameters else [words.no_parameters]
    description = tool.description.strip()
    return "\n".join((f"### {tool.name}", *([description] if description else []), *head))


class _Parameters:
    """Writes the lines that describe one tool's parameters."""

    def __init__(self, schema: Schema, words: DescriptionTexts) -> None:
        self._schema = schema
        self._read = SchemaReader(schema)
        self._words = words

    def lines(self) -> Iterator[str]:
        return self._below(self._schema, 1, frozenset())

    def _below(self, value: object, level: int, above: frozenset[str]) -> Iterator[str]:
        """Yield the lines of the parameters in `value`; do not follow the references in `above`."""
        objects = self._read.objects(value) if level <= _MOST_LEVELS else ()
        for number, found in enumerate(objects, start=1):
            inside = level
            if len(objects) > 1:
                yield f"{'  ' * level}- {self._words.option.format(number)}"
                inside += 1
            yield from self._members(found, inside, above)

    def _members(self, found: Schema, level: int, above: frozenset[str]) -> Iterator[str]:
        required = found.get("required")
        for name, value in found["properties"].items():
            needed = isinstance(required, list) and name in required
            yield f"{'  ' * level}- {self._parameter(name, value, needed=needed)}"
            inner = _references(value)
            if not inner & above:
                yield from self._below(value, level + 1, above | inner)

    def _parameter(self, name: str, value: object, *, needed: bool) -> str:
        schema, words = self._read.resolved(value), self._words
        need = words.required if needed else words.optional
        facts = (self._read.type_of(value), need, *iter_notes(schema, words))
        description = schema.get("description")
        meaning = " ".join(description.split()) if isinstance(description, str) else ""
        return f"{name} ({words.separator.join(facts)}){words.colon + meaning if meaning else ''}"


def _references(value: object) -> frozenset[str]:
    """Return the `$ref` values of a parameter's schema and of its items."""
    found = value if isinstance(value, dict) else {}
    items = found.get("items")
    parts = (found, items if isinstance(items, dict) else {})
    return frozenset(part["$ref"] for part in parts if isinstance(part.get("$ref"), str))
