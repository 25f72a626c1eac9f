"""Plain data from a file -> values of the type that was expected, or an error that says where.

`where` is the file and the path of keys, such as `a.yaml: interactions[0].response`.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Final, NoReturn

from harness.errors import UnreadableError

_NAMES: Final = {
    dict: "a mapping",
    list: "a list",
    str: "text",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
}
_MOST_SHOWN = 60


def refuse(expected: str, found: object, where: str, hint: str = "") -> NoReturn:
    """Raise the error for a value of the wrong type."""
    shown = repr(found)
    short = shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + "..."
    kind = _NAMES.get(type(found), type(found).__name__)
    what = kind if found is None else f"{kind} {short}"
    raise UnreadableError(f"expected {expected}, found {what}", where=where, hint=hint)


def mapping(value: object, where: str) -> dict[str, object]:
    """Return `value` if it is a mapping with text keys; nothing counts as empty."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse("a mapping with text keys", value, where)
    return value


def sequence(value: object, where: str) -> list[object]:
    """Return `value` if it is a list."""
    if not isinstance(value, list):
        refuse("a list", value, where)
    return value


def text(value: object, where: str) -> str:
    """Return `value` if it is text; nothing counts as empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse("text", value, where, "Put it in quotes.")
    return value


def only_keys(value: Mapping[str, object], known: Collection[str], where: str) -> None:
    """Refuse keys outside `known`, with the one that was probably meant."""
    for key in value:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(sorted(known))}."
            raise UnreadableError(f"unknown key {key[:_MOST_SHOWN]!r}", where=where, hint=hint)
