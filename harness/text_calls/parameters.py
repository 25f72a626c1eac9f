"""Turn parameters that are written without a type into JSON, typed by the tool's JSON Schema.

XML-like dialects write `5` for a number and for a string alike. So a text has at most two
readings: the string of exactly its characters, and the JSON value that it is. Python's `True`,
`False` and `None`, which templates print for JSON's words, count as JSON, and white space around a
JSON value has no meaning. A reading must fit the schema. If both fit, `null` is null if the schema
names null, and the policy `untyped` decides about all else. If none fits, the call gets an error.
A quoted string has no JSON reading, because no template quotes strings. A parameter that the schema
does not list is kept, and one that it requires may be missing: other code judges the arguments.
Numbers keep their digits. Other code judges with the arguments whether they are usable.
Source: the chat templates print strings unchanged and everything else as JSON.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from harness.text_calls.dialect import WrittenCall
from harness.text_calls.policy import Untyped
from harness.text_calls.python import read_python_literal
from harness.turns.exact_json import write_exactly
from harness.turns.strict_json import read_json
from harness.turns.turn import referenced_schema

Schema: TypeAlias = Mapping[str, Any] | bool

_JSON_SPACE: Final = " \t\n\r"
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_SHOWN_CHARACTERS: Final = 40
# Nodes of one schema that are looked at for one value; what lies deeper allows anything.
_MAX_DEPTH: Final = 24
_MAX_NAMES: Final = 4
_ITEM: Final = "item"
_REST: Final = "additionalProperties"
_BRANCHES: Final = ("anyOf", "oneOf")
# Names of types that tools built from Python functions have, and dialects of JSON Schema.
_TYPE_NAMES: Final = {
    name: kind
    for kind, names in {
        "string": "str text varchar char enum",
        "integer": "int int32 int64 long short uint",
        "number": "float double decimal",
        "boolean": "bool",
        "object": "dict mapping map",
        "array": "list tuple set sequence",
        "null": "none nonetype",
    }.items()
    for name in names.split()
}
_CHECKED: Final = frozenset(("string", "integer", "number", "boolean", "null", "array", "object"))


class Json(msgspec.Struct, frozen=True):
    """A value that its markup declares to be JSON, whatever the schema says."""

    text: str


class Exactly(msgspec.Struct, frozen=True):
    """A value that its markup declares to be a string, whatever the schema says."""

    text: str


class Printed(msgspec.Struct, frozen=True):
    """A value without a type, from a template that prints objects and lists as Python does."""

    text: str


class Elements(msgspec.Struct, frozen=True):
    """A value made of named elements: an object, or an array whose elements are called `item`.

    Fields:
        text: the text of a value without elements, which may be a string; else None.
    """

    children: tuple[tuple[str, "Value"], ...]
    text: str | None = None


Value: TypeAlias = str | Json | Exactly | Printed | Elements


class _Reading(msgspec.Struct, frozen=True):
    """One way to understand the text of a value, as a string or as JSON.

    Fields:
        kinds: the JSON Schema types that the value has.
        value: the value, which is compared with `enum` and `const`.
        text: the value as JSON.
    """

    kinds: frozenset[str]
    value: Any
    text: str


class _Refused(Exception):  # noqa: N818 - never leaves this module; it names the parameter
    """The arguments cannot be read. The text of the exception becomes the error of the call."""


def type_parameters(
    parameters: Sequence[tuple[str, Value]],
    schema: Schema,
    name: str = "",
    untyped: Untyped = "as-peers",
) -> WrittenCall:
    """Return the call whose arguments object has these `parameters`, in their order.

    Args:
        parameters: names and values as they were written.
        schema: the JSON Schema of the arguments. A parameter that it does not list may have any
            type.
        name: the name of the tool.
        untyped: how a value is read that may be a string or something else.
    """
    try:
        return WrittenCall(name, _object(parameters, _Root(schema, untyped), schema, ""))
    except _Refused as refused:
        return WrittenCall(name, error=str(refused))
    except RecursionError:
        return WrittenCall(name, error="the parameters are nested too deep")


def declared_names(schema: Schema) -> frozenset[str]:
    """Return the names of the parameters that `schema` declares."""
    root = _Root(schema)
    parts = root.parts(schema)
    return frozenset(str(name) for part in parts for name in as_mapping(part.get("properties")))


def is_text(schema: Schema, name: str, untyped: Untyped) -> bool:
    """Return whether a value of the parameter `name` is a string, whatever its text is."""
    child = _Root(schema).child(schema, name)
    if isinstance(child, Mapping) and "type" in child:
        return _names(child["type"]) == ["string"] and child.get("nullable") is not True
    typed_by = ("enum", "const", "$ref", "allOf", *_BRANCHES, "nullable")
    allows_all = child is True or (isinstance(child, Mapping) and not child.keys() & set(typed_by))
    return allows_all and untyped in ("as-peers", "string")


def lacks_required(given: Collection[str], schema: Schema) -> bool:
    """Return whether `schema` requires a parameter whose name is not in `given`."""
    required = schema.get("required") if isinstance(schema, Mapping) else None
    return isinstance(required, list) and any(name not in given for name in required)


class _Root:
    """Holds the complete schema of a tool, in which local references are looked up."""

    def __init__(self, schema: Schema, untyped: Untyped = "as-peers") -> None:
        self.schema = schema
        self.untyped = untyped

    def parts(self, schema: Schema) -> Iterator[Mapping[str, Any]]:
        """Yield `schema` and each schema that it refers to or combines, once."""
        seen: set[int] = set()
        waiting: list[Any] = [schema]
        while waiting:
            node = waiting.pop(0)
            if not isinstance(node, Mapping) or id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            waiting.append(referenced_schema(self.schema, node.get("$ref")))
            for key in ("allOf", *_BRANCHES):
                waiting += as_list(node.get(key))

    def child(self, schema: Schema, name: str) -> Schema:
        """Return the schema of the member `name` of objects that `schema` describes."""
        parts = list(self.parts(schema))
        found = [own[name] for part in parts if name in (own := as_mapping(part.get("properties")))]
        rest = [part[_REST] for part in parts if isinstance(part.get(_REST), Mapping)]
        return _any_of(found or rest)

    def item(self, schema: Schema) -> Schema:
        """Return the schema of the items of arrays that `schema` describes."""
        return _any_of([part["items"] for part in self.parts(schema) if "items" in part])


def _object(members: Sequence[tuple[str, Value]], root: _Root, schema: Schema, place: str) -> str:
    seen: set[str] = set()
    texts = []
    for name, value in members:
        path = f"{place}{name}"
        if name in seen:
            raise _Refused(f"the parameter {_shown(path)} comes twice")
        seen.add(name)
        read = _read(value, root, root.child(schema, name), path)
        texts.append(f"{write_exactly(name)}: {read}")
    return "{" + ", ".join(texts) + "}"


def _read(value: Value, root: _Root, schema: Schema, path: str) -> str:
    """Return the JSON text of one value.

    Raises:
        _Refused: not exactly one reading of the value fits the schema.
    """
    if isinstance(value, Exactly):
        return write_exactly(value.text)
    if isinstance(value, Json):
        reading = _json_reading(value.text)
        if reading is None:
            raise _Refused(f"the parameter {_shown(path)} is not JSON: {_shown(value.text)}")
        return reading.text
    if isinstance(value, Elements):
        return _read_elements(value, root, schema, path)
    text = value.text if isinstance(value, Printed) else value
    json_reading = _json_reading(text)
    if json_reading is None and isinstance(value, Printed):
        json_reading = _python_reading(text)
    return _only([_string_reading(text), json_reading], text, root, schema, path)


def _read_elements(value: Elements, root: _Root, schema: Schema, path: str) -> str:
    kinds = ["object"]
    if all(name == _ITEM for name, _ in value.children):
        kinds.append("array")
    readings = [_Reading(frozenset((kind,)), None, kind) for kind in kinds]
    shown = f"elements {', '.join(name for name, _ in value.children[:_MAX_NAMES])}"
    if value.text is not None:
        readings.append(_string_reading(value.text))
        shown = value.text
    kind = _only(readings, shown, root, schema, path)
    if kind not in kinds:
        return kind
    if kind == "object":
        return _object(value.children, root, schema, f"{path}.")
    item = root.item(schema)
    texts = (
        _read(child, root, item, f"{path}[{at}]") for at, (_, child) in enumerate(value.children)
    )
    return "[" + ", ".join(texts) + "]"


def _only(
    readings: Sequence[_Reading | None], shown: str, root: _Root, schema: Schema, path: str
) -> str:
    """Return the JSON text of the one reading that fits the schema.

    Raises:
        _Refused: no reading fits, or several do.
    """
    fitting = [
        reading for reading in readings if reading and _Fit(root, reading).fits(schema, _MAX_DEPTH)
    ]
    if len(fitting) > 1 and _is_nullable(root, schema):
        fitting = [reading for reading in fitting if "null" in reading.kinds] or fitting
    if len(fitting) > 1 and root.untyped != "reject":
        wanted = root.untyped
        if wanted == "as-peers":
            wanted = "json" if _types(root, schema) else "string"
        fitting = [it for it in fitting if ("string" in it.kinds) == (wanted == "string")]
    if len(fitting) == 1:
        return fitting[0].text
    what = f"the parameter {_shown(path)}"
    if fitting:
        ways = " and as ".join(sorted(min(reading.kinds) for reading in fitting))
        raise _Refused(f"{what} can be read as {ways}: {_shown(shown)}")
    allowed = ", ".join(sorted(_types(root, schema)))
    expected = f" of type {allowed}" if allowed else " that its schema allows"
    raise _Refused(f"{what} is not a value{expected}: {_shown(shown)}")


# The readings of a text


def _string_reading(text: str) -> _Reading:
    return _Reading(frozenset(("string",)), text, write_exactly(text))


def _json_reading(text: str) -> _Reading | None:
    """Return a text's reading as JSON; None if it is a string or not JSON."""
    bare = text.strip(_JSON_SPACE)
    bare = _PYTHON_WORDS.get(bare, bare)
    if bare.startswith('"'):
        return None
    reading = read_json(bare)
    if reading is None:
        return None
    return _Reading(_kinds(bare, reading.value), reading.value, bare)


