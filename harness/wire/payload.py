"""Decode the payload of a frame as JSON, also if the bytes are damaged or hostile.

The fast decoder refuses surrogate pairs that a provider split. The slower decoder runs only if
the fast one fails. Code that walks, compares or writes a value recurses, so this module refuses
a value that is nested deeper than any provider's.
"""

import json
from typing import Any

import msgspec

_DECODE = msgspec.json.Decoder().decode
# More open brackets than this are refused.
MAX_DEPTH = 256
# Each bracket has its counterpart, so no shorter payload can be nested that deep.
NEVER_DEEP_BYTES = 2 * MAX_DEPTH


class NotJson(Exception):  # noqa: N818 - a fact about the payload, caught by each dialect
    """Reports a payload that is not one JSON value; the text of the exception is the reason."""


def decode_json(data: bytes) -> Any:  # noqa: ANN401 - a provider's payload may be anything
    """Return the JSON value of `data`.

    Raises:
        NotJson: `data` is not exactly one JSON value (RFC 8259), or is nested too deeply.
    """
    try:
        value = _DECODE(data)
    except (ValueError, RecursionError):
        value = _decode_slowly(data)
    if len(data) > NEVER_DEEP_BYTES and may_be_deep(data) and is_too_deep(value):
        raise NotJson(f"nested more than {MAX_DEPTH} deep")
    return value


def json_or_none(data: bytes) -> Any:  # noqa: ANN401 - as decode_json
    """Return the JSON value of `data`; None if it is not a JSON value, or is `null`."""
    try:
        return decode_json(data)
    except NotJson:
        return None


def may_be_deep(data: bytes) -> bool:
    """Return whether `data` has so many brackets that it may be nested too deeply."""
    return len(data) > NEVER_DEEP_BYTES and data.count(b"[") + data.count(b"{") > MAX_DEPTH


def _decode_slowly(data: bytes) -> Any:  # noqa: ANN401 - as decode_json
    try:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def is_too_deep(value: object) -> bool:
    """Return whether `value` is nested deeper than `MAX_DEPTH`, without recursion."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [node for node in level if isinstance(node, dict | list)]
        if not level:
            return False
        level = [
            child for node in level for child in (node.values() if isinstance(node, dict) else node)
        ]
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
