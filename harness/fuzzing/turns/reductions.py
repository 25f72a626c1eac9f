"""Make smaller interactions, the largest change first: fewer events, members and characters.

Each has different content, so the caller gets its expected result from the oracle. A server could
still send it: a request keeps its messages and its called tools, a call keeps its name and some
arguments, and an event keeps the members that its API requires and all values that name a kind.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from harness.dialects.kit.writer import json_object
from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators.mutator import with_body
from harness.fuzzing.mutators.pieces import joined
from harness.fuzzing.mutators.sent import SentFrame, dumped, sent
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import NotJson, decode_json

_MAX_UNSPLIT_TEXT = 3
_NAME: Final = "get_time"
_USUAL_NAME: Final = re.compile(r"[A-Za-z0-9_.:-]{2,}")
_USUAL_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{4,}")


def rewritings(interaction: Interaction) -> Iterator[Interaction]:
    """Yield `interaction` written by its dialect's writer: complete, then each without one part."""
    dialect = DIALECTS.get(interaction.dialect)
    if dialect is None:
        return
    merged = parse_deltas(interaction)
    if any(isinstance(each, StreamFailure) for each in merged):
        return
    plain = tuple(map(_plain_delta, merged))
    for deltas in (*_shorter_deltas(merged), merged, plain):
        try:
            body = b"".join(dialect.write(deltas))
        except ValueError:  # the API cannot encode it
            continue
        if len(body) < len(interaction.body) or (deltas is plain and plain != merged):
            yield with_body(interaction, body)


def _plain_delta(delta: Delta) -> Delta:
    """Return `delta`; if it starts a call, with an id and a name as a server would send them."""
    if not isinstance(delta, ToolCallStart):
        return delta
    name = delta.name if _USUAL_NAME.fullmatch(delta.name) or not delta.name else _NAME
    usual = not delta.id or _USUAL_ID.fullmatch(delta.id)
    call_id = delta.id if usual else f"call_{delta.index + 1}"
    return msgspec.structs.replace(delta, id=call_id, name=name)


def parse_deltas(interaction: Interaction) -> tuple[Delta, ...]:
    """Return the deltas that the reader of the dialect returns, with consecutive ones joined.

    A rejected call is included as it was sent. The result is () if the dialect is unknown.
    """
    dialect = DIALECTS.get(interaction.dialect)
    read = () if dialect is None else dialect.read(iter_frames([interaction.body]), ())
    return _ended_in_time(joined(read))


def _ended_in_time(deltas: Sequence[Delta]) -> tuple[Delta, ...]:
    """Return `deltas` with the end of each call directly after its last part.

    A call that was rejected keeps the position of its end as it was sent. Its rejection may come at
    the end of the turn.
    """
    kept = [each for each in deltas if not isinstance(each, ToolCallEnd | ToolCallRejected)]
    ended = {each.index for each in deltas if isinstance(each, ToolCallEnd | ToolCallRejected)}
    last = {
        each.index: at
        for at, each in enumerate(kept)
        if isinstance(each, ToolCallStart | ArgumentsDelta) and each.index in ended
    }
    ends = {at: ToolCallEnd(index) for index, at in last.items()}
    return tuple(
        it for at, each in enumerate(kept) for it in (each, ends.get(at)) if it is not None
    )


def _shorter_deltas(deltas: Sequence[Delta]) -> Iterator[tuple[Delta, ...]]:
    """Yield the deltas without one call, text, reasoning or usage, or with a shorter one."""
    for index in sorted({it.index for it in deltas if isinstance(it, ToolCallStart)}):
        yield tuple(_without_call(deltas, index))
    for at, delta in enumerate(deltas):
        for instead in _shorter_delta(delta):
            yield (*deltas[:at], *instead, *deltas[at + 1 :])


def _shorter_delta(delta: Delta) -> Iterator[tuple[Delta, ...]]:
    match delta:
        case TextDelta() | ReasoningDelta():
            yield ()
            for text in _halves(delta.text):
                yield (msgspec.structs.replace(delta, text=text),)
        case UsageDelta():
            yield ()
        case ArgumentsDelta(index, fragment):
            for less in _shorter_arguments(fragment):
                yield (ArgumentsDelta(index, less),)
        case _:
            return


def _shorter_arguments(text: str) -> Iterator[str]:
    """Yield JSON arguments with only the first member, and with a shorter text in it."""
    value = json_object(text)
    if not value:
        return
    name, first = next(iter(value.items()))
    if len(value) > 1:
        yield json.dumps({name: first}, ensure_ascii=False)
    for less in _halves(first) if isinstance(first, str) else ():
        yield json.dumps({**value, name: less}, ensure_ascii=False)


