"""Mutants that change arguments: converted by a schema, parsed as another language, or repaired."""

import ast
import json
import re
from typing import Any, Final
from warnings import catch_warnings, simplefilter

from msgspec.structs import replace

from harness.normalizers.mutants.edit import HeldCall, edits_arguments, edits_call
from harness.turns.arguments import parse
from harness.turns.deltas import Finish, StreamFailure
from harness.turns.turn import Tool

_INVALID_ESCAPE: Final = re.compile(r'\\(?![bfnrtu"\\/\n])')
_TRUE_WORDS: Final = ("true", "yes", "on", "1")
_FALSE_WORDS: Final = ("false", "no", "off", "0")


@edits_arguments("arguments-coerced", "CALL-ARGUMENTS-EXACT")
def _coerced(arguments: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """Converts values silently to the types of the tool's schema, as far as Python can."""
    return coerced_arguments(arguments, tool)


def coerced_arguments(arguments: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """Return `arguments` with each value in the type of its parameter, by careless conversions."""
    declared = tool.parameters.get("properties", {})
    return {
        key: _converted(value, declared[key].get("type")) if key in declared else value
        for key, value in arguments.items()
    }


def _converted(value: Any, kind: object) -> Any:  # noqa: ANN401 - any JSON value
    try:
        match kind, value:
            case "string", int() | float():
                return str(value)
            case (("array" | "object"), str()):
                return json.loads(value)
            case "integer", str() | bool():
                return int(float(value))
            case "number", str() | bool():
                return float(value)
            case "boolean", str() if value.lower() in _TRUE_WORDS + _FALSE_WORDS:
                return value.lower() in _TRUE_WORDS
    except (ValueError, OverflowError):
        pass
    return value


@edits_arguments("extra-parameters-dropped", "CALL-ARGUMENTS-EXACT")
def _extra_dropped(arguments: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """Drops parameters silently that the tool does not have."""
    declared = tool.parameters.get("properties", {})
    return {key: value for key, value in arguments.items() if key in declared}


@edits_call("python-first", "CALL-ARGUMENTS-EXACT")
def _python_first(call: HeldCall) -> HeldCall:
    """Evaluates arguments as a Python literal, and parses them as JSON only if that fails."""
    return replace(call, arguments=_evaluated(call))


def _evaluated(call: HeldCall) -> str:
    if call.error or call.kind != "function":
        return call.arguments
    try:
        with catch_warnings():
            simplefilter("ignore")  # about escapes that JSON has and Python does not
            return json.dumps(ast.literal_eval(call.arguments.strip()))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return call.arguments


@edits_call("quotes-unescaped", "CALL-ARGUMENTS-EXACT")
def _quotes_unescaped(call: HeldCall) -> HeldCall:
    """Removes the backslash from each escaped quote if the rest is still an object."""
    return replace(call, arguments=_unescaped(call))


def _unescaped(call: HeldCall) -> str:
    text = call.arguments.replace('\\"', '"')
    is_usable = call.error is None and call.kind == "function" and parse(text).value is not None
    return text if is_usable else call.arguments


@edits_call("escapes-repaired", "BROKEN-CALL-NOT-RUN", before=Finish)
def _escapes_repaired(call: HeldCall) -> HeldCall:
    """Repairs escapes and control characters silently, and runs the call if that helps."""
    return _repaired(call) if call.error and call.name else call


def _repaired(call: HeldCall) -> HeldCall:
    text = _INVALID_ESCAPE.sub(r"\\\\", call.arguments.replace("\\\n", ""))
    for candidate in (text, text.replace('\\"', '"')):
        try:
            value = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        repaired = json.dumps(value)
        if parse(repaired).value is not None:
            return replace(call, arguments=repaired, error=None)
    return call


@edits_call("named-run-empty", "TRUNCATED-CALL-NOT-RUN", before=StreamFailure)
def _named_run_empty(call: HeldCall) -> HeldCall:
    """Runs a call of an interrupted stream with {} if its name has come and no arguments have."""
    return replace(call, error=None) if call.name and not call.arguments.strip() else call
