"""An interaction -> smaller ones, the largest change first: fewer events, members and characters.

Each has another content than the one given, which the caller gets from the oracle.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

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
_EMPTY_OBJECT = "{}"


def rewritings(interaction: Interaction) -> Iterator[Interaction]:
    """Yield `interaction` as the writer encodes it: complete, and with one part less each."""
    dialect = DIALECTS.get(interaction.dialect)
    if dialect is None:
        return
    merged = parse_deltas(interaction)
    if any(isinstance(each, StreamFailure) for each in merged):
        return
    for deltas in (*_shorter_deltas(merged), merged):
        try:
            body = b"".join(dialect.write(deltas))
        except ValueError:  # the API cannot encode it
            continue
        if len(body) < len(interaction.body):
            yield with_body(interaction, body)


def parse_deltas(interaction: Interaction) -> tuple[Delta, ...]:
    """Return what the reader of its dialect finds in `interaction`, neighbours joined.

    A rejected call is there as it was sent. () if the dialect is unknown.
    """
    dialect = DIALECTS.get(interaction.dialect)
    read = () if dialect is None else dialect.read(iter_frames([interaction.body]), ())
    return joined(map(_without_rejection, read))


def _without_rejection(delta: Delta) -> Delta:
    """Return the delta with which a writer ends a call, whether or not it was rejected."""
    return ToolCallEnd(delta.index) if isinstance(delta, ToolCallRejected) else delta


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
        case ArgumentsDelta(index, fragment) if fragment != _EMPTY_OBJECT:
            yield (ArgumentsDelta(index, _EMPTY_OBJECT),)
        case _:
            return


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


_SHORT = 3
_CONTENT_TYPE = "content-type"


def reductions(interaction: Interaction) -> Iterator[Interaction]:
    """Yield smaller interactions, one change each."""
    yield from _requests(interaction)
    yield from rewritings(interaction)
    if len(interaction.headers) > 1:
        kept = tuple(each for each in interaction.headers if each[0].lower() == _CONTENT_TYPE)
        if len(kept) < len(interaction.headers):
            yield msgspec.structs.replace(interaction, headers=kept)
    frames = sent(interaction.body)
    if frames is None:
        return
    for fewer in _without(frames.frames):
        yield msgspec.structs.replace(frames, frames=fewer).into(interaction)
    for at in frames.payload_indexes():
        for data in _payloads(frames.frames[at].data or b""):
            smaller = frames.changed(frames.frames[at], data)
            yield frames.put(at, smaller).into(interaction)


def _without(frames: tuple[SentFrame, ...]) -> Iterator[tuple[SentFrame, ...]]:
    """Yield `frames` without a half, a quarter and so on, down to each one."""
    size = len(frames) // 2
    while size:
        for start in range(0, len(frames), size):
            yield frames[:start] + frames[start + size :]
        size //= 2


def _requests(interaction: Interaction) -> Iterator[Interaction]:
    """Yield it with less of a request: none, no messages, no headers, fewer tools."""
    request = interaction.request
    if request.body:
        yield _with_request(interaction, Request(request.method, request.uri))
    if request.headers:
        yield _with_request(interaction, msgspec.structs.replace(request, headers=()))
    try:
        value = decode_json(request.body)
    except NotJson:
        return
    for smaller in _smaller_values(value, depth=2) if isinstance(value, dict) else ():
        body = json.dumps(smaller, ensure_ascii=False).encode("utf-8", "surrogatepass")
        yield _with_request(interaction, msgspec.structs.replace(request, body=body))


def _with_request(interaction: Interaction, request: Request) -> Interaction:
    return msgspec.structs.replace(interaction, request=request)


def _payloads(data: bytes) -> Iterator[bytes]:
    try:
        value = decode_json(data)
    except NotJson:
        return
    yield from (dumped(smaller, data) for smaller in _smaller_values(value, depth=6))


def _smaller_values(value: Any, depth: int) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield values with one member, item or half of a text less."""
    if depth < 0:
        return
    match value:
        case dict():
            for key in value:
                yield {name: item for name, item in value.items() if name != key}
            for key, item in value.items():
                yield from (value | {key: less} for less in _smaller_values(item, depth - 1))
        case list():
            for at, item in enumerate(value):
                yield value[:at] + value[at + 1 :]
                yield from (
                    [*value[:at], less, *value[at + 1 :]]
                    for less in _smaller_values(item, depth - 1)
                )
        case str() if len(value) > _SHORT:
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]
        case _:
            return
