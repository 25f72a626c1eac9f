"""Apply the edits of a recipe, which change finished events as a proxy or a broken line does."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from harness.emulation.recipe import BitEntry, EditEntry, Event
from harness.wire.aws import encode_event, encode_exception, wrap_chunk
from harness.wire.sse import encode

Events = tuple[bytes, ...]


class EditError(ValueError):
    """The events do not contain what an edit is to change."""


def apply_edit(edit: EditEntry, events: Events) -> Events:
    """Return `events` after the change that `edit` describes.

    Raises:
        EditError: the events do not contain what the edit is to change.
    """
    return _EDITS[edit.keys[0]](edit.value, events)


def raw_events(entries: Iterable[Event]) -> Events:
    """Return the bytes of the events that an author wrote in a recipe."""
    return tuple(
        entry.encode() if isinstance(entry, str) else _FRAMINGS[entry.keys[0]](entry.value)
        for entry in entries
    )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _named(write: Callable[[bytes, str], bytes], entry: dict[str, Any]) -> bytes:
    ((name, value),) = entry.items()
    return write(_json(value), name)


_FRAMINGS: dict[str, Callable[[Any], bytes]] = {
    "json": lambda value: encode(_json(value)),
    "event": partial(_named, lambda payload, name: encode(payload, event=name)),
    "document": _json,
    "line": lambda value: _json(value) + b"\n",
    "aws_event": partial(_named, encode_event),
    "aws_exception": partial(_named, encode_exception),
    "bedrock_chunk": lambda value: encode_event(wrap_chunk(_json(value)), "chunk"),
    "binary": bytes,
}


def _cut_after(text: str, events: Events) -> Events:
    marker = text.encode()
    at = _index_of(events, marker)
    return (*events[:at], events[at][: events[at].index(marker) + len(marker)])


def _swap(texts: tuple[str, str], events: Events) -> Events:
    old, new = (text.encode() for text in texts)
    _index_of(events, old)
    return tuple(event.replace(old, new) for event in events)


def _wrap(_name: str, events: Events) -> Events:
    """Put each event into the envelope of Bedrock's invoke API, which replaces the SSE framing."""
    payloads = (event.removeprefix(b"data: ").rstrip() for event in events)
    return tuple(encode_event(wrap_chunk(payload), "chunk") for payload in payloads)


def _flip_bit(entry: BitEntry, events: Events) -> Events:
    damaged = bytearray(_at(events, entry.event))
    if not -len(damaged) <= entry.byte < len(damaged):
        raise EditError(f"event {entry.event} has {len(damaged)} bytes, and no byte {entry.byte}")
    damaged[entry.byte] ^= 1
    before, after = events[: entry.event], events[entry.event :][1:]
    return (*before, bytes(damaged), *after)


def _at(events: Events, number: int) -> bytes:
    if not -len(events) <= number < len(events):
        raise EditError(f"there are {len(events)} events, and no event {number}")
    return events[number]


def _index_of(events: Events, marker: bytes) -> int:
    for at, event in enumerate(events):
        if marker in event:
            return at
    raise EditError(f"no event contains {marker.decode()!r}")


_EDITS: dict[str, Callable[[Any, Events], Events]] = {
    "insert": lambda entry, events: (
        *events[: entry.at],
        *raw_events(entry.events),
        *events[entry.at :],
    ),
    "append": lambda entries, events: (*events, *raw_events(entries)),
    "cut_after": _cut_after,
    "end_before": lambda text, events: events[: _index_of(events, text.encode())],
    "swap": _swap,
    "prefix": lambda text, events: tuple(text.encode() + event for event in events),
    "wrap": _wrap,
    "keep": lambda count, events: events[:count],
    "cut_in": lambda entry, events: (
        *events[: entry.event],
        _at(events, entry.event)[: entry.bytes],
    ),
    "flip_bit": _flip_bit,
}
