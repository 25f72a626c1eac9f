"""Complete the events that an author wrote with the members that the API has in each of them.

An author writes what a scenario is about. The rest of an event is what its server sends: the id and
the model of a chunk, the role of the first delta, the usage of a message, the number of an event
and its event line. A member that the author wrote, also as null, is never changed.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.emulation.deltas import writer_options
from harness.emulation.recipe import Event, FramedEvent
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta, Usage, UsageDelta

Json: TypeAlias = dict[str, Any]
# The objects of the events of a response; None for an event that is not such an object.
Values: TypeAlias = list[Json | None]
_Complete: TypeAlias = Callable[[Values, Sequence[Any]], Iterable[Json | None]]

# The members come from what the dialect's writer writes for this turn.
_TURN: Final[tuple[Delta, ...]] = (
    TextDelta("a"),
    UsageDelta(Usage(41, 12)),
    Finish(FinishReason.STOP, ""),
)
_MODEL: Final = "{model}"
_FRAMED: Final = ("json", "event", "bedrock_chunk")


def complete_events(
    dialect: str, entries: tuple[Event, ...], tools: Sequence[Any] = ()
) -> tuple[Event, ...]:
    """Return `entries` with the members that each event of `dialect` has.

    Events as text, and events that are not of `dialect`, are returned as they are.

    Args:
        dialect: the API.
        entries: the events of one response.
        tools: the tools of the request, as it has them; a response of some APIs repeats them.
    """
    objects = [value for entry in entries if (value := _value(entry)) is not None]
    if dialect not in _COMPLETE or _is_realtime(objects):
        return entries
    entries = (*_start(dialect, objects), *entries, *_end(dialect, entries[-1:]))
    values = _COMPLETE[dialect]([_value(entry) for entry in entries], tools)
    pairs = zip(entries, values, strict=True)
    return tuple(entry if value is None else _with(entry, value, dialect) for entry, value in pairs)


def _is_realtime(objects: list[Json]) -> bool:
    """Return whether the events are of the Realtime API, which gives each of them an id."""
    kinds = [value.get("type") for value in objects]
    return "response.done" in kinds or any("event_id" in value for value in objects)


@cache
def _written(dialect: str) -> dict[str, Json]:
    """Return the events of the dialect's writer by type; those of one type are one object."""
    body = b"".join(DIALECTS[dialect].write(_TURN, writer_options(dialect, {}, _MODEL, "")))
    lines = (line.removeprefix(b"data: ") for line in body.splitlines())
    found: dict[str, Json] = {}
    for value in (json.loads(line) for line in lines if line.startswith(b"{")):
        found[value.get("type", "")] = {**found.get(value.get("type", ""), {}), **value}
    return found


def _start(dialect: str, objects: list[Json]) -> tuple[Event, ...]:
    """Return the event that starts a response, if there are only events of its items or end."""
    kinds = {str(value.get("type")) for value in objects}
    has_body = any(kind.startswith(_BODY) for kind in kinds)
    is_resumed = bool(objects) and objects[0].get("sequence_number", 0) != 0
    if dialect != "openai-responses" or _START in kinds or not has_body or is_resumed:
        return ()
    responses = (value["response"] for value in objects if isinstance(value.get("response"), dict))
    known = next((each["id"] for each in responses if "id" in each), "resp_1")
    return (FramedEvent(json={"type": _START, "response": {"id": known}}),)


