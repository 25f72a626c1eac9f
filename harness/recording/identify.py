"""Identify provider, model, prompt, dialects and age of a recording.

They are detected from the request's address, then from the request, then from the first events of
the response. A label that none of these shows stays "unknown". Labels in the file are never
changed.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from harness.dialects.prompts import NATIVE_TOOLS, prompt_id
from harness.dialects.table import read_request
from harness.providers import FOLDERS, PROVIDER_NAMES, UNKNOWN, provider_of
from harness.recording.detect import Detected, detect, first_events
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction

# Providers change their streams without notice. Most make several releases in half a year.
STALE_DAYS: Final = 180


def days_old(origin: Origin, today: date | None = None) -> int | None:
    """Return the age of a recording in days; None if it has no date, or was not recorded.

    Args:
        origin: the origin of a cassette.
        today: by default the current date in UTC.
    """
    if origin.kind == "emulated":
        return None
    try:
        made = date.fromisoformat(origin.at[:10])
    except ValueError:
        return None
    return max(((today or datetime.now(UTC).date()) - made).days, 0)


def age_text(origin: Origin, today: date | None = None) -> str:
    """Return the age of a recording, such as `200 days, stale (over 180)`; "" if it is unknown."""
    days = days_old(origin, today)
    if days is None:
        return ""
    stale = f", stale (over {STALE_DAYS})" if days > STALE_DAYS else ""
    return f"{days} {'day' if days == 1 else 'days'}{stale}"


# A placeholder of a recorder for a private host, such as `<OLLAMA_API_BASE>/v1`.
_PLACEHOLDER = re.compile(r"<([A-Z0-9]+)_[A-Z_]*>")
_WORDS: Final = re.compile(r"[a-z0-9]+")
# Keys of an event of OpenRouter; no other gateway adds the first.
_OPENROUTER_KEYS: Final = frozenset({"provider", "choices", "model"})
# Addresses that contain the model: Bedrock, Gemini and Vertex, Azure's deployments.
_MODELS_IN_PATHS: Final = tuple(
    map(
        re.compile,
        (
            r"/model/([^/?]+)/(?:converse|invoke)",
            r"/models/([^/?:]+):[a-zA-Z]+(?:\?|$)",
            r"/deployments/([^/?]+)/",
            r"//[^/]*huggingface[^/]*/models/([^/?]+/[^/?]+)",
        ),
    )
)
# Keys of the model in first events.
_MODEL_KEYS: Final = (
    ("model",),
    ("message", "model"),
    ("response", "model"),
    ("interaction", "model"),
    ("session", "model"),
    ("modelVersion",),
)


def identify(cassette: Cassette) -> Cassette:
    """Return `cassette` with unknown provider, model, prompt and dialects filled in."""
    by = cassette.provider
    if by == UNKNOWN:
        by = _first(map(provider_of_interaction, cassette.interactions))
    cassette = _with_dialects(cassette, by)
    missing = {
        name: _first(map(find, cassette.interactions))
        for name, find in (("model", model_of), ("prompt", prompt_of))
        if getattr(cassette, name) == UNKNOWN
    }
    return msgspec.structs.replace(cassette, provider=by, **missing)


def _with_dialects(cassette: Cassette, by: str) -> Cassette:
    """Set the dialect of each interaction; if it is unknown, use the first known dialect."""
    if all(interaction.dialect != UNKNOWN for interaction in cassette.interactions):
        return cassette
    dialects = [detected(interaction, by).dialect for interaction in cassette.interactions]
    first = _first(dialects)
    identified = (
        msgspec.structs.replace(interaction, dialect=dialect if dialect != UNKNOWN else first)
        for interaction, dialect in zip(cassette.interactions, dialects, strict=True)
    )
    return msgspec.structs.replace(cassette, interactions=tuple(identified))


def provider_of_interaction(interaction: Interaction) -> str:
    """Return the provider that the first events show, else the provider of the address.

    OpenRouter is recognized by the keys that it adds to each event, because a recorder that
    rewrites addresses does not change these keys.
    """
    if any(event.keys() >= _OPENROUTER_KEYS for event in first_events(interaction.body)):
        return "openrouter"
    return provider(interaction.request.uri)


def provider(uri: str) -> str:
    """Return the provider at the address `uri`, even if a placeholder replaces its host."""
    placeholder = _PLACEHOLDER.match(uri)
    if placeholder:
        return _named(placeholder[1])
    return provider_of(uri)


def provider_of_path(path: PurePath) -> str:
    """Return the provider that a path names, or "unknown".

    The innermost folder named after a provider counts, or else the beginning of the file's name.
    """
    beginnings = ("-".join(words) for words in _beginnings(path.name))
    return _first(map(_named, (*reversed(path.parent.parts), *beginnings)))


def _beginnings(name: str) -> Iterator[list[str]]:
    words = _WORDS.findall(name.lower())
    yield from (words[:count] for count in (2, 1))


def detected(interaction: Interaction, by: str = UNKNOWN) -> Detected:
    """Return the dialect that the file states, or else the detected one."""
    if interaction.dialect != UNKNOWN:
        return Detected(interaction.dialect, "certain", "named by the file or the user")
    return detect(interaction, by)


def model_of(interaction: Interaction) -> str:
    """Return the model that the request names, or else the first one that the response names."""
    model = read_request(interaction.dialect, interaction.request).model
    if model:
        return model
    matches = (path.search(interaction.request.uri) for path in _MODELS_IN_PATHS)
    in_path = next((match[1] for match in matches if match), "")
    if in_path:
        return unquote(in_path)
    return next(_models_named(first_events(interaction.body)), UNKNOWN)


def _models_named(events: Iterable[dict[str, Any]]) -> Iterator[str]:
    for event in events:
        for keys in _MODEL_KEYS:
            value: object = event
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, str) and value:
                yield value


def prompt_of(interaction: Interaction) -> str:
    """Return the id of the prompt in the request, or "unknown" if the request was not recorded."""
    request = read_request(interaction.dialect, interaction.request)
    protocol = NATIVE_TOOLS if request.tools_known else ""
    return prompt_id(protocol, request.system, request.tools)


def _named(name: str) -> str:
    """Return the provider that a folder or placeholder called `name` refers to."""
    lowered = name.lower().replace("_", "-")
    return FOLDERS.get(lowered) or (lowered if lowered in PROVIDER_NAMES else UNKNOWN)


def _first(names: Iterable[str]) -> str:
    return next((name for name in names if name != UNKNOWN), UNKNOWN)
