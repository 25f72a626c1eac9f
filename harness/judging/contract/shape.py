"""Count the members that the objects of streams have, by the kind of each object.

The kind of an object is its event and the path to it, such as `chunk.choices[].delta`, and the type
that the object names: `content_block_start.content_block:tool_use`. An object with a type has two
kinds, one without and one with the type. Data of users, such as the input of a call, is not read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from harness.errors import StreamError
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

# The kind of the events of an API that names no events.
CHUNK: Final = "chunk"
# What Bedrock adds to the last event of `InvokeModelWithResponseStream`, whatever the API is.
_OF_ENVELOPE: Final = "amazon-bedrock-invocationMetrics"
_TYPES: Final[dict[type, str]] = {
    str: "text", bool: "boolean", int: "number", float: "number", dict: "object", list: "list",
    type(None): "null",
}  # fmt: skip


class Grammar(msgspec.Struct, frozen=True):
    """How the events of an API name themselves and their objects.

    Fields:
        types: the members that name the type of an object, or whose value tells two kinds apart.
        opaque: the members with data of users, whose content is not read.
        events: the events that some servers send as the only member of an object; () if none.
    """

    types: tuple[str, ...] = ("type",)
    opaque: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()


class Part(msgspec.Struct, frozen=True):
    """One object of an event.

    Fields:
        kind: the event, the path and the type, as the module describes.
        value: the object.
        offset: the offset of its event in the body.
    """

    kind: str
    value: dict[str, Any]
    offset: int


class MemberCount(msgspec.Struct, frozen=True):
    """How often one kind of object has a member.

    Fields:
        streams: the streams with objects of the kind.
        present: those of them in which each object of the kind has the member.
        types: the types of its values.
    """

    streams: int
    present: int
    types: tuple[str, ...]


def type_name(value: object) -> str:
    """Return the JSON type of a value, as tables name it."""
    return _TYPES[type(value)]


def iter_events(interaction: Interaction, grammar: Grammar) -> Iterator[Part]:
    """Yield each event of a response that is a JSON object, with the name of the event."""
    with suppress(StreamError):
        for frame in iter_frames([interaction.body]):
            value = json_or_none(frame.data)
            if isinstance(value, dict):
                yield event_of(value, frame.event, frame.offset, grammar)
            elif isinstance(value, list):  # an element of Gemini's list arrives alone
                yield from (
                    event_of(each, "", frame.offset, grammar)
                    for each in value
                    if isinstance(each, dict)
                )


def is_invoked(interaction: Interaction) -> bool:
    """Return whether Bedrock's `InvokeModelWithResponseStream` sent the events, not Converse."""
    with suppress(StreamError):
        values = (json_or_none(frame.data) for frame in iter_frames([interaction.body]))
        return any(isinstance(value, dict) and _OF_ENVELOPE in value for value in values)
    return False


def event_of(value: dict[str, Any], name: str, offset: int, grammar: Grammar) -> Part:
    """Return the event in a frame with this JSON object, event name and offset."""
    members = [key for key in value if key != _OF_ENVELOPE]
    if len(members) == 1 and (only := members[0]) in grammar.events:
        inner = value[only]
        return Part(only, inner if isinstance(inner, dict) else {}, offset)
    return Part(
        _type_of(value, grammar) or (name if grammar.events else "") or CHUNK, value, offset
    )


def _type_of(value: Mapping[str, Any], grammar: Grammar) -> str:
    for member in grammar.types:
        given = value.get(member)
        if isinstance(given, str) and given:
            return given
        if isinstance(given, bool):
            return f"{member}={given}".lower()
    return ""


def iter_parts(event: Part, grammar: Grammar) -> Iterator[Part]:
    """Yield the objects of one event, the event itself first."""
    waiting = [event]
    while waiting:
        part = waiting.pop()
        yield part
        for name, value in part.value.items():
            if name in grammar.opaque:
                continue
            items = value if isinstance(value, list) else [value]
            path = f"{part.kind}.{name}" + ("[]" if isinstance(value, list) else "")
            for item in items:
                if isinstance(item, dict):
                    waiting.append(Part(path, item, event.offset))
                    if kind := _type_of(item, grammar):
                        yield Part(f"{path}:{kind}", item, event.offset)


def count_members(
    interactions: Iterable[Interaction], grammar: Grammar
) -> dict[str, dict[str, MemberCount]]:
    """Return kind -> member -> how many of the streams have it, over all `interactions`."""
    streams: Counter[str] = Counter()
    present: Counter[tuple[str, str]] = Counter()
    types: dict[tuple[str, str], set[str]] = {}
    for interaction in interactions:
        common = stream_members(interaction, grammar)
        for kind, members in common.items():
            streams[kind] += 1
            for name, (always, found) in members.items():
                present[kind, name] += always
                types.setdefault((kind, name), set()).update(found)
    counts: dict[str, dict[str, MemberCount]] = {}
    for (kind, name), found in sorted(types.items()):
        row = MemberCount(streams[kind], present[kind, name], tuple(sorted(found)))
        counts.setdefault(kind, {})[name] = row
    return counts


def stream_members(
    interaction: Interaction, grammar: Grammar
) -> dict[str, dict[str, tuple[bool, set[str]]]]:
    """Return kind -> member -> whether each object of one stream has it, and its types."""
    objects: Counter[str] = Counter()
    having: Counter[tuple[str, str]] = Counter()
    types: dict[tuple[str, str], set[str]] = {}
    for event in iter_events(interaction, grammar):
        for part in iter_parts(event, grammar):
            objects[part.kind] += 1
            for name, value in part.value.items():
                having[part.kind, name] += 1
                types.setdefault((part.kind, name), set()).add(type_name(value))
    found: dict[str, dict[str, tuple[bool, set[str]]]] = {kind: {} for kind in objects}
    for (kind, name), count in having.items():
        found[kind][name] = (count == objects[kind], types[kind, name])
    return found