def _end(dialect: str, last: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the mark that ends a stream of chunks, if `last` is a chunk with a finish reason."""
    value = _value(last[0]) if last else None
    choices = None if value is None else value.get("choices")
    if dialect not in _CHUNKED or not isinstance(choices, list):
        return ()
    is_finished = any(isinstance(each, dict) and each.get("finish_reason") for each in choices)
    return ("data: [DONE]\n\n",) if is_finished else ()


_START: Final = "response.created"
# The events before the first item, and the status of their response if it is not their name.
_WITH_RESPONSE: Final = (_START, "response.queued", "response.in_progress")
_STATUSES: Final = {"created": "in_progress"}
_BODY: Final = ("response.output_", "response.completed")


def _value(entry: Event) -> Json | None:
    if not isinstance(entry, FramedEvent) or entry.keys[0] not in _FRAMED:
        return None
    value = next(iter(entry.value.values())) if entry.keys[0] == "event" else entry.value
    return value if isinstance(value, dict) else None


def _with(entry: Event, value: Json, dialect: str) -> FramedEvent:
    """Return `entry` with another object, and with an event line if the API sends one."""
    assert isinstance(entry, FramedEvent)  # noqa: S101 - only such an event has an object
    key, kind = entry.keys[0], str(value.get("type"))
    if key == "event":
        return FramedEvent(event={next(iter(entry.value)): value})
    if key == "json" and kind.startswith(_WITH_EVENT_LINE.get(dialect, ())):
        return FramedEvent(event={kind: value})
    return replace(entry, **{key: value})


# The beginnings of the types that an event line repeats.
_WITH_EVENT_LINE: Final[dict[str, tuple[str, ...]]] = {
    "anthropic": ("message_", "content_block_", "ping", "error"),
    "openai-responses": ("response.",),
}


# Chunks with choices


def _chunks(dialect: str) -> _Complete:
    def complete(values: Values, _tools: Sequence[Any]) -> Iterator[Json | None]:
        chunk = _written(dialect)[""]
        start = {name: chunk[name] for name in ("id", "object", "created", "model")}
        opened: set[str] = set()
        for value in values:
            if value is None or not isinstance(value.get("choices"), list):
                yield value
                continue
            choices = [_choice(each, opened, dialect) for each in value["choices"]]
            whole = {**start, **value, "choices": choices}
            if isinstance(usage := value.get("usage"), dict) and usage:
                whole["usage"] = _usage(usage, chunk["usage"])
            yield whole

    return complete


def _usage(given: Json, written: Json) -> Json:
    """Return the counts of an author with the details that the writer adds to them."""
    details = {name: it for name, it in written.items() if name.endswith("_details")}
    return {**given, **{name: it for name, it in details.items() if name not in given}}


def _choice(choice: Any, opened: set[str], dialect: str) -> Any:  # noqa: ANN401 - any JSON of an author
    """Return `choice` with a role if its delta is the first of this index, and a finish reason.

    `opened` has the indexes whose first delta has come. The function adds the index of `choice`.
    """
    if not isinstance(choice, dict) or not isinstance(choice.get("delta"), dict):
        return choice
    index = str(choice.get("index"))
    role = {} if index in opened else {"role": "assistant"}
    opened.add(index)
    delta = {**role, **choice["delta"]}
    if isinstance(calls := delta.get("tool_calls"), list) and dialect == "openai-chat":
        delta["tool_calls"] = [_call(each) for each in calls]
    return {**choice, "delta": delta, "finish_reason": choice.get("finish_reason")}


def _call(entry: Any) -> Any:  # noqa: ANN401 - any JSON of an author
    """Return an entry of `tool_calls` with its type if it has the name of a function."""
    match entry:
        case {"function": {"name": str(), **_function}} if "type" not in entry:
            return {"type": "function", **entry}
        case _:
            return entry


# Candidates


def _candidates(values: Values, _tools: Sequence[Any]) -> Iterator[Json | None]:
    """Add the model and the counts. The id of a response is the author's, as it may make ids."""
    written = _written("gemini")[""]
    is_counted = any(value and not _COUNTS.isdisjoint(value) for value in values)
    names = ("modelVersion",) if is_counted else ("usageMetadata", "modelVersion")
    for value in values:
        if value is None or not isinstance(candidates := value.get("candidates"), list):
            yield value
        else:
            more = {name: written[name] for name in names if name not in value}
            yield {**value, "candidates": [_candidate(each) for each in candidates], **more}


def _candidate(candidate: Any) -> Any:  # noqa: ANN401 - any JSON of an author
    match candidate:
        case {"content": {"parts": list(), **more} as content} if "role" not in more:
            return {**candidate, "content": {**content, "role": "model"}}
        case _:
            return candidate


_COUNTS: Final = frozenset(("usageMetadata", "usage_metadata"))


# Messages


def _message_events(values: Values, _tools: Sequence[Any]) -> Iterator[Json | None]:
    for value in values:
        yield None if value is None else _message_event(value)


def _message_event(value: Json) -> Json:
    match value.get("type"), value.get("message"), value.get("delta"):
        case "message_start", dict(message), _:
            return {
                **value,
                "message": {**_written("anthropic")["message_start"]["message"], **message},
            }
        case "message_delta", _, dict(delta):
            reason = {**delta, "stop_sequence": delta.get("stop_sequence")}
            usage = _written("anthropic")["message_delta"]["usage"]
            return {**value, "delta": reason, "usage": value.get("usage", usage)}
        case _:
            return value


# Events of responses


def _response_events(values: Values, tools: Sequence[Any]) -> Iterator[Json | None]:
    is_numbered = any("sequence_number" in value for value in values if value is not None)
    responses = (value["response"] for value in values if value and _is_about(value))
    # A response repeats the tools of its request, unless the author gave it others.
    repeated = next((each["tools"] for each in responses if "tools" in each), list(tools))
    places: dict[object, Json] = {}
    for number, value in enumerate(values):
        kind = "" if value is None else str(value.get("type"))
        if value is None or not kind.startswith("response."):
            yield value
            continue
        counted: Json = {} if is_numbered else {"sequence_number": number}
        about: Json = {"response": {}} if kind in _WITH_RESPONSE else {}
        yield {"type": kind, **counted, **_members(kind, about | value, places, repeated)}


def _is_about(value: Json) -> bool:
    return isinstance(value.get("response"), dict)


def _members(kind: str, value: Json, places: dict[object, Json], tools: list[Any]) -> Json:
    """Return the members of an event. `places` has id and index of each item so far, by both."""
    match value:
        case {"response": dict(given)}:
            whole = {**_response(kind), "tools": tools, **given}
            if isinstance(output := given.get("output"), list):
                whole["output"] = [_item("", each) for each in output]
            return {**value, "response": whole}
        case {"item": dict(item)} if kind.startswith("response.output_item."):
            place = {"item_id": item.get("id"), "output_index": value.get("output_index")}
            if None not in place.values():
                places.update(dict.fromkeys(place.values(), place))
            return {**value, "item": _item(kind, item)}
    place = places.get(value.get("item_id", value.get("output_index")), {})
    defaults = next((more for start, more in _PARTS.items() if kind.startswith(start)), {})
    if isinstance(value.get("part"), dict):
        value = {**value, "part": _text_part(value["part"])}
    return {**place, **defaults, **value}


def _response(kind: str) -> Json:
    """Return the object in an event of type `kind`; its output is empty until the end."""
    events = _written("openai-responses")
    whole = events.get(kind, events["response.completed"])["response"]
    word = kind.removeprefix("response.")
    if kind in _WITH_RESPONSE:
        begun = {"status": _STATUSES.get(word, word), "completed_at": None}
        return {**whole, **begun, "output": [], "usage": None}
    ended: Json = {"status": word, "usage": None if word == "failed" else whole["usage"]}
    ended |= {} if word == "completed" else {"completed_at": None}
    return {name: value for name, value in {**whole, **ended}.items() if name != "output"}


def _item(kind: str, item: Any) -> Any:  # noqa: ANN401 - any JSON of an author
    """Return an item of an event of type `kind`, or of the output of a response."""
    if not isinstance(item, dict):
        return item
    is_added = kind.endswith(".added")
    more: Json = {"status": "in_progress" if is_added else "completed"}
    match item.get("type"):
        case "message":
            more |= {"role": "assistant", **({"content": []} if is_added else {})}
        case "function_call" | "custom_tool_call" as call:
            name = "input" if call == "custom_tool_call" else "arguments"
            more |= {name: ""} if is_added else {}
        case _:
            return item
    if isinstance(parts := item.get("content"), list):
        item = {**item, "content": [_text_part(each) for each in parts]}
    return item | {name: value for name, value in more.items() if name not in item}


def _text_part(part: Any) -> Any:  # noqa: ANN401 - any JSON of an author
    match part:
        case {"type": "output_text"}:
            return {
                **part,
                "annotations": part.get("annotations", []),
                "logprobs": part.get("logprobs", []),
            }
        case _:
            return part


# The beginning of an event's type -> members that locate what it is about in its item.
_PARTS: Final[dict[str, Json]] = {
    "response.output_text.": {"content_index": 0, "logprobs": []},
    "response.content_part.": {"content_index": 0},
    "response.refusal.": {"content_index": 0},
    "response.reasoning_text.": {"content_index": 0},
    "response.reasoning_summary_": {"summary_index": 0},
}

_CHUNKED: Final = ("openai-chat", "mistral", "openai-completions")
_COMPLETE: Final[dict[str, _Complete]] = {
    **{name: _chunks(name) for name in _CHUNKED},
    "anthropic": _message_events,
    "gemini": _candidates,
    "openai-responses": _response_events,
}
