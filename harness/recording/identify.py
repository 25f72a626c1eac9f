"""A recording -> which provider, model, prompt and dialect it holds, where it does not say.

Told by the request's address, then by the request, then by the first events of the response.
What none of them says stays "unknown"; what the file says is never changed.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from harness.dialects.prompts import NATIVE_TOOLS, prompt_id
from harness.dialects.table import read_request
from harness.errors import StreamError
from harness.wire.cassette import Cassette
from harness.wire.framing import frames as frames_of
from harness.wire.hosts import PROVIDERS, UNKNOWN, provider_of
from harness.wire.interaction import Interaction
from harness.wire.payload import NotJson, decode_json

OPENAI_CHAT: Final = "openai-chat"

_MOST_EVENTS = 12

# How an address ends (before its query) -> the dialect; the first match counts.
_PATHS: Final = tuple(
    (re.compile(pattern), dialect)
    for pattern, dialect in (
        (r"/chat/completions$", OPENAI_CHAT),
        (r"/responses$", "openai-responses"),
        (r"/completions$", "openai-completions"),
        (r"/messages$|/anthropic/|publishers/anthropic/", "anthropic"),
        (r":(?:streamG|g)enerateContent$", "gemini"),
        (r"/api/(?:chat|generate)$", "ollama"),
        (r"/converse(?:-stream)?$", "bedrock-converse"),
        (r"/invoke(?:-with-response-stream)?$", "bedrock-invoke"),
        (r"/v[12]/chat$", "cohere"),
        (r"/services/aigc/", "dashscope"),
    )
)

# Values of `object` and beginnings of `type` that only one dialect uses.
_OBJECTS: Final = {
    "chat.completion.chunk": OPENAI_CHAT,
    "chat.completion": OPENAI_CHAT,
    "text_completion": "openai-completions",
}
_TYPES: Final = (
    ("response.", "openai-responses"),
    ("message_start", "anthropic"),
    ("content_block", "anthropic"),
    ("message-start", "cohere"),
    ("content-", "cohere"),
)
_KEYS: Final = (
    ("candidates", "gemini"),
    ("choices", OPENAI_CHAT),
    ("done", "ollama"),
    ("contentBlockIndex", "bedrock-converse"),
)

# Providers whose `/chat/completions` is a dialect of its own, however alike the events look.
_OWN_DIALECTS: Final = {"mistral": "mistral"}

# Folder names under which projects keep the recordings of a provider.
_FOLDERS: Final = {
    "alibaba": "dashscope",
    "amazon-bedrock": "aws-bedrock",
    "azure": "azure-openai",
    "bedrock": "aws-bedrock",
    "copilot": "github-copilot",
    "gemini": "google-gemini",
    "google": "google-gemini",
    "google-generative-ai": "google-gemini",
    "grok": "xai",
    "vertexai": "google-vertex",
    "x-ai": "xai",
    "z-ai": "zai",
    "zai-coder": "zai",
}
# What a recorder puts in the place of a private host, such as `<OLLAMA_API_BASE>/v1`.
_PLACEHOLDER = re.compile(r"<([A-Z0-9]+)_[A-Z_]*>")


def identify(cassette: Cassette) -> Cassette:
    """Return `cassette` with provider, model, prompt and dialect filled in where unknown."""
    by = cassette.provider
    if by == UNKNOWN:
        by = _first(provider(interaction.request.uri) for interaction in cassette.interactions)
    if cassette.dialect == UNKNOWN:
        told = (dialect_of(interaction, by) for interaction in cassette.interactions)
        cassette = cassette.in_dialect(_first(told))
    found = {
        "provider": by,
        "model": _first(model_of(interaction) for interaction in cassette.interactions),
        "prompt": _first(prompt_of(interaction) for interaction in cassette.interactions),
    }
    missing = {name: value for name, value in found.items() if getattr(cassette, name) == UNKNOWN}
    return msgspec.structs.replace(cassette, **missing)


def provider(uri: str) -> str:
    """Return the provider at `uri`, also where a placeholder stands for its host."""
    placeholder = _PLACEHOLDER.match(uri)
    if placeholder:
        return _named(placeholder[1])
    return provider_of(uri)


def provider_of_folder(parts: Iterable[str]) -> str:
    """Return the provider that the innermost telling part of a path names, or "unknown"."""
    return _first(_named(part) for part in reversed(tuple(parts)))


def dialect_of(interaction: Interaction, by: str = UNKNOWN) -> str:
    """Return the dialect of a response of the provider `by`, told by address or first events."""
    path = interaction.request.uri.partition("?")[0]
    by_path = next((dialect for ending, dialect in _PATHS if ending.search(path)), None)
    found = by_path or _first(map(_dialect_of_event, first_events(interaction.body)))
    return _OWN_DIALECTS.get(by, found) if found == OPENAI_CHAT else found


def model_of(interaction: Interaction) -> str:
    """Return the model that the request names, else the first that the response names."""
    asked = read_request(interaction.dialect, interaction.request).model
    if asked:
        return asked
    named = (event.get("model") for event in first_events(interaction.body))
    return next((name for name in named if isinstance(name, str) and name), UNKNOWN)


def prompt_of(interaction: Interaction) -> str:
    """Return the id of the prompt in the request, or "unknown" where it was not kept."""
    request = read_request(interaction.dialect, interaction.request)
    protocol = NATIVE_TOOLS if request.tools_known else ""
    return prompt_id(protocol, request.system, request.tools)


def first_events(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among the first events of `body`, or the one it is."""
    try:
        for frame in islice(frames_of([body]), _MOST_EVENTS):
            event = _decoded(frame.data)
            if isinstance(event, dict):
                yield event
    except StreamError:  # larger than any event: no event to tell by
        return


def _decoded(data: bytes) -> object:
    try:
        return decode_json(data)
    except NotJson:
        return None


def _dialect_of_event(event: dict[str, Any]) -> str:
    by_object = _OBJECTS.get(str(event.get("object")))
    if by_object:
        return by_object
    kind = str(event.get("type"))
    by_type = next((dialect for start, dialect in _TYPES if kind.startswith(start)), None)
    return by_type or next((dialect for key, dialect in _KEYS if key in event), UNKNOWN)


def _named(name: str) -> str:
    """Return the provider that a folder or placeholder called `name` stands for."""
    plain = name.lower().replace("_", "-")
    return _FOLDERS.get(plain) or (plain if plain in PROVIDERS else UNKNOWN)


def _first(names: Iterable[str]) -> str:
    return next((name for name in names if name != UNKNOWN), UNKNOWN)
