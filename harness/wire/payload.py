"""The payload of a frame: bytes -> a JSON value, whatever the bytes are.

The fast decoder is strict about surrogates that a provider cut in two; the slower one is
asked only where the fast one refuses.
"""

import json
from typing import Any

import msgspec

_DECODE = msgspec.json.Decoder().decode


class NotJson(Exception):  # noqa: N818 - a fact about the payload, caught by each dialect
    """The payload is not one JSON value; the text says why."""


def decode_json(data: bytes) -> Any:  # noqa: ANN401 - a provider's payload may be anything
    """Return the JSON value of `data`.

    Raises:
        NotJson: it is not exactly one JSON value (RFC 8259), or nested too deeply.
    """
    try:
        return _DECODE(data)
    except (ValueError, RecursionError):
        return _decode_slowly(data)


def _decode_slowly(data: bytes) -> Any:  # noqa: ANN401 - as decode_json
    try:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