def _python_reading(text: str) -> _Reading | None:
    """Return a text's reading as a Python dict or list; None if it is neither."""
    bare = text.strip(_JSON_SPACE)
    literal = read_python_literal(bare) if bare.startswith(("{", "[")) else None
    return None if literal is None else _json_reading(literal)


def _kinds(text: str, value: Any) -> frozenset[str]:  # noqa: ANN401 - any JSON
    """Return the types of a JSON value. In JSON Schema, 1.0 is an integer too."""
    first = text[0]
    if first in _FIRST:
        return frozenset((_FIRST[first],))
    is_whole = isinstance(value, int) or value.is_integer()
    return frozenset(("number", "integer")) if is_whole else frozenset(("number",))


_FIRST: Final = {"{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}


# What a schema allows


class _Fit:
    """Checks whether one reading fits schemas, and checks each part of a schema only once."""

    def __init__(self, root: _Root, reading: _Reading) -> None:
        self._root = root
        self._reading = reading
        # While a node is being asked it does not fit: so a reference to itself ends.
        self._known: dict[int, bool] = {}

    def fits(self, schema: object, depth: int) -> bool:
        """Return whether the reading fits `schema`. Only types and listed values are compared."""
        if not isinstance(schema, Mapping) or not depth:
            return schema is not False
        known = self._known.get(id(schema))
        if known is None:
            self._known[id(schema)] = False
            known = self._known[id(schema)] = self._ask(schema, depth - 1)
        return known

    def _ask(self, schema: Mapping[str, Any], depth: int) -> bool:
        if schema.get("nullable") is True and "null" in self._reading.kinds:
            return True
        if not self._has_type(schema.get("type")) or not self._is_listed(schema):
            return False
        target = referenced_schema(self._root.schema, schema.get("$ref"))
        if not self.fits(target, depth) or not all(
            self.fits(each, depth) for each in as_list(schema.get("allOf"))
        ):
            return False
        branches = (as_list(schema.get(key)) for key in _BRANCHES)
        # Of `oneOf` too, any: which of its branches a type fits does not change the value.
        return all(any(self.fits(each, depth) for each in some) for some in branches if some)

    def _has_type(self, declared_type: object) -> bool:
        names = set(_names(declared_type))
        return bool(not names or names - _CHECKED or names & self._reading.kinds)

    def _is_listed(self, schema: Mapping[str, Any]) -> bool:
        if "const" in schema and not self._equals(schema["const"]):
            return False
        listed = schema.get("enum")
        return not isinstance(listed, list) or any(map(self._equals, listed))

    def _equals(self, listed: object) -> bool:
        own = self._reading.value
        if "number" in self._reading.kinds:
            return type(listed) in (int, float) and bool(own == listed)
        return type(own) is type(listed) and bool(own == listed)


def _types(root: _Root, schema: Schema) -> frozenset[str]:
    """Return the types that a schema names at any depth of its composition."""
    return frozenset(name for part in root.parts(schema) for name in _names(part.get("type")))


def _is_nullable(root: _Root, schema: Schema) -> bool:
    if "null" in _types(root, schema):
        return True
    return any(part.get("nullable") is True for part in root.parts(schema))


def _names(declared_type: object) -> list[str]:
    listed = declared_type if isinstance(declared_type, list) else [declared_type]
    return [_type_name(name) for name in listed if isinstance(name, str)]


def _type_name(name: str) -> str:
    """Return the JSON Schema type that a declared type means, such as Python's `list[str]`."""
    plain = name.lower().partition("[")[0].strip()
    return _TYPE_NAMES.get(plain, plain)


def _any_of(schemas: list[Any]) -> Schema:
    if len(schemas) == 1:
        return schemas[0]  # type: ignore[no-any-return]  # any JSON; a value that is not a schema allows all
    return {"anyOf": schemas} if schemas else True


def as_mapping(node: object) -> Mapping[str, Any]:
    """Return `node` if it is an object, else {}."""
    return node if isinstance(node, Mapping) else {}


def as_list(node: object) -> list[Any]:
    """Return `node` if it is a list, else []."""
    return node if isinstance(node, list) else []


def _shown(text: str) -> str:
    more = "..." if len(text) > _SHOWN_CHARACTERS else ""
    return repr(text[:_SHOWN_CHARACTERS]) + more
