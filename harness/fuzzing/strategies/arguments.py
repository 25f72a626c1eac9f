"""Draw arguments that fit the JSON Schema of a tool, as values and as JSON texts.

The keywords that tools use are supported: type, properties, required, items, enum, const, anyOf,
oneOf, allOf, bounds, and references within the schema. Other keywords are ignored, so a value may
not match a pattern or a format. Such a value would test a model, and not a client.

Strategies are cached, because Hypothesis checks each new strategy, which takes longer than a draw.
"""

import json
import math
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.turns.turn import referenced_schema

_N = TypeVar("_N", int, float)

# Line ends that only some libraries know, characters beyond 16 bits, halves of them, escapes,
# what looks like another type or like markup, joined letters, another direction.
ODD_WORDS: Final = (
    "\u2028", "\u0085", "\x0b", "\n", "\r\n", "\t", "\0", "\x7f", "\ufeff", "\ufffd", "\u200d",
    "\U0001f600", "\U0001f468\u200d\U0001f469", "e\u0301", "\u202e", "北京", "\ud83d", "\ude00",
    '"', "'", "\\", "\\n", "\\u00e9", "\\\\", "/", "${x}", "%s",
    "null", "true", "1", "007", "1e5", "NaN", "-0", "9007199254740993", "[1]", '{"a": 1}', "[DONE]",
    "data: ", '", "a": "', "```", "<tool_call>", "</tool_call>", "<think>", " ", "",
)  # fmt: skip
# Texts whose characters need escapes in JSON, or look like JSON once the escapes are gone.
ESCAPED_WORDS: Final = ('", "a": "', '", "b": "', '", "city": "', '"', "\\", "a/b")
# Around the limits of doubles, 32 and 64 bits.
ODD_INTEGERS: Final = (
    0, -1, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**64, 10**30,
)  # fmt: skip
ODD_FLOATS: Final = (0.1, -0.0, 1e-7, 1.5, 1e22, 5e-324, 1.7976931348623157e308)


@cache
def words(*, surrogates: bool = True, most: int = 12) -> SearchStrategy[str]:
    """Return a strategy for short texts.

    A third are `ODD_WORDS`, which software confuses with values or markup, a third are
    `ESCAPED_WORDS`, which JSON must escape, and a third are any characters.

    Args:
        surrogates: whether they may contain unpaired surrogates, which UTF-8 cannot encode.
        most: the largest number of characters of a text of the last third.
    """
    categories: tuple[Literal["Cs"], ...] = () if surrogates else ("Cs",)
    odd = [word for word in ODD_WORDS if surrogates or word.isascii() or not _halves(word)]
    free = st.text(st.characters(exclude_categories=categories), max_size=most)
    return free | st.sampled_from(odd) | st.sampled_from(ESCAPED_WORDS)


@cache
def integers(least: int | None = None, most: int | None = None) -> SearchStrategy[int]:
    """Return a strategy for integers in these bounds, including those that doubles cannot hold."""
    return _with_odd(st.integers(least, most), ODD_INTEGERS, least, most)


@cache
def numbers(least: float | None = None, most: float | None = None) -> SearchStrategy[float]:
    """Return a strategy for floats that JSON can express, from `least` to `most`."""
    every = st.floats(least, most, allow_nan=False, allow_infinity=False)
    return _with_odd(every, ODD_FLOATS, least, most)


def _with_odd(
    every: SearchStrategy[_N], odd: tuple[_N, ...], least: _N | None, most: _N | None
) -> SearchStrategy[_N]:
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    near = [number for number in odd if low <= number <= high]
    return every | st.sampled_from(near) if near else every


@cache
def json_values(*, surrogates: bool = True, leaves: int = 6) -> SearchStrategy[Any]:
    """Return a strategy for JSON values of any structure.

    Args:
        surrogates: whether texts and keys may contain unpaired surrogates.
        leaves: the largest number of texts, numbers and other simple values.
    """
    some = words(surrogates=surrogates)
    scalars = st.none() | st.booleans() | integers() | numbers() | some
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(some, inner, max_size=3),
        max_leaves=leaves,
    )


@cache
def json_objects(*, surrogates: bool = True, leaves: int = 6) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy for JSON objects of any structure, including objects with empty keys."""
    values = json_values(surrogates=surrogates, leaves=leaves)
    return st.dictionaries(words(surrogates=surrogates), values, max_size=3)


def _halves(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


Schema: TypeAlias = Any
Values: TypeAlias = SearchStrategy[Any]

# Below the first, nothing comes that need not: no optional member, no item. Schemas that
# demand themselves end at the second, with null.
_DEEP: Final = 4
_DEEPEST: Final = 12
_MOST_ITEMS = 4
# Kept with their strategies; few tools are drawn from at a time.
_SCHEMAS: Final = 256
_MOST_CHARACTERS = 40
# JSON gives no meaning to white space around tokens; most servers write one of these.
_GAPS: Final = ((", ", ": "), (",", ":"), (" , ", " : "), (",\n ", ":\t"))


def arguments(schema: Schema) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects that fit `schema`, the JSON Schema of a tool's parameters.

    Arguments are always an object. If the schema requires another type, the object is empty.
    """
    return _arguments(json.dumps(schema))


@lru_cache(_SCHEMAS)
def _arguments(schema_text: str) -> SearchStrategy[dict[str, Any]]:
    schema = json.loads(schema_text)
    found = _fitting(schema, schema, 0)
    return found.map(lambda value: value if isinstance(value, dict) else {})


def argument_texts(schema: Schema) -> SearchStrategy[str]:
    """Return a strategy for JSON texts of arguments that fit `schema`, formatted as by servers."""
    return _argument_texts(json.dumps(schema))


