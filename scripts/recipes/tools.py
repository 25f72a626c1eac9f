"""The tools that the requests of the emulated cassettes declare."""

from typing import Any

_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}

# name -> what it does, properties, those that are required
_TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "final_answer": ("Answer the user, and end.", {"text": _STRING}, ("text",)),
    "get_time": ("Tell the current time.", {}, ()),
    "get_weather": ("Tell the weather in a city.", {"city": _STRING, "unit": _STRING}, ("city",)),
    "list_files": ("List the files of a folder.", {"path": _STRING, "limit": _INTEGER}, ()),
    "notion.search": ("Search pages.", {"query": _STRING}, ("query",)),
    "notion_search": ("Search with the older tool.", {"query": _STRING}, ("query",)),
    "read_file": ("Read a file.", {"path": _STRING, "limit": _INTEGER}, ("path",)),
    "run_command": ("Run a command in a shell.", {"command": _STRING}, ("command",)),
    "run_in_terminal": ("Run a command in the terminal.", {"command": _STRING}, ("command",)),
    "search": ("Search the web.", {"query": _STRING, "limit": _INTEGER}, ("query",)),
    "schema.list_columns": (
        "获取指定表的列信息",
        {
            "table_name": _STRING | {"description": "表名"},
            "include_types": {"type": "boolean", "description": "是否包含数据类型信息"},
        },
        ("table_name",),
    ),
    "schema.list_tables": (
        "列出数据库中的所有表",
        {"database": _STRING | {"description": "数据库名称"}},
        ("database",),
    ),
    "set_memory": (
        "Remember something about the user.",
        {"key": _STRING, "value": _STRING},
        ("key", "value"),
    ),
    "set_options": (
        "Set options of the editor.",
        {
            "title": _STRING,
            "count": _INTEGER,
            "ratio": {"type": "number"},
            "enabled": {"type": "boolean"},
            "theme": {"type": ["string", "null"]},
            "parent": {"anyOf": [_INTEGER, {"type": "null"}]},
            "limit": {"type": ["integer", "string"]},
            "tags": {"type": "array", "items": _STRING},
            "margins": {
                "type": "object",
                "properties": {"left": _INTEGER, "right": _INTEGER, "unit": _STRING},
            },
        },
        (),
    ),
    "show_order": ("Show an order.", {"order": _INTEGER}, ("order",)),
    "sql.validate": ("验证 SQL 语法", {"sql": _STRING | {"description": "SQL 查询"}}, ("sql",)),
    "sql.validate_columns": (
        "检查 SQL 里的列名",
        {
            "sql": _STRING | {"description": "SQL 查询"},
            "table": _STRING | {"description": "表名"},
        },
        ("sql", "table"),
    ),
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
    return [{"type": "function", "function": function} for function in functions(names)]


def functions(names: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Return the tools as functions with `name`, `description` and `parameters`."""
    return tuple(map(_function, names))


def _function(name: str) -> dict[str, Any]:
    description, properties, required = _TOOLS[name]
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "parameters": parameters}
