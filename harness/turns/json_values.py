"""Return a decoded JSON value if it has the expected type, and an empty value otherwise.

A response body may be hostile or incomplete, so a member may have any type. No function raises.
"""

from collections.abc import Iterator, Mapping
from typing import Any


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in the list `value`; nothing if `value` is not a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def as_dict(value: object) -> dict[str, Any]:
    """Return `value` if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """Return `value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def listed(value: object) -> list[Any]:
    """Return `value` if it is a list, else []."""
    return value if isinstance(value, list) else []


def at_path(value: object, path: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value at a path such as `response.body`; None if it is missing."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def text_of(content: object) -> str:
    """Return the text of `content`, which is a string or a list of parts with the key `text`."""
    if isinstance(content, str):
        return content
    return "".join(as_text(part.get("text")) for part in dicts(content))
