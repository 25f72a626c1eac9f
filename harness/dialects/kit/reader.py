"""Frames of one response -> deltas: what is alike in all dialects whose events are JSON.

A dialect defines what one event means (`event`) and what the end of the stream means
(`end_of_stream`). What is not an event fails here, alike in each of them, and is never an
empty success: no bytes, a page of HTML, half an event, a message that the framing refuses.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Protocol, TypeAlias

from harness.dialects.kit.assembly import Assembly
from harness.turns.deltas import Delta, FinishReason
from harness.turns.exact_json import decode_exactly, write_exactly
from harness.wire.frames import Frame
from harness.wire.payload import NotJson, decode_json

Json: TypeAlias = dict[str, Any]

_QUOTED_CHARACTERS = 300
_COMPRESSED = b"\x1f\x8b"


class EventReader(ABC):
    """Reads one response; make a new one for each.

    Fields:
        turn: takes what the events contain.
        first: the first event, for messages; empty until one came.
        is_known: an event of this API came; a reader that fails at any other leaves it True.
        failed: the finish word for a provider that failed, "" without one.
    """

    # Payloads that end a stream and hold nothing.
    TERMINALS: ClassVar[frozenset[bytes]] = frozenset((b"[DONE]",))
    # Why a stream that ended has no complete turn.
    INTERRUPTED: ClassVar[str] = "the stream ended without a finish reason"

    first = b""
    is_known = True
    failed = ""

    def __init__(self, turn: Assembly | None = None) -> None:
        self.turn = Assembly() if turn is None else turn

    def read(self, frames: Iterable[Frame]) -> Iterator[Delta]:
        """Yield the deltas of the response, each as soon as its frame is there."""
        turn, out, take = self.turn, self.turn.out, self._take
        for frame in frames:
            if frame.failure:
                turn.fail(frame.failure, error_text(frame.data))
            else:
                take(frame)
            if len(out) == 1:
                yield out.pop()
            elif out:
                yield from out
                out.clear()
            if turn.over:
                return
        self._end()
        yield from out

    @abstractmethod
    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one event; what it contains goes to `turn`. Must never raise."""

    def end_of_stream(self) -> None:
        """End the turn with the stream; called if it is not over by then.

        At least one event came. A turn that has its finish reason is complete.
        """
        if self.failed:
            self.turn.fail(self.failed, f"the provider finished the turn with {self.failed!r}")
        elif self.turn.finished:
            self.turn.close()
        elif self.is_known:
            self.interrupted()
        else:
            self.unknown(self.first)

    def interrupted(self, message: str = "") -> None:
        """Fail the turn, since its stream ended too early."""
        self.turn.fail("interrupted", message or self.INTERRUPTED)

    def provider_error(
        self, error: object, codes: tuple[str, ...] = ("code", "type"), default: str = "error"
    ) -> None:
        """Fail the turn with an error of the provider: an object, or text.

        Args:
            error: the value of the member that holds it.
            codes: the members of the object that may hold its code, the best first.
            default: the code of an error that names none.
        """
        if not isinstance(error, dict):
            self.turn.fail(default, quote(error))
            return
        code = next((error[name] for name in codes if error.get(name)), default)
        self.turn.fail(quote(code), quote(error.get("message") or error))

    def unknown(self, value: object) -> None:
        """Fail the turn, since what came is not an event of this API."""
        self.turn.fail("unknown_envelope", f"no event of this API: {quote(value)}")

    def _end(self) -> None:
        if self.first:
            self.end_of_stream()
        else:
            self.turn.fail("empty_stream", "the stream held no event")

    def _take(self, frame: Frame) -> None:
        data = frame.data
        # First, because a failed attempt to decode JSON is slow.
        if not data.startswith(b"{") and data in self.TERMINALS:
            self._end()
            return
        try:
            value = decode_json(data)
        except NotJson as error:
            self._not_json(frame, str(error))
            return
        if type(value) is dict:
            if not self.first:
                self.first = data
            self.event(value, frame)
        elif type(value) is list:
            self._elements(value, frame)

    def _elements(self, values: list[Any], frame: Frame) -> None:
        for value in values:
            if isinstance(value, dict) and not self.turn.over:
                self.first = self.first or frame.data
                self.event(value, frame)

    def _not_json(self, frame: Frame, error: str) -> None:
        """Take a payload that is not JSON: an end mark, a stray comment, or a broken stream."""
        data = frame.data.strip()
        if data in self.TERMINALS:
            self._end()
            return
        if not data or data.startswith(b":"):
            return
        if not frame.complete:
            # What follows a finish reason does not matter, be it complete or not.
            if not self.turn.finished:
                self.interrupted(f"the stream ended inside the event at {frame.offset}")
            return
        message = f"byte {frame.offset}: {_payload_kind(data, error)}: {quote(data)}"
        self.turn.fail("error" if frame.event == "error" else "bad_event", message)


def quote(value: object) -> str:
    """Return the beginning of `value` as text, for a message."""
    if isinstance(value, bytes):
        return value[:_QUOTED_CHARACTERS].decode("utf-8", "replace")
    return "" if value is None else str(value)[:_QUOTED_CHARACTERS]


def _payload_kind(data: bytes, error: str) -> str:
    if data.startswith(b"<"):
        return "HTML, no event stream"
    if data.startswith(_COMPRESSED):
        return "compressed bytes, no event stream"
    return f"not JSON ({error})"


def error_text(data: bytes) -> str:
    """Return the text of an error that the framing carries."""
    try:
        value = decode_json(data)
    except NotJson:
        return quote(data)
    if isinstance(value, dict):
        return quote(value.get("message") or value.get("Message") or value)
    return quote(value)


class ReadFrames(Protocol):
    """The function `read` of a dialect."""

    def __call__(self, frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:
        """Yield the deltas of one response.

        Args:
            frames: of the response's body, in order.
            tools: names that the request declared.
        """


def reads_with(reader: Callable[[], EventReader]) -> ReadFrames:
    """Return `read` of a dialect whose names come complete, so that it needs no declared tools."""

    def read(frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:  # noqa: ARG001 - see above
        return reader().read(frames)

    return read


def finish_reasons(**words: tuple[str, ...]) -> dict[str, FinishReason]:
    """Return the meaning of the API's words: the name of a reason -> the words for it."""
    return {word: FinishReason(reason) for reason, own in words.items() for word in own}


def exact_event(value: Json, data: bytes) -> Json:
    """Return the event of `data` with each digit and repeated key.

    Args:
        value: the event as `decode_json` gave it; returned if `data` holds a list of events.
        data: the payload.
    """
    exact = decode_exactly(data)
    return exact if isinstance(exact, dict) else value


def exact_list(data: bytes, *path: str | int) -> list[Any]:
    """Return the list at `path` of an event, read as by `exact_event`; [] without one."""
    try:
        value: Any = decode_exactly(data)
        for step in path:
            value = value[step]
    except (LookupError, TypeError):  # the payload may hold a list of events
        return []
    return value if isinstance(value, list) else []


def exact_arguments(entries: list[Any], place: int, arguments: object) -> str:
    """Return the text of arguments that came as an object.

    Args:
        entries: the calls of the event, as `exact_list` read them.
        place: of the call in it.
        arguments: what to write if it is not there.
    """
    with suppress(LookupError, TypeError):  # it may not be there, or be something else
        arguments = entries[place]["function"]["arguments"]
    return write_exactly(arguments)
