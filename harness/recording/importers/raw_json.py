"""A JSON object or array -> its parts as they were written, digits and order of keys included.

Where it holds half a surrogate pair, which the fast decoder refuses, the parts are written
anew.
"""

import json

import msgspec

from harness.wire.payload import NotJson, decode_json

Members = dict[str, msgspec.Raw]

_MEMBERS = msgspec.json.Decoder(Members)
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


def members(data: bytes | msgspec.Raw) -> Members:
    """Return the members of an object.

    Raises:
        NotJson: it is no JSON object, or nested too deeply.
    """
    try:
        return _MEMBERS.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = decode_json(bytes(data))
    if not isinstance(value, dict):
        raise NotJson("expected an object")
    return {_encodable(key): _written(part) for key, part in value.items()}


def elements(data: bytes | msgspec.Raw) -> list[msgspec.Raw]:
    """Return the elements of an array.

    Raises:
        NotJson: it is no JSON array, or nested too deeply.
    """
    try:
        return _ELEMENTS.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = decode_json(bytes(data))
    if not isinstance(value, list):
        raise NotJson("expected an array")
    return list(map(_written, value))


def on_one_line(part: bytes | msgspec.Raw) -> bytes:
    """Return `part` without line ends, which no event has inside."""
    data = bytes(part)
    if b"\n" not in data and b"\r" not in data:
        return data
    try:
        return msgspec.json.format(data, indent=-1)
    except msgspec.DecodeError:
        return bytes(_written(decode_json(data)))


def _encodable(key: str) -> str:
    return key.encode("utf-8", "replace").decode("utf-8")


def _written(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value, separators=(",", ":")).encode("ascii"))
