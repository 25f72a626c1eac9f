"""A value -> JSON text as providers write it: readable, whatever strings it holds."""

import json


def dump(value: object) -> bytes:
    """Return the JSON of `value`; half a surrogate pair can only be escaped."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
