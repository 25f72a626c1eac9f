"""Read and write the tools that a prompt describes in its text: `harness: tools:` of a cassette.

Each is a dict like a function of OpenAI, `{name, description, parameters}`, with the JSON
Schema of its arguments. The schema must be JSON and is not checked further.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.errors import UnreadableError
from harness.files.typed import (
    expect_list,
    expect_mapping,
    expect_text,
    refuse_type,
    refuse_unknown_keys,
    require_json,
)
from harness.files.yaml_text import format_flow, format_scalar

PromptTools = tuple[dict[str, Any], ...]

_KEYS: Final = ("name", "description", "parameters")


def read_prompt_tools(value: object, where: str) -> PromptTools:
    """Return the tools that a cassette file lists; () if `value` is None.

    Args:
        value: the value of the key `tools`.
        where: its location in the file, for messages.

    Raises:
        UnreadableError: `value` is not a list of named tools, two tools have one name, or a schema
            is not JSON.
    """
    if value is None:
        return ()
    items = expect_list(value, where)
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
        refuse_type(f"a tool with the keys {', '.join(_KEYS)}", value, where)
    fields = expect_mapping(value, where)
    refuse_unknown_keys(fields, _KEYS, where)
    name = expect_text(fields.get("name"), f"{where}.name")
    if not name:
        refuse_type("the name of the tool", fields.get("name"), f"{where}.name")
    parameters = expect_mapping(fields.get("parameters"), f"{where}.parameters")
    require_json(parameters, "parameters", where)
    description = expect_text(fields.get("description"), f"{where}.description")
    return {"name": name, "description": description, "parameters": parameters}


def format_prompt_tools(tools: Iterable[dict[str, Any]], margin: str) -> Iterator[str]:
    """Yield the YAML lines of the key `tools`, indented by `margin`, for `read_prompt_tools`."""
    for index, tool in enumerate(tools):
        if not index:
            yield f"{margin}tools:"
        yield f"{margin}- name: {format_scalar(tool['name'])}"
        if tool.get("description"):
            yield f"{margin}  description: {format_scalar(tool['description'])}"
        yield f"{margin}  parameters: {format_flow(tool.get('parameters') or {})}"