def _halves(text: str) -> Iterator[str]:
    if len(text) > _MAX_UNSPLIT_TEXT:
        yield text[: len(text) // 2]
        yield text[len(text) // 2 :]


def _without_call(deltas: Sequence[Delta], index: int) -> Iterator[Delta]:
    for delta in deltas:
        if not isinstance(delta, ToolCallStart | ArgumentsDelta | ToolCallEnd):
            yield delta
        elif delta.index != index:
            yield msgspec.structs.replace(delta, index=delta.index - (delta.index > index))


# Members of a request without which it is not one.
_OF_REQUEST: Final = frozenset(
    ("model", "messages", "tools", "stream", "input", "contents", "prompt", "system")
)
# Members of an event that servers leave out, whatever they contain.
_OPTIONAL: Final = frozenset(
    (
        *("system_fingerprint", "service_tier", "logprobs", "obfuscation", "timings", "metadata"),
        *("content_filter_results", "prompt_filter_results", "annotations", "provider", "audio"),
        *("native_finish_reason", "prompt_tokens_details", "completion_tokens_details"),
    )
)
# Members that are required, even if they are null or empty.
_REQUIRED: Final = frozenset(
    (
        *("choices", "delta", "finish_reason", "stop_reason", "stop_sequence", "content", "input"),
        *("output", "message", "arguments", "parts", "args", "response", "usage", "summary"),
    )
)
# Members whose value a person or a model wrote as text; any part of it is text again.
_WRITTEN_TEXTS: Final = frozenset(
    ("content", "text", "reasoning", "reasoning_content", "thinking", "description", "message")
)
_CONTENT_TYPE = "content-type"


def reductions(interaction: Interaction) -> Iterator[Interaction]:
    """Yield smaller interactions, each with one change. Changes of the response come first."""
    yield from rewritings(interaction)
    frames = sent(interaction.body)
    if frames is not None:
        for fewer in _without(frames.frames):
            yield msgspec.structs.replace(frames, frames=fewer).into(interaction)
        for at in frames.payload_indexes():
            for data in _payloads(frames.frames[at].data or b""):
                smaller = frames.changed(frames.frames[at], data)
                yield frames.put(at, smaller).into(interaction)
    kept = tuple(each for each in interaction.headers if each[0].lower() == _CONTENT_TYPE)
    if len(kept) < len(interaction.headers):
        yield msgspec.structs.replace(interaction, headers=kept)
    yield from _requests(interaction)


def _without(frames: tuple[SentFrame, ...]) -> Iterator[tuple[SentFrame, ...]]:
    """Yield `frames` without one half, without one quarter, and so on, to without one frame."""
    size = len(frames) // 2
    while size:
        for start in range(0, len(frames), size):
            yield frames[:start] + frames[start + size :]
        size //= 2


def _requests(interaction: Interaction) -> Iterator[Interaction]:
    """Yield `interaction` with a smaller request: no headers, no options, fewer tools, messages."""
    request = interaction.request
    if request.headers:
        yield _with_request(interaction, msgspec.structs.replace(request, headers=()))
    value = json_object(request.body.decode("utf-8", "replace"))
    for smaller in _smaller_requests(value, interaction.body) if value else ():
        body = json.dumps(smaller, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if len(body) < len(request.body):
            yield _with_request(interaction, msgspec.structs.replace(request, body=body))


def _smaller_requests(value: dict[str, Any], answer: bytes) -> Iterator[dict[str, Any]]:
    kept = {name: item for name, item in value.items() if name in _OF_REQUEST}
    if len(kept) < len(value):
        yield kept
    for name, items in value.items():
        for at, item in enumerate(items) if isinstance(items, list) and len(items) > 1 else ():
            if not _is_called(item, answer):
                yield value | {name: items[:at] + items[at + 1 :]}
        for less in _smaller_texts(items, depth=3):
            yield value | {name: less}


def _is_called(tool: Any, answer: bytes) -> bool:  # noqa: ANN401 - any JSON
    """Return whether the response `answer` contains the name of a declared tool."""
    declared = tool.get("function", tool) if isinstance(tool, dict) else {}
    name = declared.get("name") if isinstance(declared, dict) else None
    return isinstance(name, str) and name.encode() in answer


def _smaller_texts(value: Any, depth: int) -> Iterator[Any]:  # noqa: ANN401 - any JSON
    """Yield copies of a JSON value in which one text that a user wrote is half as long."""
    match value:
        case dict() if depth:
            for key, item in value.items():
                is_text = isinstance(item, str) and key in _WRITTEN_TEXTS
                smaller = _halves(item) if is_text else _smaller_texts(item, depth - 1)
                yield from (value | {key: less} for less in smaller)
        case list() if depth:
            for at, item in enumerate(value):
                smaller = _smaller_texts(item, depth - 1)
                yield from ([*value[:at], less, *value[at + 1 :]] for less in smaller)
        case _:
            return


def _with_request(interaction: Interaction, request: Request) -> Interaction:
    return msgspec.structs.replace(interaction, request=request)


def _payloads(data: bytes) -> Iterator[bytes]:
    try:
        value = decode_json(data)
    except NotJson:
        return
    yield from (dumped(smaller, data) for smaller in _smaller_values(value, depth=6))


def _without_members(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield copies of an object without one of the members that a server may leave out."""
    for key, item in value.items():
        is_empty = item in (None, [], {}) and key not in _REQUIRED
        if is_empty or key in _OPTIONAL:
            yield {name: other for name, other in value.items() if name != key}


def _smaller_values(value: Any, depth: int) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield copies of a JSON value without an optional member or an item, or with half a text."""
    if depth < 0:
        return
    match value:
        case dict():
            yield from _without_members(value)
            for key, item in value.items():
                if key in _WRITTEN_TEXTS or not isinstance(item, str):
                    smaller = _smaller_values(item, depth - 1)
                    yield from (value | {key: less} for less in smaller)
        case list():
            for at, item in enumerate(value):
                if len(value) > 1:
                    yield value[:at] + value[at + 1 :]
                yield from (
                    [*value[:at], less, *value[at + 1 :]]
                    for less in _smaller_values(item, depth - 1)
                )
        case str():
            yield from _halves(value)
        case _:
            return
