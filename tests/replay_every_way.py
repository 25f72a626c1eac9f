"""One helper that replays a decoder every way that a network may cut its bytes.

Whole, byte by byte, every single cut, every seam at once, two cuts at random, and with bytes
after what is decoded. All of them must say the same; that is what it returns. No test of a
decoder feeds it in any other way.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from harness.dialects.openai_chat.calls import ReaderPolicy
from harness.dialects.openai_chat.read import read
from harness.errors import StreamError
from harness.turns.deltas import Delta
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, iter_single_cuts, seams, split
from harness.wire.frames import MAX_EVENT_BYTES, Frame
from harness.wire.framing import iter_frames
from harness.wire.sse import SSEDecoder

T = TypeVar("T")

# Bodies up to this length are cut at every offset; longer ones at some of their seams.
EVERY_CUT_UP_TO_BYTES = 400
_SINGLE_SEAMS = 8
_SHOWN_CHARACTERS = 2000
# Changes nothing after a line that is over, whatever stands before it.
TAIL = b": bytes after the end\n"


def replay_every_way(
    decode: Callable[[Iterable[bytes]], T], body: bytes, *, tail: bytes = TAIL
) -> T:
    """Return what `decode` makes of `body`, the same for every chunking.

    Args:
        decode: the reads of one stream -> its result, compared with `==`.
        body: all bytes of the stream.
        tail: bytes that must change nothing when they follow; only used where `body` is empty
            or ends with a line end, so that they do not complete its last line.
    """
    result = decode(split(body, UNSPLIT))
    for cuts in _chunkings(body):
        again = decode(split(body, cuts))
        assert _same(again, result), _difference(f"cut at {_shown(cuts)}", again, result)
    if tail and (not body or body.endswith((b"\n", b"\r"))):
        for reads in ([body, tail], [body + tail]):
            again = decode(reads)
            assert _same(again, result), _difference("with bytes after it", again, result)
    return result


def _same(again: object, result: object) -> bool:
    """Compare out of sight of pytest, which would spell out both sides of a long stream."""
    return bool(again == result)


def _difference(how: str, again: object, result: object) -> str:
    return f"{how}:\n  {_shown(again)}\nwhole:\n  {_shown(result)}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _chunkings(body: bytes) -> Iterator[Chunking]:
    yield each_byte(body)
    yield seams(body)
    if len(body) <= EVERY_CUT_UP_TO_BYTES:
        yield from iter_single_cuts(body)
    else:
        found = seams(body)
        yield from ((cut,) for cut in found[:: max(1, len(found) // _SINGLE_SEAMS)])
    if len(body) > 2:
        # Seeded by the body: a failure comes again.
        yield tuple(sorted(random.Random(body).sample(range(1, len(body)), 2)))  # noqa: S311 - no secret


class Decoded(tuple[tuple[Frame, ...], bytes, int | None, str]):
    """What an `SSEDecoder` said: frames, last event id, retry time, and its error if any."""

    __slots__ = ()

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self[0]

    @property
    def last_event_id(self) -> bytes:
        return self[1]

    @property
    def retry_ms(self) -> int | None:
        return self[2]

    @property
    def error(self) -> str:
        return self[3]


def decode_sse(body: bytes, *, limit: int = MAX_EVENT_BYTES, tail: bytes = TAIL) -> Decoded:
    """Return what the SSE decoder makes of `body`, cut every way."""

    def decode(reads: Iterable[bytes]) -> Decoded:
        decoder = SSEDecoder(limit)
        frames: list[Frame] = []
        error = ""
        try:
            for data in reads:
                frames.extend(decoder.feed(data))
            frames.extend(decoder.close())
        except StreamError as problem:
            error = str(problem)
        return Decoded((tuple(frames), decoder.last_event_id, decoder.retry_ms, error))

    return replay_every_way(decode, body, tail=tail)


def decode_frames(body: bytes, *, tail: bytes = TAIL) -> tuple[Frame, ...]:
    """Return the frames of `body`, be it a stream or one plain body, cut every way."""
    return replay_every_way(lambda reads: tuple(iter_frames(reads)), body, tail=tail)


def decode_until_error(body: bytes) -> tuple[tuple[Frame, ...], str]:
    """Return the frames of `body` and the error that ends them, "" for none, cut every way."""

    def decode(reads: Iterable[bytes]) -> tuple[tuple[Frame, ...], str]:
        seen: list[Frame] = []
        try:
            seen.extend(iter_frames(reads))
        except StreamError as error:
            return tuple(seen), str(error)
        return tuple(seen), ""

    return replay_every_way(decode, body, tail=b"")


def read_deltas(
    body: bytes,
    *,
    tools: Iterable[str] = (),
    policy: ReaderPolicy | None = None,
    tail: bytes = TAIL,
) -> tuple[Delta, ...]:
    """Return the deltas that the openai-chat reader makes of `body`, cut every way."""
    names = tuple(tools)
    return read_every_way(lambda frames: read(frames, tools=names, policy=policy), body, tail=tail)


def read_every_way(
    read: Callable[[Iterator[Frame]], Iterable[Delta]], body: bytes, *, tail: bytes = TAIL
) -> tuple[Delta, ...]:
    """Return the deltas that a reader makes of `body`, cut every way.

    A reader sees frames only, so frames that are equal are read once.
    """
    seen: list[tuple[tuple[Frame, ...], tuple[Delta, ...]]] = []

    def decode(reads: Iterable[bytes]) -> tuple[Delta, ...]:
        frames = tuple(iter_frames(reads))
        for known, deltas in seen:
            if frames == known:
                return deltas
        seen.append((frames, tuple(read(iter(frames)))))
        return seen[-1][1]

    return replay_every_way(decode, body, tail=tail)


def has_ended(turn: Turn) -> bool:
    """Whether `turn` finished or failed; a finish that announces missing calls does both."""
    return turn.finish is not None or turn.failure is not None
