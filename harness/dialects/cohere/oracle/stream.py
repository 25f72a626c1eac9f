"""One interaction of the dialect cohere -> its strict reading.

Events of version 2 have a `type`, those of version 1 an `event_type`; a plain response has
neither. Text, thinking, plan and arguments are appended; `message-end` and `stream-end` end
the turn.
Source: https://docs.cohere.com/reference/chat-stream and /reference/chat-stream-v1
"""

from collections.abc import Callable
from typing import Any, ClassVar

from harness.dialects.cohere.oracle.calls import Calls
from harness.dialects.cohere.oracle.v1 import V1
from harness.dialects.kit.oracle.dispatch import FramedReader
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.reading import CallReading, OracleReading
from harness.turns.deltas import FinishReason
from harness.wire.interaction import Interaction

_FAILED = frozenset({"ERROR", "ERROR_LIMIT", "TIMEOUT", "USER_CANCEL"})
_SILENT = frozenset({"message-start", "content-end", "citation-start", "citation-end"})


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    return _Reader().read(interaction.body)


class _Reader(FramedReader):
    MEANINGS: ClassVar[dict[str, FinishReason]] = {
        "COMPLETE": FinishReason.STOP,
        "STOP_SEQUENCE": FinishReason.STOP,
        "TOOL_CALL": FinishReason.STOP,
        "MAX_TOKENS": FinishReason.LENGTH,
        "ERROR_TOXIC": FinishReason.CONTENT_FILTER,
    }

    def __init__(self) -> None:
        super().__init__()
        self._calls = Calls(self.notes)
        self._v1 = V1(self, self._calls)
        self._version = ""
        self._takes: dict[str, Callable[[dict[str, Any], Event], None]] = {
            "content-start": self._content,
            "content-delta": self._content,
            "tool-plan-delta": self._plan,
            "tool-call-start": self._call,
            "tool-call-delta": self._call,
            "tool-call-end": self._call,
            "message-end": self._end,
        }

    def calls(self) -> tuple[CallReading, ...]:
        return self._calls.calls()

    def take(self, value: dict[str, Any], event: Event) -> None:
        kind, old_kind = value.get("type"), value.get("event_type")
        if kind is None and old_kind is None:
            self._plain(value, event)
        elif isinstance(kind, str) and old_kind is None:
            self._event_of_v2(kind, value, event)
        elif isinstance(old_kind, str) and kind is None:
            self._check_version("1", event.offset)
            self._v1.take(old_kind, value, event)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def end_with(self, word: object, error: object, offset: int) -> None:
        """End the turn; used by both versions and by plain responses."""
        said = word if isinstance(word, str) else ""
        if said != (word or "") or (error and said not in _FAILED):
            self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
        if not said:
            self.notes.open("FINISH-EMPTY-STRING", offset, end=True)
        self.finish(said, offset)
        if said in _FAILED:
            self.notes.keep("COH-FINISH-ERROR", offset)
            self.fail(said, error)
        elif said == "ERROR_TOXIC":
            # Blocked: some take it for a filtered answer and some for an error.
            self.notes.open("COH-FINISH-ERROR", offset, end=True)

    def conclude(self, calls: int) -> None:
        if self.word == "TOOL_CALL" and not calls and self.notes.calls_known:
            self.notes.keep("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)
        if self.word == "COMPLETE" and calls and self._version == "2":
            self.notes.keep("FINISH-STOP-WITH-CALLS", 0)

    def _check_version(self, version: str, offset: int) -> None:
        self._version = self._version or version
        if self._version != version:
            self.notes.lost("ENVELOPE-WRAPPED", offset)

    # Version 2

    def _event_of_v2(self, kind: str, value: dict[str, Any], event: Event) -> None:
        take = self._takes.get(kind)
        if kind in _SILENT or take is not None:
            self.known += 1
            self._check_version("2", event.offset)
        if take is not None:
            take(value, event)
        elif kind == "error" or event.name == "error":
            self._error(value, event.offset)

    def _content(self, value: dict[str, Any], event: Event) -> None:
        content = self._message(value, event.offset).get("content")
        if isinstance(content, dict):
            self.say(self.reasoning, content.get("thinking"), event.offset)
            self.say(self.text, content.get("text"), event.offset)
        elif content is not None:
            self.notes.open("EVENT-GLUED", event.offset, text=True)

    def _plan(self, value: dict[str, Any], event: Event) -> None:
        plan = self._message(value, event.offset).get("tool_plan")
        self.say(self.reasoning, plan, event.offset)

    def _call(self, value: dict[str, Any], event: Event) -> None:
        if value["type"] == "tool-call-end":
            self._calls.end(value.get("index"))
            return
        call = self._message(value, event.offset).get("tool_calls")
        opens = value["type"] == "tool-call-start"
        self._calls.piece(value.get("index"), call, event.offset, opens=opens)

    def _end(self, value: dict[str, Any], event: Event) -> None:
        delta = value.get("delta")
        told = delta if isinstance(delta, dict) else {}
        self.end_with(told.get("finish_reason"), told.get("error"), event.offset)

    def _message(self, value: dict[str, Any], offset: int) -> dict[str, Any]:
        delta = value.get("delta")
        message = delta.get("message") if isinstance(delta, dict) else None
        if isinstance(message, dict):
            return message
        self.notes.open("EVENT-GLUED", offset, text=True, calls=True)
        return {}

    # What is no event

    def _plain(self, value: dict[str, Any], event: Event) -> None:
        message = value.get("message")
        self.known += 1
        if isinstance(message, dict) and "finish_reason" in value:
            self._response(value, message, event.offset)
        elif isinstance(value.get("text"), str) and "generation_id" in value:
            self.notes.keep("JSON-FOR-STREAM", event.offset)
            self._v1.whole(value, event)
            self.end_with(value.get("finish_reason"), value.get("error"), event.offset)
        elif isinstance(message, str) or "error" in value:
            self._error(value, event.offset)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def _response(self, value: dict[str, Any], message: dict[str, Any], offset: int) -> None:
        self._check_version("2", offset)
        self.notes.keep("JSON-FOR-STREAM", offset)
        content = message.get("content")
        if isinstance(content, str | None):
            self.say(self.text, content, offset)
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                self.say(self.reasoning, part.get("thinking"), offset)
                self.say(self.text, part.get("text"), offset)
            else:
                self.notes.open("EVENT-GLUED", offset, text=True)
        self.say(self.reasoning, message.get("tool_plan"), offset)
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            self._calls.piece(place, call, offset, opens=True)
        if not isinstance(calls, list | None):
            self.notes.open("EVENT-GLUED", offset, calls=True)
        self.end_with(value.get("finish_reason"), value.get("error"), offset)

    def _error(self, value: dict[str, Any], offset: int) -> None:
        """An error is an object with a message; inside a stream as well."""
        self.notes.keep("ERR-IN-200", offset)
        message = value.get("message")
        if not isinstance(message, str) or "choices" in value or value.get("error"):
            self.notes.lost("ERR-IN-200", offset)
        self.fail("", message)
