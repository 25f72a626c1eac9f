"""A request -> what tells one question from another: a digest of it without the model's name.

The same question asked again, of this model or of another, has the same digest: answers to it are
no independent trials, and the answers of two models to it are a pair.
"""

from hashlib import sha256

import msgspec

from harness.wire.interaction import Request


def asked_of(request: Request) -> str:
    """Return 16 hex digits; "" where the request was not kept.

    JSON is compared by value, whatever the order of its keys.
    """
    if not request.body:
        return ""
    try:
        said = msgspec.json.decode(request.body)
        if isinstance(said, dict):
            said.pop("model", None)
        canonical = msgspec.json.encode(said, order="deterministic")
    except (ValueError, RecursionError):
        canonical = request.body
    return sha256(canonical).hexdigest()[:16]
