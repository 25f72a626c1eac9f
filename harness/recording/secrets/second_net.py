"""Search for secrets with the package `detect-secrets`, as a second check of `harness audit`.

Its maintainers may know a kind of secret that `detectors.toml` does not contain. Its detectors of
known formats search each view of a body. Its measure of randomness is used for addresses and
headers only, because a stream is full of random ids and signatures.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from harness.recording.secrets.detectors import FILL, TABLE
from harness.recording.secrets.scan import Scan, Secret
from harness.recording.secrets.values import is_placeholder
from harness.wire.interaction import Interaction

INSTALL: Final = "Install it with `pip install 'toolcall-harness[audit]'`."

# The library's own limits, in bits for each character.
_RANDOM: Final = (
    ("Base64HighEntropyString", re.compile(r"[A-Za-z0-9+=_-]{20,}"), 4.5),
    ("HexHighEntropyString", re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{20,}(?![A-Za-z0-9])"), 3.0),
)
_REPLACED: Final = FILL * 6


def is_installed() -> bool:
    """Whether the package is installed."""
    return find_spec("detect_secrets") is not None


def iter_further_leaks(interaction: Interaction) -> Iterator[str]:
    """Yield a line with location and kind for each secret that `detect-secrets` finds."""
    request = interaction.request
    for part, body in (("request", request.body), ("response", interaction.body)):
        for found in _secrets_in(body):
            where = f"{found.size} characters at byte {found.offset} ({found.where})"
            yield f"{part} body: {found.kind} of {where}"
    named = [(f"header {name}", value) for name, value in (*request.headers, *interaction.headers)]
    for where, text in (("the address", request.uri), *named):
        if any(_is_random(name, match[0], limit) for name, match, limit in _long_words(text)):
            yield f"{where}: random text, according to detect-secrets"


def _secrets_in(body: bytes) -> Iterator[Secret]:
    for view in Scan(body).views():
        for plugin in _plugins():
            for match in _matches(plugin, view.text):
                if not view.owns(match.start()):
                    continue
                offset = next(view.bytes_of(match.start()))
                kind = f"{plugin.secret_type}, according to detect-secrets,"
                yield Secret(kind, offset, len(match[0]), view.name)


def _matches(plugin: Any, text: str) -> Iterator[re.Match[str]]:  # noqa: ANN401 - as `_plugin`
    """Yield the matches of a detector whose secret is not replaced already."""
    is_valid = getattr(plugin, "is_formally_valid", bool)
    for pattern in plugin.denylist:
        for match in pattern.finditer(text):
            parts = (match[0], *filter(None, match.groups()))
            is_replaced = _REPLACED in match[0] or any(map(is_placeholder, parts))
            if not is_replaced and is_valid(match[0]):
                yield match


def _long_words(text: str) -> Iterator[tuple[str, re.Match[str], float]]:
    for name, pattern, limit in _RANDOM:
        yield from ((name, match, limit) for match in pattern.finditer(text))


def _is_random(name: str, word: str, limit: float) -> bool:
    bits: float = _plugin("high_entropy_strings", name).calculate_shannon_entropy(word)
    return _REPLACED not in word and bits > limit


@cache
def _plugins() -> tuple[Any, ...]:
    return tuple(_plugin(module, name) for module, name in TABLE.detect_secrets.items())


@cache
def _plugin(module: str, name: str) -> Any:  # noqa: ANN401 - a class of a library that is optional
    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
