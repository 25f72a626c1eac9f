"""A decoded JSON value -> the same value if it has the expected type, else an empty one.

Bodies are hostile and often incomplete, so that a member may have any type. Nothing here raises.
"""

from collections.abc import Iterator
from typing import Any


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects among the items of `value`, if it is a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def as_dict(value: object) -> dict[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """Return `value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def listed(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(content: object) -> str:
    """Return the text of `content`: text itself, or a list of parts that have some."""
    if isinstance(content, str):
        return content
    return "".join(as_text(part.get("text")) for part in dicts(content))
