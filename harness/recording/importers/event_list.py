"""Turn a list of JSON events without framing into the responses in it.

A list may contain several responses. Events are framed again as the API of their dialect does.
Nothing is added that the list does not contain, such as `[DONE]`. Parts of JSON are kept as they
were written, including digits and the order of keys. If JSON contains half a surrogate pair, which
the fast decoder rejects, its parts are encoded again.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, Final

import msgspec

from harness.dialects.kit.detect import Detection
from harness.dialects.table import DETECTOR
from harness.recording.importers.container import encodable
from harness.turns.json_values import as_text
from harness.wire.aws import encode_event, encode_exception
from harness.wire.payload import NotJson, decode_json, json_or_none
from harness.wire.sse import encode

Members = dict[str, msgspec.Raw]

_MEMBERS = msgspec.json.Decoder(Members)
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


def members(data: bytes | msgspec.Raw) -> Members:
    """Return the members of a JSON object, each value as its original text.

    Raises:
        NotJson: `data` is not a JSON object, or is nested too deeply.
    """
    try:
        return _MEMBERS.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = decode_json(bytes(data))
    if not isinstance(value, dict):
        raise NotJson("expected an object")
    return {encodable(key): _written(part) for key, part in value.items()}


def elements(data: bytes | msgspec.Raw) -> list[msgspec.Raw]:
    """Return the elements of a JSON array, each as its original text.

    Raises:
        NotJson: `data` is not a JSON array, or is nested too deeply.
    """
    try:
        return _ELEMENTS.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = decode_json(bytes(data))
    if not isinstance(value, list):
        raise NotJson("expected an array")
    return list(map(_written, value))


def on_one_line(part: bytes | msgspec.Raw) -> bytes:
    """Return `part` without line ends, because an event must not contain any."""
    data = bytes(part)
    if b"\n" not in data and b"\r" not in data:
        return data
    try:
        return msgspec.json.format(data, indent=-1)
    except msgspec.DecodeError:
        return bytes(_written(decode_json(data)))


def _written(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value, separators=(",", ":")).encode("ascii"))


DONE: Final = b"[DONE]"

Event = dict[str, Any]
Framing = Callable[[bytes, Event], bytes]

# Events at the beginning of a response only: key -> values.
_STARTS: Final = {
    "type": frozenset({"response.created", "message_start", "message-start", "session.created"}),
    "event_type": frozenset({"interaction.created", "interaction.start", "stream-start"}),
}
_START_KEYS: Final = ("messageStart",)
# Cohere's first API names its events with this key and sends one a line. Its second does not.
# Keys of the response's id.
_IDS: Final = ("id", "responseId")
# List of alternatives in a chunk -> the key that only its last chunk has.
_FINISHES: Final = (("choices", "finish_reason"), ("candidates", "finishReason"))


def parse_event(payload: bytes) -> Event | None:
    """Return the JSON object in `payload`; {} for `[DONE]`; None for anything else."""
    if payload == DONE:
        return {}
    event = json_or_none(payload)
    return event if isinstance(event, dict) else None


def are_json_lines(payloads: Iterable[bytes]) -> bool:
    """Whether the API that sends these events sends one event a line."""
    events = map(parse_event, payloads)
    return _framing([event for event in events if event is not None]) is _as_line


def _framing(events: Sequence[Event]) -> Framing:
    mark = DETECTOR.first_mark((event, "") for event in events)
    row = DETECTOR.by_dialect.get(mark.dialect, _NO_DETECTION)
    if row.events_one_a_line and any(row.events_one_a_line in event for event in events):
        return _as_line
    return _FRAMINGS[row.events_in_lists]


def _responses(events: Iterable[tuple[bytes, Event]]) -> Iterator[list[tuple[bytes, Event]]]:
    """Split the events at the beginning of each response."""
    part: list[tuple[bytes, Event]] = []
    started = finished = False
    current: object = None
    for payload, event in events:
        named = next((event[key] for key in _IDS if event.get(key)), None)
        starts = _starts(event)
        if (starts and (started or finished)) or (finished and _is_other(event, named, current)):
            yield part
            part, started, finished = [], False, False
        part.append((payload, event))
        current = named or current
        started = started or starts
        finished = finished or payload == DONE or _finishes(event)
    yield part


def _is_other(event: Event, named: object, current: object) -> bool:
    """Whether an event after the finish belongs to the next response."""
    return bool(named and named != current) or "done" in event


def _starts(event: Event) -> bool:
    named = any(as_text(event.get(key)) in values for key, values in _STARTS.items())
    return named or any(key in event for key in _START_KEYS)


def _finishes(event: Event) -> bool:
    if event.get("done") is True:
        return True
    for group, key in _FINISHES:
        items = event.get(group)
        if isinstance(items, list):
            return any(isinstance(item, dict) and item.get(key) for item in items)
    return False


# The framing of each dialect


def _as_named_event(payload: bytes, event: Event) -> bytes:
    """Return an SSE event whose event name is the type in the JSON object."""
    return encode(payload, event=as_text(event.get("type")) or as_text(event.get("event_type")))


def _as_line(payload: bytes, event: Event) -> bytes:
    del event
    return payload + b"\n"


def _as_message(payload: bytes, event: Event) -> bytes:
    """Return an AWS message with the key of `{"name": {...}}` as its event type."""
    if len(event) != 1:
        return encode_event(payload, "")
    ((name, inner),) = members(payload).items()
    make = encode_exception if name.endswith("Exception") else encode_event
    return make(bytes(inner), name)


_NO_DETECTION: Final = Detection()
_FRAMINGS: Final[dict[str, Framing]] = {
    "event": lambda payload, _: encode(payload),
    "named-event": _as_named_event,
    "line": _as_line,
    "message": _as_message,
}


def frame_responses(payloads: Iterable[bytes]) -> list[bytes]:
    """Return the bodies of the responses in `payloads`, in the framing of their dialect.

    The result is empty if a payload is not an event.
    """
    parsed = [(payload, parse_event(payload)) for payload in payloads]
    events = [(payload, event) for payload, event in parsed if event is not None]
    if len(events) < len(parsed) or not events:
        return []
    frame = _framing([event for _, event in events])
    return [b"".join(starmap(frame, part)) for part in _responses(events)]
