"""Answer requests for the list of models, which some clients send first.

One document has the keys of all APIs, because their names do not collide.
Source: the API references of OpenAI, Anthropic, Gemini, Mistral and Cohere (`/models`), and of
Ollama (`/api/tags`).
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

_MODELS: Final = re.compile(r"/(?:models(?:/(?P<id>.+))?|api/tags)$")


def model_document(path: str, ids: Sequence[str]) -> bytes | None:
    """Return the JSON document of a request for models; None if `path` is another endpoint.

    Args:
        path: the path below the base URL.
        ids: the ids of all models; a request for another model gets None.
    """
    found = _MODELS.search(path)
    if found is None:
        return None
    if found["id"] is not None:
        return msgspec.json.encode(_model(found["id"])) if found["id"] in ids else None
    models = list(map(_model, ids))
    listed = {"object": "list", "data": models, "models": models, "has_more": False}
    return msgspec.json.encode(listed)


def _model(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "name": name,
        "model": name,
        "display_name": name,
        "owned_by": "harness",
        "created": 0,
        "created_at": "1970-01-01T00:00:00Z",
        "modified_at": "1970-01-01T00:00:00Z",
    }
