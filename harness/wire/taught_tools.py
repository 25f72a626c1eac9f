"""The tools that a prompt taught in words: `harness: tools:` of a cassette file <-> plain dicts.

Each is a tool in OpenAI's function form, `{name, description, parameters}`, with the JSON
Schema of its arguments. Nothing here judges a schema; it must only be JSON.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.errors import UnreadableError
from harness.wire.fields import mapping, only_keys, refuse, sequence, text
from harness.wire.scalar import flow, word

TaughtTools = tuple[dict[str, Any], ...]

_KEYS: Final = ("name", "description", "parameters")


def read(value: object, where: str) -> TaughtTools:
    """Return the tools that a cassette file lists; nothing counts as none.

    Raises:
        UnreadableError: no list of tools with a name each, two of one name, or no JSON.
    """
    if value is None:
        return ()
    items = sequence(value, where)
    tools = tuple(_tool(item, f"{where}[{n}]") for n, item in enumerate(items))
    known: set[str] = set()
    for n, tool in enumerate(tools):
        if tool["name"] in known:
            raise UnreadableError(
                f"two tools have the name {tool['name']!r}",
                where=f"{where}[{n}]",
                hint="A model calls tools by name: drop or rename one.",
            )
        known.add(tool["name"])
    return tools


def _tool(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(f"a tool with the keys {', '.join(_KEYS)}", value, where)
    fields = mapping(value, where)
    only_keys(fields, _KEYS, where)
    name = text(fields.get("name"), f"{where}.name")
    if not name:
        refuse("the name of the tool", fields.get("name"), f"{where}.name")
    parameters = mapping(fields.get("parameters"), f"{where}.parameters")
    _require_json(parameters, f"{where}.parameters")
    description = text(fields.get("description"), f"{where}.description")
    return {"name": name, "description": description, "parameters": parameters}


def _require_json(value: object, where: str) -> None:
    """Refuse what JSON cannot say; the depth is bounded by the guard that loaded the file."""
    if isinstance(value, dict):
        for key, item in mapping(value, where).items():
            _require_json(item, f"{where}.{key}")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            _require_json(item, f"{where}[{n}]")
    elif isinstance(value, bytes) or (isinstance(value, float) and not math.isfinite(value)):
        refuse("a value that JSON has", value, where)


def spell(tools: Iterable[dict[str, Any]], margin: str) -> Iterator[str]:
    """Yield the lines of the key `tools` at `margin`, which `read` reads back as equal."""
    for place, tool in enumerate(tools):
        if not place:
            yield f"{margin}tools:"
        yield f"{margin}- name: {word(tool['name'])}"
        if tool.get("description"):
            yield f"{margin}  description: {word(tool['description'])}"
        yield f"{margin}  parameters: {flow(tool.get('parameters') or {})}"
