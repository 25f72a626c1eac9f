"""Arguments against the JSON Schema that the request declares for their tool.

A schema that is itself invalid, refers to another document or is too large is treated as no
schema at all; nothing here opens a file or touches the network.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import jsonschema_rs
import msgspec

from harness.turns.turn import Tool

_SCHEMA_BYTES = 1 << 20
_SCHEMAS_KEPT = 1024
_PROBLEM_CHARACTERS = 200
_BACKTRACKS = 10_000
# Google's names of types -> those of JSON Schema. Source: Gemini API reference, `Schema`.
_TYPES: Final = {
    name.upper(): name
    for name in ("array", "boolean", "integer", "null", "number", "object", "string")
}


class Checker:
    """Keeps the compiled validators, because a run asks for the same tools again and again."""

    def __init__(self) -> None:
        self._validators: dict[bytes, jsonschema_rs.Validator | None] = {}

    def problem(self, tool: Tool, arguments: dict[str, Any]) -> str:
        """Return why `arguments` do not fit `tool`, at most 200 characters; "" if they do."""
        validator = self._validator(tool)
        if validator is None:
            return ""
        try:
            error = next(iter(validator.iter_errors(arguments)), None)
        except (ValueError, RecursionError) as limit:
            return f"cannot be checked: {limit}"[:_PROBLEM_CHARACTERS]
        return "" if error is None else _problem_text(error)

    def _validator(self, tool: Tool) -> jsonschema_rs.Validator | None:
        try:
            schema = msgspec.json.encode(tool.parameters)
        except (TypeError, ValueError, RecursionError):
            return None
        if schema not in self._validators:
            if len(self._validators) >= _SCHEMAS_KEPT:
                self._validators.clear()
            self._validators[schema] = _compile_schema(schema)
        return self._validators[schema]


def misfit(
    name: str, arguments: dict[str, Any], tools: Mapping[str, Tool] | None, checker: Checker
) -> str:
    """Return why a call does not fit the tools of its request; "" if it does.

    Args:
        name: of the tool that is called.
        arguments: of the call.
        tools: by name; None if the request was not kept, and then anything fits.
        checker: keeps compiled schemas.
    """
    if tools is None:
        return ""
    tool = tools.get(name)
    if tool is None:
        return f"{name!r} is not a tool of the request"
    problem = checker.problem(tool, arguments)
    return f"{name}: {problem}" if problem else ""


def _compile_schema(schema: bytes) -> jsonschema_rs.Validator | None:
    if len(schema) > _SCHEMA_BYTES:
        return None
    try:
        return jsonschema_rs.validator_for(
            json.loads(schema, object_hook=_as_json_schema),
            retriever=_refuse,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS),
        )
    except (ValueError, RecursionError):
        return None


def _as_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a schema in Google's or OpenAPI's form as JSON Schema."""
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = _TYPES.get(kind, kind)
    return {"anyOf": [schema, {"type": "null"}]} if schema.get("nullable") is True else schema


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to another document: {uri}")


def _problem_text(error: jsonschema_rs.ValidationError) -> str:
    path = "".join(f"/{step}" for step in error.instance_path)
    return f"{path}: {error.message}"[:_PROBLEM_CHARACTERS].removeprefix(": ")
