"""An interaction -> smaller ones, the boldest first: fewer events, fewer members, shorter texts.

Each says something else than the one given; whoever tries them asks the strict reading what.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.fuzzing.mutators.sent import Sent, SentFrame, sent
from harness.fuzzing.rewriting import rewritings
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import NotJson, decode_json

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
    for at in frames.places():
        for data in _payloads(frames.frames[at].data or b""):
            yield _put(frames, at, data).into(interaction)


def _put(frames: Sent, at: int, data: bytes) -> Sent:
    return frames.put(at, frames.changed(frames.frames[at], data))


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
        yield _asked(interaction, Request(request.method, request.uri))
    if request.headers:
        yield _asked(interaction, msgspec.structs.replace(request, headers=()))
    try:
        value = decode_json(request.body)
    except NotJson:
        return
    for smaller in _smaller(value, depth=2) if isinstance(value, dict) else ():
        body = json.dumps(smaller, ensure_ascii=False).encode("utf-8", "surrogatepass")
        yield _asked(interaction, msgspec.structs.replace(request, body=body))


def _asked(interaction: Interaction, request: Request) -> Interaction:
    return msgspec.structs.replace(interaction, request=request)


def _payloads(data: bytes) -> Iterator[bytes]:
    try:
        value = decode_json(data)
    except NotJson:
        return
    separators = (", ", ": ") if b'": ' in data else (",", ":")
    for smaller in _smaller(value, depth=6):
        spelled = json.dumps(smaller, ensure_ascii=False, separators=separators)
        yield spelled.encode("utf-8", "surrogatepass")


def _smaller(value: Any, depth: int) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield values with one member, item or half of a text less."""
    if depth < 0:
        return
    match value:
        case dict():
            for key in value:
                yield {name: item for name, item in value.items() if name != key}
            for key, item in value.items():
                yield from (value | {key: less} for less in _smaller(item, depth - 1))
        case list():
            for at, item in enumerate(value):
                yield value[:at] + value[at + 1 :]
                yield from (
                    [*value[:at], less, *value[at + 1 :]] for less in _smaller(item, depth - 1)
                )
        case str() if len(value) > _SHORT:
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]
        case _:
            return
