"""Check whether the arguments of a call fit the JSON Schema that the request declares for the tool.

The check ignores a schema that is invalid, refers to another document or is too large. It also
ignores a schema that takes too many steps for the arguments, which `unchecked` reports. This
module opens no file and uses no network.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import jsonschema_rs
import msgspec

from harness.turns.schema_cost import StepCounter, UnboundedError
from harness.turns.turn import Tool

_SCHEMA_BYTES = 1 << 20
_SCHEMAS_KEPT = 1024
_PROBLEM_CHARACTERS = 200
_BACKTRACKS = 10_000
# About a tenth of a second; what a real schema takes is a thousandth of it.
MOST_STEPS: Final = 2_000_000
# Each step, and each subschema, may fail with a message that contains the value.
_MOST_EXPLAINED_STEPS: Final = 5_000
_MOST_EXPLAINED_CHARACTERS: Final = 20_000_000
# Without references, a schema of this size is never applied more often than its size.
_SMALL_SCHEMA: Final = 2_000
_UNEXPLAINED: Final = "does not fit the schema of the tool; both are too large to say where"
# Google's names of types -> those of JSON Schema. Source: Gemini API reference, `Schema`.
_TYPES: Final = {
    name.upper(): name
    for name in ("array", "boolean", "integer", "null", "number", "object", "string")
}


class _Compiled(msgspec.Struct, frozen=True):
    """Holds the compiled validator of a schema, and a counter of the steps that it takes."""

    validator: jsonschema_rs.Validator
    counter: StepCounter

    def steps(self, arguments: dict[str, Any]) -> int:
        """Return an upper bound of the steps, at most `MOST_STEPS + 1`; 0 for a small schema."""
        if not self.counter.refers and self.counter.size <= _SMALL_SCHEMA:
            return 0
        try:
            return min(self.counter.steps(arguments), MOST_STEPS + 1)
        except UnboundedError:
            return MOST_STEPS + 1


class Checker:
    """Checks arguments by schemas, and stores compiled validators, because tools repeat."""

    def __init__(self) -> None:
        self._validators: dict[bytes, _Compiled | None] = {}

    def problem(self, tool: Tool, arguments: dict[str, Any]) -> str:
        """Return why `arguments` do not fit `tool`, at most 200 characters; "" if they fit.

        The result is also "" if the check is skipped, for example because it takes too many steps.
        """
        compiled = self._compiled(tool)
        if compiled is None or (steps := compiled.steps(arguments)) > MOST_STEPS:
            return ""
        validator = compiled.validator
        try:
            if validator.is_valid(arguments):
                return ""
            size = len(repr(arguments))
            if (
                steps > _MOST_EXPLAINED_STEPS
                or compiled.counter.size * size > _MOST_EXPLAINED_CHARACTERS
            ):
                return _UNEXPLAINED
            error = next(iter(validator.iter_errors(arguments)), None)
        except (ValueError, RecursionError) as limit:
            return f"cannot be checked: {limit}"[:_PROBLEM_CHARACTERS]
        return "" if error is None else _problem_text(error)

    def unchecked(self, tool: Tool, arguments: dict[str, Any]) -> str:
        """Return why `problem` skips the check, if it takes too many steps; else ""."""
        compiled = self._compiled(tool)
        if compiled is None or compiled.steps(arguments) <= MOST_STEPS:
            return ""
        return (
            f"{tool.name}: arguments not checked: the schema of the tool takes more than "
            f"{MOST_STEPS:,} steps, or refers to itself"
        )

    def _compiled(self, tool: Tool) -> _Compiled | None:
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
    """Return why a call does not fit the tools of its request; "" if it fits.

    Args:
        name: the name of the tool that is called.
        arguments: the arguments of the call.
        tools: the tools by name. If None, the request was not stored, and any call fits.
        checker: checks the arguments against the schema.
    """
    if tools is None:
        return ""
    tool = tools.get(name)
    if tool is None:
        return f"{name!r} is not a tool of the request"
    problem = checker.problem(tool, arguments)
    return f"{name}: {problem}" if problem else ""


def _compile_schema(schema: bytes) -> _Compiled | None:
    if len(schema) > _SCHEMA_BYTES:
        return None
    try:
        read = json.loads(schema, object_hook=_as_json_schema)
        validator = jsonschema_rs.validator_for(
            read,
            retriever=_refuse,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS),
        )
        return _Compiled(validator, StepCounter(read))
    except (ValueError, RecursionError):
        return None


def _as_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert an object of a schema from the format of Google or OpenAPI to JSON Schema."""
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = _TYPES.get(kind, kind)
    return {"anyOf": [schema, {"type": "null"}]} if schema.get("nullable") is True else schema


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to another document: {uri}")


def _problem_text(error: jsonschema_rs.ValidationError) -> str:
    path = "".join(f"/{step}" for step in error.instance_path)
    return f"{path}: {error.message}"[:_PROBLEM_CHARACTERS].removeprefix(": ")
