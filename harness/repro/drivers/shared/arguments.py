"""The arguments of a call, as careful agent code reads them."""

import json


def object_of(arguments):
    """Return arguments as a dict; None if agent code cannot use them."""
    text = "" if arguments is None else arguments
    try:
        value = json.loads(text.strip() or "{}", object_pairs_hook=unique, parse_constant=fail)
    except (ValueError, RecursionError):
        return None
    # Half of a surrogate pair is U+FFFD.
    whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
    value = json.loads(whole.decode("utf-16", "replace"))
    return value if isinstance(value, dict) else None


def unique(pairs):
    """Return an object whose keys all differ."""
    if len(dict(pairs)) < len(pairs):
        fail("repeated key")
    return dict(pairs)


def fail(what):
    """Reject what JSON does not have."""
    raise ValueError(f"not JSON: {what}")
