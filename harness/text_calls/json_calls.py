"""Read calls from JSON text. Their arguments keep the model's own characters.

An object is a call if it has a name and arguments under keys that models use (quirks
TEXT-PARAMETERS-KEY, TEXT-FENCED-CALL, TEXT-COHERE-ACTION). The name is under `name`, `tool`,
`tool_name` or `function`, the arguments under `arguments`, `parameters`, `args`, `tool_args` or
`input`. In the flat form, `{"tool": NAME, ...arguments}`, every key that the tool's schema
declares is an argument. An object may be inside `function`, as in OpenAI's API. The reader repairs
and drops nothing. JSON that is not strict, a repeated key, more than one call can mean, and the
declaration of a tool are errors.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from harness.text_calls.boundaries import end_of
from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.parameters import declared_names, lacks_required
from harness.turns.exact_json import write_exactly
from harness.turns.json_prefix import PrefixState, scan

NAME_KEYS: Final = ("name", "tool", "tool_name", "function")
ARGUMENTS_KEYS: Final = ("arguments", "parameters", "args", "tool_args", "input")
ID_KEYS: Final = ("id", "tool_call_id", "call_id")
FLAT_KEY: Final = "tool"
# What may be next to a name and its arguments, and has no meaning here.
_BESIDE: Final = frozenset((*ID_KEYS, "type", "index"))
_SCHEMA_KEYS: Final = frozenset(
    ("type", "properties", "required", "additionalProperties", "$schema", "title", "description")
)
_DECLARATION: Final = "it describes the tool, and does not call it"
_NO_ARGUMENTS: Final = "it has no arguments"
_DATA: Final = "it may also be data"
_NOTHING_KNOWN: Final = Offered()
# The name of a broken call, for its report; nothing else of it is used.
_NAMED = re.compile(rf'\s*\{{\s*"(?:{"|".join(NAME_KEYS)})"\s*:\s*("(?:[^"\\]|\\.){{1,200}}")')
_BETWEEN = re.compile(r"[ \t\n\r,;]*+")
_SEPARATORS = re.compile(r"[ \t\n\r,:]*+")
_PIECE: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"|[\[\]{}]|[^"\[\]{}]++')
_HALF_PAIR: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])

# The members of an object in order, each value as its own JSON text; a key may come twice.
Pairs = tuple[tuple[str, str], ...]


def read_json_calls(
    text: str, offered: Offered = _NOTHING_KNOWN, *, marked: bool = True
) -> tuple[WrittenCall, ...] | None:
    """Return the calls in `text`, which is JSON objects or arrays of them, one after another.

    Args:
        text: JSON values.
        offered: the tools; their schemas distinguish arguments from other keys.
        marked: a marker before the JSON declares that these are calls. Without a marker, an
            object that may be ordinary data gets an error.

    Returns:
        the calls, or None if no object in the text is a call. Broken JSON, and an object without
        a name next to objects with one, are calls with an `error`.
    """
    calls: list[WrittenCall] = []
    for part in iter_values(text):
        calls += _of_value(part, offered, marked=marked)
    return tuple(calls) if any(call.name or call.error for call in calls) else None


def read_marked_calls(text: str, offered: Offered, error: str) -> tuple[WrittenCall, ...]:
    """Return the calls in JSON after a marker; () if the JSON is an empty array.

    JSON that names no tool becomes one call with `error`.
    """
    if "".join(text.split()) == "[]":
        return ()
    return read_json_calls(text, offered) or (WrittenCall("", error=error),)


def read_marked_items(text: str, offered: Offered) -> tuple[WrittenCall, ...]:
    """Return the calls of an array with broken items, each of which becomes one with an error.

    The text after a broken item is read only if the brackets and strings of the item are complete.
    """
    calls: list[WrittenCall] = []
    at = end_of(_SEPARATORS, text, 1)
    while at < len(text) and text[at] != "]":
        end = scan(text, at).end
        end = _end_of_item(text, at) if end == -1 else end
        calls += _of_value(text[at:end], offered, marked=True)
        at = end_of(_SEPARATORS, text, end)
    return tuple(calls)


def _end_of_item(text: str, at: int) -> int:
    """Return where the brackets of a broken item are balanced; the length if nowhere."""
    depth = 0
    while match := _PIECE.match(text, at):
        at = match.end()
        depth += (match[0] in ("{", "[")) - (match[0] in ("}", "]"))
        if depth <= 0:
            return at
    return len(text)


def iter_values(text: str) -> Iterator[str]:
    """Yield the JSON values of `text` one after another; the last may be broken."""
    at = 0
    while True:
        at = end_of(_BETWEEN, text, at)
        if at == len(text):
            return
        end = scan(text, at).end
        end = len(text) if end == -1 else end
        yield text[at:end]
        at = end


def read_pairs(text: str) -> Pairs | None:
    """Return the keys and raw values of the JSON object `text`; None if it is not one."""
    if not text.startswith("{") or scan(text).state is not PrefixState.COMPLETE:
        return None
    parts = _iter_children(text)
    return tuple((read_string(key), next(parts)) for key in parts)


def read_members(text: str) -> dict[str, str] | None:
    """Return the raw values of the JSON object `text` by key; None if it is not an object.

    If a key occurs twice, the last value counts. `repeated_key` finds such keys.
    """
    found = read_pairs(text)
    return None if found is None else dict(found)


def repeated_key(found: Pairs) -> str:
    """Return the first key that occurs twice in the pairs of an object; "" if none does."""
    seen: set[str] = set()
    for key, _ in found:
        if key in seen:
            return key
        seen.add(key)
    return ""


def read_string(text: str | None) -> str:
    """Return the string in a JSON text; "" if it is not a string."""
    if not text or not text.startswith('"'):
        return ""
    try:
        return str(json.loads(text))
    except ValueError:
        return ""


def read_items(text: str) -> tuple[str, ...]:
    """Return the items of a text that is one JSON array, each as its own JSON text."""
    return tuple(_iter_children(text))


def _iter_children(text: str) -> Iterator[str]:
    """Yield the items of an array, or the keys and values of an object, unchanged."""
    at = end_of(_SEPARATORS, text, 1)
    while not text.startswith(("}", "]"), at):
        end = scan(text, at).end
        yield text[at:end]
        at = end_of(_SEPARATORS, text, end)


def _of_value(text: str, offered: Offered, *, marked: bool) -> list[WrittenCall]:
    if not text.startswith("["):
        found = read_pairs(text)
        return [_broken(text) if found is None else read_json_call(found, offered, marked=marked)]
    try:
        items = _items(text)
        return [call for item in items for call in _of_value(item, offered, marked=marked)]
    except (ValueError, RecursionError):
        return [_broken(text)]


def _items(text: str) -> Sequence[str]:
    try:
        return [bytes(raw).decode() for raw in _ITEMS.decode(text)]
    except ValueError:
        # Half a surrogate pair is JSON, and only this decoder refuses it.
        half = _HALF_PAIR.search(text) and scan(text).state is PrefixState.COMPLETE
        items = read_items(text) if half else ()
        # Of arrays in arrays, each level would be read again.
        if not items or any(item.startswith("[") for item in items):
            raise
        return items


def _broken(text: str) -> WrittenCall:
    named = _NAMED.match(text)
    name = read_string(named[1]) if named else ""
    found = scan(text)
    if found.state is PrefixState.PREFIX:
        return WrittenCall(name, error="the text ended inside the call's JSON")
    where = f"at offset {found.offset} of the call: expected {found.expected}"
    return WrittenCall(name, error=f"the call is not JSON {where}")


# One object


def read_json_call(
    found: Pairs | dict[str, str], offered: Offered = _NOTHING_KNOWN, *, marked: bool = True
) -> WrittenCall:
    """Return the call that an object describes; a call without a name if it describes none.

    Args:
        found: the keys and raw values of the object.
        offered: the tools of the request.
        marked: a marker before the JSON declares that it is a call.
    """
    found = tuple(found.items()) if isinstance(found, dict) else found
    found, fields = _unwrapped(found)
    keys = [key for key in NAME_KEYS if read_string(fields.get(key))]
    if not keys:
        return WrittenCall("")
    key = _name_key(keys, fields, offered)
    name = read_string(fields[key])
    known = declared_names(offered.schema(name))
    flat = known if key == FLAT_KEY else frozenset[str]()
    id_keys = (each for each in ID_KEYS if each not in flat)
    call_id = next((it for each in id_keys if (it := read_string(fields.get(each)))), "")
    twice = repeated_key(found)
    if twice:
        return WrittenCall(name, id=call_id, error=f"the key {twice!r} occurs twice")
    other = next((it for it in keys if it not in flat and read_string(fields[it]) != name), "")
    if other:
        error = f"it names a tool under {key!r}, and another under {other!r}"
        return WrittenCall(name, id=call_id, error=error)
    rest = {it: fields[it] for it in fields if it in flat or it not in keys}
    call = _with_rest(WrittenCall(name, id=call_id), rest, flat, flat_form=key == FLAT_KEY)
    error = call.error or _fault(call, rest, offered, _holders(rest, flat), marked=marked)
    return WrittenCall(name, call.arguments, call_id, error)


def _unwrapped(found: Pairs) -> tuple[Pairs, dict[str, str]]:
    """Return the members of an object and of its `function`, as pairs and as a dict."""
    fields = dict(found)
    inner = read_pairs(fields.get("function", ""))
    if (
        inner is None
        or repeated_key(found)
        or any(read_string(fields.get(key)) for key in NAME_KEYS)
    ):
        return found, fields
    # Its own id counts, and not the one next to it.
    hidden = {"function", *(key for key, _ in inner if key in _BESIDE)}
    found = (*inner, *(it for it in found if it[0] not in hidden))
    return found, dict(found)


def _name_key(keys: list[str], fields: dict[str, str], offered: Offered) -> str:
    """Return the key that names the tool; in the flat form, other keys may be arguments."""
    if FLAT_KEY in keys:
        known = declared_names(offered.schema(read_string(fields[FLAT_KEY])))
        if all(key == FLAT_KEY or key in known for key in keys):
            return FLAT_KEY
    return keys[0]


def _holders(fields: dict[str, str], flat: frozenset[str]) -> list[str]:
    """Return the keys under which an object contains all its arguments."""
    return [key for key in ARGUMENTS_KEYS if key in fields and key not in flat]


def _with_rest(
    call: WrittenCall, rest: dict[str, str], flat: frozenset[str], *, flat_form: bool
) -> WrittenCall:
    """Return the call with its arguments, read from the members other than name and id."""
    holders = _holders(rest, flat)
    if len(holders) > 1:
        error = f"its arguments are under {holders[0]!r} and {holders[1]!r}"
        return msgspec.structs.replace(call, error=error)
    if not holders and flat_form:
        flat_fields = {it: rest[it] for it in rest if it in flat or it not in ID_KEYS}
        error = _DECLARATION if "description" in flat_fields and "description" not in flat else ""
        return WrittenCall(call.name, _object(flat_fields), call.id, error)
    beside = next(
        (it for it in rest if it not in holders and (it in flat or it not in _BESIDE)), ""
    )
    if beside == "description":
        return msgspec.structs.replace(call, error=_DECLARATION)
    if not holders:
        return msgspec.structs.replace(call, error=_NO_ARGUMENTS if beside else "")
    if beside:
        error = f"{beside[:40]!r} is next to its arguments"
        return msgspec.structs.replace(call, error=error)
    return msgspec.structs.replace(call, arguments=read_arguments(rest[holders[0]]))


def read_arguments(text: str) -> str:
    """Return the arguments as JSON text, from the raw value of the key that contains them all."""
    if text == "null":
        return ""
    # Some models write the object again as a string, as OpenAI's API does.
    return read_string(text) if text.startswith('"') else text


def _fault(
    call: WrittenCall, rest: dict[str, str], offered: Offered, holders: list[str], *, marked: bool
) -> str:
    """Return why an object with these arguments is not a valid call; "" if it is one."""
    schema = offered.schema(call.name)
    known = declared_names(schema)
    given = read_members(call.arguments) or {}
    if _is_schema(given, known):
        return _DECLARATION
    lacking = lacks_required(given, schema)
    if not given and not holders and (lacking or not (marked or call.arguments)):
        return _NO_ARGUMENTS
    if marked:
        return ""
    if not holders:
        return _DATA if lacking or not known.issuperset(given) else ""
    empty = rest[holders[0]] == "null"
    return "" if empty or call.arguments.lstrip().startswith("{") else _DATA


def _is_schema(given: dict[str, str], known: frozenset[str]) -> bool:
    """Return whether the value is a JSON Schema of arguments, and not arguments."""
    if known & {"type", "properties"}:
        return False
    typed = read_string(given.get("type")) == "object"
    listed = given.get("properties", "").startswith("{")
    return (typed and listed) or ((typed or listed) and _SCHEMA_KEYS.issuperset(given))


def _object(fields: dict[str, str]) -> str:
    items = (f"{write_exactly(key)}: {value}" for key, value in fields.items())
    return "{" + ", ".join(items) + "}"


def write_json_call(call: WrittenCall, *, arguments: str = "arguments") -> str:
    """Return the JSON object of `call`, with its arguments under the key `arguments`."""
    name = json.dumps(call.name, ensure_ascii=False)
    return f'{{"name": {name}, "{arguments}": {call.arguments or "{}"}}}'
