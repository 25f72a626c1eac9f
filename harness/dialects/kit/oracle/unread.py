"""Find calls in members that an API does not have, so that no reading drops them without a word.

Servers put calls next to the members of the API, such as `choices[0].delta.name`. The contract does
not say what such a member means, so the calls of the turn are unknown. The functions look only
where the oracle does not read, and never into arguments.
"""

from collections.abc import Iterator
from typing import Any, Final

# Members of a call whose content may be anything.
_INSIDE: Final = frozenset(("arguments", "input", "args", "result", "output", "results"))
_IDS: Final = ("tool_use_id", "tool_call_id", "toolUseId", "call_id")
_ARGUMENTS: Final = ("arguments", "input", "args", "partial_json", "input_json")
# Types of calls that the client executes. Other types are of tools that the server executes.
_TYPES: Final = ("function", "function_call", "tool_use", "tool_call", "tool-call", "custom")
# Members that repeat the request, or describe an error.
_ECHOES: Final = frozenset(("tools", "tool_choice", "functions", "messages", "request", "error"))


def unread_calls(
    value: dict[str, Any], read: frozenset[str], items: frozenset[str] = frozenset()
) -> Iterator[tuple[str, str]]:
    """Yield the calls in an event that are in members in which the API documents no calls.

    Yields:
        the path of each call in the event, and its name.

    Args:
        value: the event.
        read: the paths of the documented members, such as `choices.delta.tool_calls`, without
            positions in lists.
        items: paths of objects that the oracle reads as calls, but not each member of them.
    """
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, list):
            waiting += ((path, each) for each in item)
        elif isinstance(item, dict):
            name = item.get("name")
            if path not in items and isinstance(name, str) and name and _is_call(item):
                yield path or "the event", name
            else:
                skipped = _ECHOES | read if path not in items else _ECHOES | read | _INSIDE
                for key, inner in item.items():
                    place = f"{path}.{key}".lstrip(".")
                    if skipped.isdisjoint((key, place)):
                        waiting.append((place, inner))


def _is_call(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if isinstance(kind, str) and kind and kind not in _TYPES:
        return False
    return any(key in item for key in (*_IDS, *_ARGUMENTS))
