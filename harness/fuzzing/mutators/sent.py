"""Split a body into the frames that were sent, each with its bytes.

Mutators change single frames and leave the bytes of all others unchanged, so that a saved finding
shows only the mutation. If the frames of a body cannot be separated, as in a single document, the
result is None, and mutators of frames cannot be applied.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

import msgspec
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.mutator import Mutate, with_body
from harness.wire.aws import MessageDecoder, borders, encode_event, encode_exception, wrap_chunk
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import NotJson, decode_json
from harness.wire.sse import SSEDecoder, encode

Framing = Literal["sse", "lines", "messages"]
DONE: Final = b"[DONE]"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_EVENT_END = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)|(?<=\r\r)")
_LINE_END = re.compile(rb"(?<=\n)")
_NO_FRAMES: Final = (b"[", b"<", b"\x1f")
_BODIES_KEPT = 64
# Larger ones take long to mutate and reveal no more.
MAX_BODY_BYTES: Final = 256 * 1024


class SentFrame(msgspec.Struct, frozen=True):
    """One frame of a body, or a comment or blank lines between two frames.

    Fields:
        raw: the bytes, including the end of the frame.
        data: the payload; None for comments and blank lines.
        event: the name of the event; "" if it has none.
        failure: whether it is an exception in AWS's framing, with the name `event`.
    """

    raw: bytes
    data: bytes | None = None
    event: str = ""
    failure: bool = False


class Sent(msgspec.Struct, frozen=True):
    """The frames of one body. Joined, they are the body.

    Fields:
        line_end: the line end of an event stream or of lines.
        head: the bytes before the first frame, such as a byte order mark.
    """

    framing: Framing
    frames: tuple[SentFrame, ...]
    line_end: bytes = b"\n"
    head: bytes = b""

    def made(self, data: bytes, event: str = "") -> SentFrame:
        """Return a new frame with the payload `data`, encoded like the other frames."""
        return SentFrame(self._raw(data, event), data, event)

    def _raw(self, data: bytes, event: str) -> bytes:
        match self.framing:
            case "sse":
                return encode(data, event=event, line_end=self.line_end)
            case "lines":
                return data + self.line_end
            case "messages":
                return encode_event(data if event else wrap_chunk(data), event or "chunk")

    def changed(self, frame: SentFrame, data: bytes) -> SentFrame:
        """Return `frame` with another payload, and all other bytes unchanged."""
        before = frame.data or b""
        if self.framing != "messages" and b"\n" not in data and frame.raw.count(before) == 1:
            return SentFrame(frame.raw.replace(before, data), data, frame.event)
        if frame.failure:
            return SentFrame(encode_exception(data, frame.event), data, frame.event, failure=True)
        return self.made(data, frame.event)

    def payload_indexes(self) -> tuple[int, ...]:
        """Return the indexes of the frames with a payload."""
        return tuple(at for at, frame in enumerate(self.frames) if frame.data is not None)

    def inserted(self, at: int, *more: SentFrame) -> "Sent":
        """Return these frames with `more` before the frame at the index `at`."""
        return msgspec.structs.replace(self, frames=(*self.frames[:at], *more, *self.frames[at:]))

    def put(self, at: int, *instead: SentFrame) -> "Sent":
        """Return these frames with `instead` in place of the frame at the index `at`."""
        frames = (*self.frames[:at], *instead, *self.frames[at + 1 :])
        return msgspec.structs.replace(self, frames=frames)

    def into(self, interaction: Interaction) -> Interaction:
        """Return `interaction` with these frames as its body."""
        return with_body(interaction, self.head + b"".join(frame.raw for frame in self.frames))


EditFrames: TypeAlias = Callable[[DrawFn, Sent], tuple[Sent, str] | None]


@lru_cache(_BODIES_KEPT)
def sent(body: bytes) -> Sent | None:
    """Split `body` into frames; None if the body is too large, or has no separate frames."""
    if not body or len(body) > MAX_BODY_BYTES:
        return None
    found = _messages(body) if body.startswith(b"\0") else _text(body)
    if found is None:
        return None
    whole = [(frame.data, frame.event) for frame in iter_frames([body])]
    separate = [(frame.data, frame.event) for frame in found.frames if frame.data is not None]
    return found if whole == separate else None


def _text(body: bytes) -> Sent | None:
    if body.startswith(_NO_FRAMES):
        return None
    line_end = b"\r\n" if b"\r\n" in body else b"\n"
    if body.startswith(b"{"):
        lines = (line for line in _LINE_END.split(body) if line)
        return Sent("lines", tuple(_line(line) for line in lines), line_end)
    head = BYTE_ORDER_MARK if body.startswith(BYTE_ORDER_MARK) else b""
    pieces = (piece for piece in _EVENT_END.split(body[len(head) :]) if piece)
    return Sent("sse", tuple(_event(piece) for piece in pieces), line_end, head)


def _line(raw: bytes) -> SentFrame:
    data = raw.strip()
    return SentFrame(raw, data or None)


def _event(raw: bytes) -> SentFrame:
    decoder = SSEDecoder()
    found = [*decoder.feed(raw), *decoder.close()]
    return SentFrame(raw, found[0].data, found[0].event) if len(found) == 1 else SentFrame(raw)


def _messages(body: bytes) -> Sent | None:
    ends = [border[-1] for border in borders(body)]
    if not ends or ends[-1] != len(body):
        return None
    parts = (body[start:end] for start, end in pairwise([0, *ends]))
    return Sent("messages", tuple(map(_message, parts)))


def _message(raw: bytes) -> SentFrame:
    found = MessageDecoder().feed(raw)
    if not found:
        return SentFrame(raw)
    return SentFrame(raw, found[0].data, found[0].event, failure=bool(found[0].failure))


def on_frames(
    framing: Framing | None = None, applies: Callable[[Sent], object] = Sent.payload_indexes
) -> Callable[[EditFrames], Mutate]:
    """Return a decorator that turns an edit of frames into a mutation.

    Args:
        framing: the framing of the bodies that the edit can be applied to; None for any.
        applies: returns whether the edit can be applied; by default, if a frame has a payload.
    """

    def adapt(edit: EditFrames) -> Mutate:
        def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
            frames = sent(interaction.body)
            if frames is None or framing not in (None, frames.framing) or not applies(frames):
                return None
            changed = edit(draw, frames)
            if changed is None or changed[0] == frames:
                return None
            return changed[0].into(interaction), changed[1]

        return mutate

    return adapt


# Payloads


class _NotExactError(Exception):
    """Raised if a value would change if it were encoded again."""


def value_of(frame: SentFrame) -> Any:  # noqa: ANN401 - a provider's payload may be anything
    """Return the payload of a frame as a new object; None if it is not a JSON object.

    It is also None if encoding it again would change it, because a double rounds a number, or a key
    occurs twice.
    """
    if frame.data is None:
        return None
    try:
        decode_json(frame.data)
        value = json.loads(frame.data, parse_float=_exact, object_pairs_hook=_distinct)
    except (NotJson, ValueError, RecursionError, _NotExactError):
        return None
    return value if isinstance(value, dict) else None


def _exact(text: str) -> float:
    if repr(float(text)) != text:
        raise _NotExactError
    return float(text)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _NotExactError
    return value


def dumped(value: object, like: bytes | None = None) -> bytes:
    """Return the JSON text of `value`, with spaces after commas and colons if `like` has them."""
    gaps = (", ", ": ") if like is None or b'": ' in like else (",", ":")
    try:
        return json.dumps(value, ensure_ascii=False, separators=gaps).encode()
    except UnicodeEncodeError:  # half a surrogate pair can only be escaped
        return json.dumps(value, separators=gaps).encode()
