"""Convert the content of files to typed values, with strict checks and helpful errors.

The error for an unknown key suggests the nearest known key. The error for a wrong type names the
path, the expected type and the value that was found. No value is converted: `id: 17` is an error if
a text is expected.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Final, NoReturn, TypeVar

import msgspec
from msgspec import inspect

from harness.errors import UnreadableError
from harness.wording import did_you_mean, nearest_name

T = TypeVar("T")
Text = Annotated[str, msgspec.Meta(min_length=1)]

_MESSAGE = re.compile(
    r"^(?P<fact>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>.*)`)?$", re.DOTALL
)
_WRONG_TYPE = re.compile(r"^Expected `(?P<expected>[^`]+)`, got `(?P<found>[^`]+)`$")
_UNKNOWN_KEY = re.compile(r"^Object contains unknown field `(?P<name>.*)`$", re.DOTALL)
_MISSING_KEY = re.compile(r"^Object missing required field `(?P<name>.*)`$")

_NO_CHOICE = re.compile(r"^Invalid enum value (?P<found>.*)$", re.DOTALL)
_BOUND = re.compile(r"^Expected `(?P<kind>[a-z]+)` (?P<bound>(?:of length )?[<>]=? .*)$")

_KINDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "a boolean",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "bytes": "binary",
}
_QUOTE_HINT = "put it in quotes: true, false, null and numbers are read as values, not as text"


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base class of the structs that describe files; an undeclared key is an error."""


def convert(data: object, kind: type[T], where: str) -> T:
    """Return `data` as an object of type `kind`: a msgspec struct, or a list or dict of structs.

    Args:
        data: the value from the YAML, TOML or JSON loader.
        kind: the requested type.
        where: the file's name, for the error.

    Raises:
        UnreadableError: `data` has an unknown key, lacks a key, or has a value of a wrong type.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _readable(str(error), kind, where) from None


def _readable(message: str, kind: type, where: str) -> UnreadableError:
    parts = _MESSAGE.match(message)
    fact, path = (parts["fact"], parts["path"] or "") if parts else (message, "")
    place = f"{path}: " if path else ""
    if (unknown := _UNKNOWN_KEY.match(fact)) is not None:
        known = _keys_at(inspect.type_info(kind), _steps(path))
        return UnreadableError(
            f"{place}unknown key {unknown['name']!r}",
            where=where,
            hint=did_you_mean(unknown["name"], known),
        )
    if (missing := _MISSING_KEY.match(fact)) is not None:
        return UnreadableError(f"{place}the key {missing['name']!r} is missing", where=where)
    if (wrong := _WRONG_TYPE.match(fact)) is not None:
        key = "a key here: " if parts and parts["key"] else ""
        return _wrong_type(place + key, wrong["expected"], wrong["found"], where)
    if (odd := _NO_CHOICE.match(fact)) is not None:
        choices = _choices_at(inspect.type_info(kind), _steps(path))
        return UnreadableError(
            f"{place}invalid enum value {odd['found']}",
            where=where,
            hint=did_you_mean(odd["found"].strip("'"), choices, "known"),
        )
    if (bound := _BOUND.match(fact)) is not None:
        wanted = _KINDS.get(bound["kind"], bound["kind"])
        return UnreadableError(f"{place}expected {wanted} {bound['bound']}", where=where)
    fact, _, hint = fact.partition("\n")  # the two lines of a check of the kind itself
    return UnreadableError(f"{place}{fact[:1].lower()}{fact[1:]}", where=where, hint=hint)


def _wrong_type(place: str, expected: str, found: str, where: str) -> UnreadableError:
    wanted = " or ".join(_KINDS.get(name, name) for name in expected.split(" | "))
    text_wanted = "str" in expected.split(" | ") and found not in ("object", "array")
    return UnreadableError(
        f"{place}expected {wanted}, found {_KINDS.get(found, found)}",
        where=where,
        hint=_QUOTE_HINT if text_wanted else "",
    )


def _steps(path: str) -> tuple[str, ...]:
    """Split `expect[0].tool_calls[...]` into `expect`, `[`, `tool_calls`, `[`."""
    return tuple(re.findall(r"\[|[^.\[\]]+(?=[.\[]|$)", path))


def _keys_at(kind: inspect.Type, steps: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of the struct at the path `steps` below `kind`; () if it is not a struct."""
    return tuple(
        field.encode_name
        for struct in _types_at(kind, steps)
        if isinstance(struct, inspect.StructType)
        for field in struct.fields
    )


