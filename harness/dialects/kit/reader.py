"""Read the frames of one response as deltas; shared by all dialects whose events are JSON.

A dialect defines what one event means (`event`) and what the end of the stream means
(`end_of_stream`). Input that is not an event fails here, in the same way for all dialects: an empty
body, an HTML page, an incomplete event, a damaged AWS message. It never becomes an empty success.
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
        turn: receives the content of the events.
        first: the first event, for error messages; empty until one arrives.
        is_known: an event of this API arrived. A reader that reports any other event as a failure
            leaves it True.
        failed: the finish word that reports a failure of the provider; "" if there is none.
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
        """Yield the deltas of the response, each as soon as its frame has arrived."""
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
        """Process one event, and add its content to `turn`. It must never raise."""

    def end_of_stream(self) -> None:
        """End the turn at the end of the stream; not called if the turn is over by then.

        At least one event arrived. A turn that has its finish reason is complete.
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
        """Fail the turn, because its stream ended too early."""
        self.turn.fail("interrupted", message or self.INTERRUPTED)

    def provider_error(
        self, error: object, codes: tuple[str, ...] = ("code", "type"), default: str = "error"
    ) -> None:
        """Fail the turn with an error of the provider.

        Args:
            error: the error as an object, or as text.
            codes: the members of the object that may contain its code, the best first.
            default: the code of an error without one.
        """
        if not isinstance(error, dict):
            self.turn.fail(default, quote(error))
            return
        code = next((error[name] for name in codes if error.get(name)), default)
        self.turn.fail(quote(code), quote(error.get("message") or error))

    def unknown(self, value: object) -> None:
        """Fail the turn, because `value` is not an event of this API."""
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
        """Process a payload that is not JSON: an end mark, a comment, or a broken stream."""
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
    """Return the message of an error that the framing reports, such as an AWS exception."""
    try:
        value = decode_json(data)
    except NotJson:
        return quote(data)
    if isinstance(value, dict):
        return quote(value.get("message") or value.get("Message") or value)
    return quote(value)


class ReadFrames(Protocol):
    """The type of a dialect's function `read`."""

    def __call__(self, frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:
        """Yield the deltas of one response.

        Args:
            frames: the frames of the response's body, in order.
            tools: the names of the tools that the request declared.
        """


def reads_with(reader: Callable[[], EventReader]) -> ReadFrames:
    """Return the function `read` of a dialect whose reader does not need the declared tools."""

    def read(frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:  # noqa: ARG001 - see above
        return reader().read(frames)

    return read


def finish_reasons(**words: tuple[str, ...]) -> dict[str, FinishReason]:
    """Return the meaning of each finish word, given the words of the API for each reason."""
    return {word: FinishReason(reason) for reason, own in words.items() for word in own}


def exact_event(value: Json, data: bytes) -> Json:
    """Return the event in `data` with each digit and repeated key of its JSON.

    Args:
        value: the event as `decode_json` returned it, which is returned if `data` is a list.
        data: the payload.
    """
    exact = decode_exactly(data)
    return exact if isinstance(exact, dict) else value


def exact_list(data: bytes, *path: str | int) -> list[Any]:
    """Return the list at `path` of an event with exact digits and keys; [] if there is none."""
    try:
        value: Any = decode_exactly(data)
        for step in path:
            value = value[step]
    except (LookupError, TypeError):  # the payload may hold a list of events
        return []
    return value if isinstance(value, list) else []


def exact_arguments(entries: list[Any], place: int, arguments: object) -> str:
    """Return the JSON text of arguments that the provider sent as an object.

    Args:
        entries: the calls of the event, as `exact_list` read them.
        place: the position of the call in `entries`.
        arguments: the value to write if `entries` does not contain them.
    """
    with suppress(LookupError, TypeError):  # it may not be there, or be something else
        arguments = entries[place]["function"]["arguments"]
    return write_exactly(arguments)
