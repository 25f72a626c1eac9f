"""Decide whether the schema of a tool requires a client's repair of arguments.

Only unambiguous conversions are accepted: a text that is exactly the JSON of another value, a
number that becomes its text, and the removal of a parameter that the tool does not have. A client
must not repair text that is not a JSON object, because the intended arguments are unknown.
Source: quirks ARGS-NUM-AS-STRING, ARGS-COERCION-TRAP, ARGS-EXTRA-PARAM of the catalogue.
"""

import json
from typing import Any

from harness.turns.arguments import parse, same_value
from harness.turns.schema_check import Checker
from harness.turns.turn import Tool

# Each change is checked alone, so the time grows with their square.
_MOST_CHANGES = 64


def is_demanded(tool: Tool, sent: str, repaired: str, checker: Checker) -> bool:
    """Return whether `tool` accepts the repaired arguments, and requires each of the changes.

    Args:
        tool: the tool, with its schema.
        sent: the arguments as JSON, as the model sent them.
        repaired: the arguments as JSON, as the client executes them.
        checker: the validator, which caches compiled schemas.
    """
    before, after = parse(sent).value, parse(repaired).value
    if before is None or after is None or checker.problem(tool, after):
        return False
    changed = [key for key in before if key not in after or not _same(before[key], after[key])]
    if len(changed) > _MOST_CHANGES:
        return False
    return after.keys() <= before.keys() and all(
        (key not in after or _converts(before[key], after[key]))
        and checker.problem(tool, after | {key: before[key]})
        for key in changed
    )


def _converts(sent: Any, value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether `value` is the only possible conversion of `sent` to another type."""
    match sent, value:
        case dict(), dict():
            converts = sent.keys() == value.keys() and all(
                _converts(item, value[key]) for key, item in sent.items()
            )
        case list(), list():
            converts = len(sent) == len(value) and all(map(_converts, sent, value))
        case str(), dict() | list():
            converts = same_value(sent, json.dumps(value))
        case str(), bool() | int() | float():
            converts = sent == json.dumps(value)  # neither "007" nor "1e3" nor "no"
        case int() | float(), str():
            converts = not isinstance(sent, bool) and json.dumps(sent) == value
        case _:
            converts = False
    return converts or _same(sent, value)


def _same(sent: Any, value: Any) -> bool:  # noqa: ANN401 - any JSON value
    return same_value(json.dumps(sent), json.dumps(value))
