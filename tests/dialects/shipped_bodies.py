"""The bodies that ship, by dialect, and what they are made of: events, payloads, words."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.dialects.table import request_body
from harness.wire import cassette_file
from harness.wire.aws import encode_event
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import NotJson, decode_json
from harness.wire.sse import encode

_ROOT = Path(__file__).parents[2] / "cassettes"
_SHORT_WORD = 40
_MESSAGE = b"\0"  # how a body of AWS messages begins
_EVENT_END = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")
_LINE_END = re.compile(rb"(?<=\n)")


@lru_cache
def cassettes() -> tuple[Cassette, ...]:
    """Return the bundled cassettes, always in the same order."""
    # With their folder, as scenarios load them: each is parsed once in a process.
    paths = sorted(_ROOT.rglob("*.yaml"))
    return tuple(cassette_file.load_cassette(path, _ROOT) for path in paths)


@lru_cache
def shipped() -> dict[str, tuple[Interaction, ...]]:
    """Return dialect -> the interactions that ship, always in the same order."""
    found: dict[str, list[Interaction]] = defaultdict(list)
    for cassette in cassettes():
        for interaction in cassette.interactions:
            found[interaction.dialect].append(interaction)
    return {dialect: tuple(interactions) for dialect, interactions in found.items()}


@lru_cache
def bodies(dialect: str) -> tuple[bytes, ...]:
    """Return the bodies of a dialect that are not empty."""
    return tuple(each.body for each in shipped().get(dialect, ()) if each.body)


def events(body: bytes) -> list[bytes]:
    """Return `body` in pieces, one for each event, line or message; joined, they are it."""
    if body.startswith(_MESSAGE):
        return list(_messages(body))
    ends = _EVENT_END if b"\n\n" in body or b"\r\n\r\n" in body else _LINE_END
    return [piece for piece in ends.split(body) if piece]


def _messages(body: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(body):
        size = max(1, int.from_bytes(body[start : start + 4], "big"))
        yield body[start : start + size]
        start += size


# What payloads are made of


@lru_cache
def payloads(dialect: str) -> tuple[tuple[str, Any], ...]:
    """Return event name and JSON value of all frames of a dialect that ship, equal frames once."""
    frames = dict.fromkeys(
        (frame.event, frame.data) for body in bodies(dialect) for frame in iter_frames([body])
    )
    return tuple(
        (event, value) for event, data in frames if isinstance(value := _decoded(data), dict)
    )


@lru_cache
def requests(dialect: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return address and JSON body of all requests of a dialect that ship."""
    return tuple(
        (each.request.uri, value)
        for each in shipped().get(dialect, ())
        if (value := request_body(each.request.body)) is not None
    )


def _decoded(data: bytes) -> object:
    try:
        return decode_json(data)
    except NotJson:
        return None


@lru_cache
def keys(dialect: str) -> tuple[str, ...]:
    """Return the names of all members, sorted."""
    return _keys_and_words(dialect)[0]


@lru_cache
def words(dialect: str) -> tuple[str, ...]:
    """Return the short texts among all values, sorted."""
    return _keys_and_words(dialect)[1]


@lru_cache
def _keys_and_words(dialect: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Visit all payloads once, without a generator for each of their million values."""
    names: set[str] = set()
    texts: set[str] = set()
    waiting: list[Any] = [value for _, value in payloads(dialect)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            texts.add(value)
        elif isinstance(value, dict):
            names.update(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return tuple(sorted(names)), tuple(sorted(it for it in texts if len(it) <= _SHORT_WORD))


def framed(payload: bytes, event: str, content_type: str) -> bytes:
    """Spell one payload in the framing of a content type."""
    if "amazon" in content_type:
        return encode_event(payload, event or "chunk")
    if "json" in content_type:
        return payload + b"\n"
    return encode(payload, event=event)
