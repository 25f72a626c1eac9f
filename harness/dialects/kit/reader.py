"""Frames of one response -> deltas: what is alike in all dialects whose events are JSON.

A dialect says what one event means (`event`) and what the end of the stream means
(`conclude`). What is no event at all fails here, alike in each of them, and is never an
empty success: no bytes, a page of HTML, half an event, a message that the framing refuses.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from harness.dialects.kit.assembly import Assembly
from harness.turns.deltas import Delta
from harness.wire.frames import Frame
from harness.wire.payload import NotJson, decode_json

_QUOTED_CHARACTERS = 300
_COMPRESSED = b"\x1f\x8b"


class EventReader(ABC):
    """Reads one response; make a new one for each.

    Fields:
        says: takes what the events say.
        first: the first event, for messages; empty until one came.
    """

    # Payloads that end a stream without saying anything.
    TERMINALS: ClassVar[frozenset[bytes]] = frozenset((b"[DONE]",))

    def __init__(self, says: Assembly | None = None) -> None:
        self.says = Assembly() if says is None else says
        self.first = b""

    def read(self, frames: Iterable[Frame]) -> Iterator[Delta]:
        """Yield the deltas of the response, each as soon as its frame is there."""
        says = self.says
        for frame in frames:
            self._take(frame)
            out = says.out
            if out:
                says.out = []
                yield from out
                if says.over:
                    return
        self._end()
        yield from says.take()

    @abstractmethod
    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one event; what it says goes to `says`. Must never raise."""

    @abstractmethod
    def conclude(self) -> None:
        """Say what the end of the stream means; called where the turn is not over by then.

        At least one event came. Most dialects close a turn that has its finish reason, and
        fail any other as `interrupted`.
        """

    def interrupted(self, message: str = "the stream ended without a finish reason") -> None:
        """Fail the turn, since its stream ended too early."""
        self.says.fail("interrupted", message)

    def unknown(self, value: object) -> None:
        """Fail the turn, since what came is no event of this dialect."""
        self.says.fail("unknown_envelope", f"no event of this API: {quote(value)}")

    def _end(self) -> None:
        if self.first:
            self.conclude()
        else:
            self.says.fail("empty_stream", "the stream held no event")

    def _take(self, frame: Frame) -> None:
        if frame.failure:
            self.first = self.first or b"-"
            self.says.fail(frame.failure, error_text(frame.data))
            return
        data = frame.data
        # At once, since to find out that it is no JSON takes long.
        if not data.startswith(b"{") and data in self.TERMINALS:
            self._end()
            return
        try:
            value = decode_json(data)
        except NotJson as error:
            self._no_json(frame, str(error))
            return
        if type(value) is dict:
            if not self.first:
                self.first = data
            self.event(value, frame)
        elif type(value) is list:
            self._elements(value, frame)

    def _elements(self, values: list[Any], frame: Frame) -> None:
        for value in values:
            if isinstance(value, dict) and not self.says.over:
                self.first = self.first or frame.data
                self.event(value, frame)

    def _no_json(self, frame: Frame, why: str) -> None:
        """A payload that is no JSON: an end mark, a stray comment, or a broken stream."""
        data = frame.data.strip()
        if data in self.TERMINALS:
            self._end()
            return
        if not data or data.startswith(b":"):
            return
        self.first = self.first or data
        if not frame.complete:
            # What comes after a finish reason says nothing of weight, be it whole or half.
            if not self.says.finished:
                self.interrupted(f"the stream ended inside the event at {frame.offset}")
            return
        message = f"byte {frame.offset}: {_payload_kind(data, why)}: {quote(data)}"
        self.says.fail("error" if frame.event == "error" else "bad_event", message)


def quote(value: object) -> str:
    """Return the beginning of `value` as text, for a message."""
    if isinstance(value, bytes):
        return value[:_QUOTED_CHARACTERS].decode("utf-8", "replace")
    return "" if value is None else str(value)[:_QUOTED_CHARACTERS]


def _payload_kind(data: bytes, why: str) -> str:
    if data.startswith(b"<"):
        return "HTML, no event stream"
    if data.startswith(_COMPRESSED):
        return "compressed bytes, no event stream"
    return f"not JSON ({why})"


def error_text(data: bytes) -> str:
    """Return the words of an error that the framing carries."""
    try:
        value = decode_json(data)
    except NotJson:
        return quote(data)
    if isinstance(value, dict):
        return quote(value.get("message") or value.get("Message") or value)
    return quote(value)
