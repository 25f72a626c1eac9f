"""The tools that the requests of the emulated cassettes declare."""

from typing import Any

_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}

# name -> what it does, properties, those that are required
_TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "get_time": ("Tell the current time.", {}, ()),
    "get_weather": ("Tell the weather in a city.", {"city": _STRING, "unit": _STRING}, ("city",)),
    "list_files": ("List the files of a folder.", {"path": _STRING, "limit": _INTEGER}, ()),
    "read_file": ("Read a file.", {"path": _STRING, "limit": _INTEGER}, ("path",)),
    "run_command": ("Run a command in a shell.", {"command": _STRING}, ("command",)),
    "run_in_terminal": ("Run a command in the terminal.", {"command": _STRING}, ("command",)),
    "search": ("Search the web.", {"query": _STRING, "limit": _INTEGER}, ("query",)),
    "set_memory": (
        "Remember something about the user.",
        {"key": _STRING, "value": _STRING},
        ("key", "value"),
    ),
    "show_order": ("Show an order.", {"order": _INTEGER}, ("order",)),
    "wait": ("Wait.", {"seconds": {"type": "number"}}, ("seconds",)),
    "write_file": (
        "Write a file.",
        {"path": _STRING, "content": _STRING, "mode": _INTEGER},
        ("path", "content"),
    ),
    "writing": (
        "Write a text on a topic.",
        {"title": _STRING, "content": _STRING},
        ("title", "content"),
    ),
}


def declarations(names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the `tools` field of a request."""
    return [{"type": "function", "function": _function(name)} for name in names]


def _function(name: str) -> dict[str, Any]:
    description, properties, required = _TOOLS[name]
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "parameters": parameters}