def _choices_at(kind: inspect.Type, steps: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts that the type at the path `steps` below `kind` allows."""
    return tuple(
        str(value) for each in _types_at(kind, steps) for value in _words_of(each) if value != ""
    )


def _words_of(kind: inspect.Type) -> Iterable[object]:
    if isinstance(kind, inspect.LiteralType):
        return kind.values
    return [each.value for each in kind.cls] if isinstance(kind, inspect.EnumType) else ()


def _types_at(kind: inspect.Type, steps: tuple[str, ...]) -> tuple[inspect.Type, ...]:
    """Return the types of values that may be at the path `steps` below `kind`."""
    choices = _alternatives(kind)
    if not steps:
        return choices
    return tuple(
        found
        for choice in choices
        for below in _below(choice, steps[0])
        for found in _types_at(below, steps[1:])
    )


def _alternatives(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _below(kind: inspect.Type, step: str) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.StructType):
        yield from (field.type for field in kind.fields if field.encode_name == step)
    if step == "[" and isinstance(kind, inspect.VarTupleType | inspect.ListType):
        yield kind.item_type
    if step == "[" and isinstance(kind, inspect.DictType):
        yield kind.value_type


def require_json(value: object, path: str, where: str) -> None:
    """Refuse a value that JSON cannot express, such as YAML's binaries or infinite numbers.

    In a value that is compared with JSON, they can only be a mistake of the author.

    Raises:
        UnreadableError: `value` contains such a value; the error names its path, which begins with
            `path`.
    """
    if problem := _not_json(value, path):
        raise UnreadableError(problem, where=where, hint="put it in quotes, or use a JSON value")


def _not_json(value: object, path: str) -> str:
    if isinstance(value, Mapping):
        return _first(
            _not_json(item, f"{path}.{key}") if isinstance(key, str) else f"{path}: key {key!r}"
            for key, item in value.items()
        )
    if isinstance(value, list | tuple):
        return _first(_not_json(item, f"{path}[{place}]") for place, item in enumerate(value))
    if value is None or isinstance(value, str | int):
        return ""
    if isinstance(value, float) and math.isfinite(value):
        return ""
    return f"{path}: {value!r} is not a JSON value"


def _first(problems: Iterator[str]) -> str:
    return next(filter(None, problems), "")


_TYPE_NAMES: Final = {
    dict: "a mapping",
    list: "a list",
    str: "text",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
}
_MOST_SHOWN = 60


def refuse_type(expected: str, found: object, where: str, hint: str = "") -> NoReturn:
    """Raise the error for a value of the wrong type."""
    shown = repr(found)
    short = shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + "..."
    kind = _TYPE_NAMES.get(type(found), type(found).__name__)
    what = kind if found is None else f"{kind} {short}"
    raise UnreadableError(f"expected {expected}, found {what}", where=where, hint=hint)


def expect_mapping(value: object, where: str) -> dict[str, object]:
    """Return `value` if it is a mapping with text keys; None becomes an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse_type("a mapping with text keys", value, where)
    return value


def expect_list(value: object, where: str) -> list[object]:
    """Return `value` if it is a list."""
    if not isinstance(value, list):
        refuse_type("a list", value, where)
    return value


def expect_text(value: object, where: str) -> str:
    """Return `value` if it is text; None becomes ""."""
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse_type("text", value, where, "Put it in quotes.")
    return value


def refuse_unknown_keys(value: Mapping[str, object], known: Collection[str], where: str) -> None:
    """Refuse keys outside `known`; the error names the nearest known key."""
    for key in value:
        if key not in known:
            near = nearest_name(key, known)
            hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(sorted(known))}."
            raise UnreadableError(f"unknown key {key[:_MOST_SHOWN]!r}", where=where, hint=hint)