@lru_cache(_SCHEMAS)
def _argument_texts(schema_text: str) -> SearchStrategy[str]:
    text = st.builds(json_text, _arguments(schema_text), st.booleans(), st.sampled_from(_GAPS))
    # PHP writes an escaped slash.
    return st.builds(
        lambda text, plain: text if plain else text.replace("/", r"\/"), text, st.booleans()
    )


def json_text(value: object, ascii_only: bool = False, gaps: tuple[str, str] = _GAPS[0]) -> str:  # noqa: FBT001, FBT002 - drawn
    """Return the JSON text of `value`; half of a surrogate pair is always escaped."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=gaps)
    return "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text)


def _fitting(schema: Schema, root: Schema, depth: int) -> Values:
    if not isinstance(schema, dict):
        return json_values(leaves=3)
    if depth > _DEEPEST:
        return st.none()
    if "$ref" in schema:
        target = referenced_schema(root, schema["$ref"])
        return st.deferred(lambda: _fitting(target, root, depth + 1))
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list) and listed:
        return st.sampled_from(listed)
    return _of_parts(_merged(schema), root, depth)


def _of_parts(schema: dict[str, Any], root: Schema, depth: int) -> Values:
    """Return a strategy for values that fit one alternative of the schema, or one of its types."""
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            rest = {key: each for key, each in schema.items() if key != name}
            options = [_both(rest, option) for option in schema[name]]
            return st.one_of([_fitting(option, root, depth + 1) for option in options])
    return st.one_of([_BY_TYPE[name](schema, root, depth) for name in _types(schema)])


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` with the members of its `allOf` merged into it."""
    whole = {name: each for name, each in schema.items() if name != "allOf"}
    for part in schema.get("allOf") or ():
        whole = _both(whole, part)
    return whole


def _both(schema: dict[str, Any], other: Schema) -> dict[str, Any]:
    if not isinstance(other, dict):
        return schema
    properties = {**schema.get("properties", {}), **other.get("properties", {})}
    required = [*schema.get("required", ()), *other.get("required", ())]
    more = ({"properties": properties} if properties else {}) | (
        {"required": required} if required else {}
    )
    return {**schema, **other, **more}


def _types(schema: dict[str, Any]) -> tuple[str, ...]:
    """Return the types that `schema` states, or those that its keywords suggest."""
    stated = schema.get("type")
    listed = stated if isinstance(stated, list) else [stated]
    known = tuple(name for name in listed if isinstance(name, str) and name in _BY_TYPE)
    if known:
        return known
    return tuple(name for name, hint in _HINTS.items() if hint in schema) or ("string", "object")


def _object(schema: dict[str, Any], root: Schema, depth: int) -> Values:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    each = {name: _fitting(part, root, depth + 1) for name, part in known.items()}
    required = {name for name in schema.get("required") or () if isinstance(name, str)}
    needed = {name: each.get(name, st.none()) for name in sorted(required)}
    optional = {name: part for name, part in each.items() if name not in required}
    found = st.fixed_dictionaries(needed, optional=optional if depth < _DEEP else {})
    extra = schema.get("additionalProperties", not known)
    if extra is False or depth >= _DEEP:
        return found
    more = st.dictionaries(words(surrogates=False), _fitting(extra, root, depth + 1), max_size=2)
    return (
        found
        if known and extra is True
        else st.builds(lambda one, two: {**two, **one}, found, more)
    )


def _array(schema: dict[str, Any], root: Schema, depth: int) -> Values:
    least = _bound(schema.get("minItems"), 0)
    most = _bound(schema.get("maxItems"), max(least, _MOST_ITEMS)) if depth < _DEEP else least
    items = _fitting(schema.get("items", True), root, depth + 1)
    return st.lists(items, min_size=least, max_size=max(least, min(most, least + _MOST_ITEMS)))


def _bound(value: object, other: int) -> int:
    return value if type(value) is int and 0 <= value <= 1000 else other  # noqa: PLR2004 - arguments are small


def _string(schema: dict[str, Any], _root: Schema, _depth: int) -> Values:
    least = _bound(schema.get("minLength"), 0)
    most = max(least, _bound(schema.get("maxLength"), least + _MOST_CHARACTERS))
    letters = st.characters(exclude_categories=["Cs"])
    free = st.text(letters, min_size=least, max_size=most)
    return free | words().filter(lambda word: least <= len(word) <= most)


def _integer(schema: dict[str, Any], _root: Schema, _depth: int) -> Values:
    least, most = _ends(schema)
    return integers(
        None if least is None else -int(-least // 1), None if most is None else int(most // 1)
    )


def _number(schema: dict[str, Any], _root: Schema, _depth: int) -> Values:
    least, most = _ends(schema)
    return numbers(least, most) | _integer(schema, _root, _depth)


def _ends(schema: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return the bounds in `schema`; (None, None) if no integer is between them."""
    least = next(_bounds(schema, ("minimum", 0), ("exclusiveMinimum", 1)), None)
    most = next(_bounds(schema, ("maximum", 0), ("exclusiveMaximum", -1)), None)
    if least is not None and most is not None and -(-least // 1) > most // 1:
        return None, None
    return least, most


def _bounds(schema: dict[str, Any], *names: tuple[str, int]) -> Iterator[float]:
    for name, inward in names:
        value = schema.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:  # noqa: PLR2004 - exact in a double
            yield value + inward


_BY_TYPE: Final[dict[str, Callable[[dict[str, Any], Schema, int], Values]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda *_: st.booleans(),
    "null": lambda *_: st.none(),
}
# What a schema without a type gives away.
_HINTS: Final = {
    "object": "properties",
    "array": "items",
    "integer": "minimum",
    "string": "minLength",
}
