"""Decide the meaning of a body of the dialect `cohere` by the contract (the oracle).

Events of version 2 have a `type`, those of version 1 an `event_type`; a complete response has
neither. Text, thinking, plan and arguments are appended; `message-end` and `stream-end` end
the turn.
Source: https://docs.cohere.com/reference/chat-stream and /reference/chat-stream-v1
"""

from typing import ClassVar

from harness.dialects.cohere.oracle.calls import CallTable
from harness.dialects.kit.oracle.dispatch import Json, TakeEvent
from harness.dialects.kit.oracle.endings import OneEndOracle
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    item_texts,
    meanings,
    member_text,
    text_or_empty,
)

_FAILED = frozenset({"ERROR", "ERROR_LIMIT", "TIMEOUT", "USER_CANCEL"})
_SILENT = frozenset({"message-start", "content-end", "citation-start", "citation-end"})
_SILENT_V1 = frozenset(
    {"stream-start", "citation-generation", "search-queries-generation", "search-results"}
)
# Where version 2 and version 1 have them, in the last event and in a complete response.
_PATHS_OF_USAGE = (("delta", "usage"), ("usage",), ("response", "meta"), ("meta",))


class CohereOracle(OneEndOracle):
    """Reads one response body of Cohere's chat API, version 2 or 1, by its contract."""

    READ: ClassVar = frozenset((
        "delta.message.tool_calls", "message.tool_calls", "response.tool_calls", "tool_calls",
        "tool_call_delta", "response.chat_history", "response.documents", "delta.message.citations",
    ))  # fmt: skip
    USAGE: ClassVar = tuple(
        names
        for kind in ("tokens", "billed_units")
        for names in counts_at(
            *((*path, kind) for path in _PATHS_OF_USAGE),
            read="input_tokens",
            written="output_tokens",
        )
    )
    MEANINGS: ClassVar = meanings(
        stop=("COMPLETE", "STOP_SEQUENCE", "TOOL_CALL"),
        length=("MAX_TOKENS",),
        content_filter=("ERROR_TOXIC",),
    )

    TYPE_MEMBER: ClassVar[str] = "type"

    def __init__(self) -> None:
        super().__init__()
        self.table = self._calls = CallTable(self.notes)
        self._version = ""
        self._takes: dict[str, TakeEvent] = {
            "content-start": self._content,
            "content-delta": self._content,
            "tool-plan-delta": self._plan,
            "tool-call-start": self._call,
            "tool-call-delta": self._call,
            "tool-call-end": lambda value, _: self._calls.end(value.get("index")),
            "message-end": self._end,
        }
        self._takes_v1: dict[str, TakeEvent] = {
            "text-generation": self._text_of_v1,
            "tool-calls-chunk": self._chunk_of_v1,
            "tool-calls-generation": self._generation_of_v1,
            "stream-end": self._end_of_v1,
        }

    def is_event_name(self, name: str) -> bool:
        """Return whether the API has an event of this type, and it is not an error."""
        return name in self._takes or name in _SILENT

    def take(self, value: Json, event: Event) -> None:
        """Process one event, or the complete response."""
        kind, old_kind = value.get("type"), value.get("event_type")
        if kind is None and old_kind is None:
            self._plain(value, event)
        elif isinstance(kind, str) and old_kind is None:
            self._event_of_v2(kind, value, event)
        elif isinstance(old_kind, str) and kind is None:
            self._event_of_v1(old_kind, value, event)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def end_with(self, word: object, error: object, offset: int) -> None:
        """End the turn of either version, or of a complete response."""
        finish = text_or_empty(word)
        if finish != (word or "") or (error and finish not in _FAILED):
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
        if not finish:
            self.notes.ambiguous("FINISH-EMPTY-STRING", offset, end=True)
        self.finish(finish, offset)
        if finish in _FAILED:
            self.notes.harmless("COH-FINISH-ERROR", offset)
            self.fail(finish, error)
        elif finish == "ERROR_TOXIC":
            # Blocked: some take it for a filtered answer and some for an error.
            self.notes.ambiguous("COH-FINISH-ERROR", offset, end=True)

    def check_calls(self, calls: int) -> None:
        """Note deviations if the finish word does not match the number of calls."""
        if self.word == "TOOL_CALL" and not calls and self.notes.calls_known:
            self.notes.harmless("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)
        if self.word == "COMPLETE" and calls and self._version == "2":
            self.notes.harmless("FINISH-STOP-WITH-CALLS", 0)

    def _check_version(self, version: str, offset: int) -> None:
        self._version = self._version or version
        if self._version != version:
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)

    # Version 2

    def _event_of_v2(self, kind: str, value: Json, event: Event) -> None:
        take = self._takes.get(kind)
        if kind in _SILENT or take is not None:
            self.known += 1
            self._check_version("2", event.offset)
        if take is not None:
            take(value, event)
        elif kind == "error" or event.name == "error":
            self._error(value, event.offset)

    def _content(self, value: Json, event: Event) -> None:
        content = self._message(value, event.offset).get("content")
        if isinstance(content, dict):
            self.add_text(self.reasoning, content.get("thinking"), event.offset)
            self.add_text(self.text, content.get("text"), event.offset)
        elif content is not None:
            self.notes.ambiguous("EVENT-GLUED", event.offset, text=True)

    def _plan(self, value: Json, event: Event) -> None:
        plan = self._message(value, event.offset).get("tool_plan")
        self.add_text(self.reasoning, plan, event.offset)

    def _call(self, value: Json, event: Event) -> None:
        call = self._message(value, event.offset).get("tool_calls")
        opens = value["type"] == "tool-call-start"
        self._calls.piece(value.get("index"), call, event.offset, opens=opens)

    def _end(self, value: Json, event: Event) -> None:
        members = dict_or_empty(value.get("delta"))
        self.end_with(members.get("finish_reason"), members.get("error"), event.offset)

    def _message(self, value: Json, offset: int) -> Json:
        message = dict_or_empty(value.get("delta")).get("message")
        if isinstance(message, dict):
            return message
        self.notes.ambiguous("EVENT-GLUED", offset, text=True, calls=True)
        return {}

    # Documents

    def _plain(self, value: Json, event: Event) -> None:
        message = value.get("message")
        self.known += 1
        if isinstance(message, dict) and "finish_reason" in value:
            self._response(value, message, event.offset)
        elif isinstance(value.get("text"), str) and "generation_id" in value:
            self.notes.harmless("JSON-FOR-STREAM", event.offset)
            self._complete_v1(value, event)
            self.end_with(value.get("finish_reason"), value.get("error"), event.offset)
        elif isinstance(message, str) or "error" in value:
            self._error(value, event.offset)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _response(self, value: Json, message: Json, offset: int) -> None:
        self._check_version("2", offset)
        self.notes.harmless("JSON-FOR-STREAM", offset)
        content = message.get("content")
        if isinstance(content, str | None):
            self.add_text(self.text, content, offset)
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                self.add_text(self.reasoning, part.get("thinking"), offset)
                self.add_text(self.text, part.get("text"), offset)
            else:
                self.notes.ambiguous("EVENT-GLUED", offset, text=True)
        self.add_text(self.reasoning, message.get("tool_plan"), offset)
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            self._calls.piece(place, call, offset, opens=True)
        if not isinstance(calls, list | None):
            self.notes.ambiguous("EVENT-GLUED", offset, calls=True)
        self.end_with(value.get("finish_reason"), value.get("error"), offset)

    def _error(self, value: Json, offset: int) -> None:
        """Process an object with a message, which is an error, inside a stream too."""
        message = value.get("message")
        is_error = isinstance(message, str) and "choices" not in value and not value.get("error")
        self.notes.failure("ERR-IN-200", offset, ambiguous=not is_error)
        self.fail("", message)

    # Version 1. `tool-calls-generation` and the response inside `stream-end` repeat what the pieces
    # contain. That is not a second answer, and if the two differ, the oracle abstains.

    def _event_of_v1(self, kind: str, value: Json, event: Event) -> None:
        self._check_version("1", event.offset)
        take = self._takes_v1.get(kind)
        self.known += kind in _SILENT_V1 or take is not None
        if take is not None:
            take(value, event)

    def _complete_v1(self, value: Json, event: Event, *path: str) -> None:
        """Process a complete response of version 1, which may repeat earlier events."""
        self._compare_calls(value.get("tool_calls"), event, *path)
        text = value.get("text")
        if self.text.length or self.reasoning.length:
            self._check_repeated(text, event.offset)
        elif len(self._calls):
            # Beside calls it is the plan; the contract has no other word for it.
            self.notes.ambiguous("COH-TOOL-EVENTS", event.offset, text=bool(text))
            self.add_text(self.reasoning, text, event.offset)
        else:
            self.add_text(self.text, text, event.offset)

    def _text_of_v1(self, value: Json, event: Event) -> None:
        self.add_text(self.text, value.get("text"), event.offset)

    def _chunk_of_v1(self, value: Json, event: Event) -> None:
        self.add_text(self.reasoning, value.get("text"), event.offset)
        delta = value.get("tool_call_delta")
        if isinstance(delta, dict):
            index = delta.get("index")
            piece = (delta.get("id"), delta.get("name"), delta.get("parameters"))
            self._calls.add(index, *piece, event.offset, opens=not self._calls.known(index))
        elif delta is not None:
            self.notes.ambiguous("EVENT-GLUED", event.offset, calls=True)

    def _generation_of_v1(self, value: Json, event: Event) -> None:
        if self.reasoning.length:
            self._check_repeated(value.get("text"), event.offset)
        else:
            self.add_text(self.reasoning, value.get("text"), event.offset)
        self._compare_calls(value.get("tool_calls"), event)

    def _end_of_v1(self, value: Json, event: Event) -> None:
        members = dict_or_empty(value.get("response"))
        self._complete_v1(members, event, "response")
        word, again = value.get("finish_reason"), members.get("finish_reason")
        if again not in (None, word):
            self.notes.ambiguous("FINISH-DUPLICATE", event.offset, calls=True, end=True)
        self.end_with(word, value.get("error"), event.offset)

    def _check_repeated(self, text: object, offset: int) -> None:
        """Note whether a complete text equals the text of the earlier events."""
        if text and text in (self.text.value(), self.reasoning.value()):
            self.notes.harmless("COH-ANSWER-TWICE", offset)
        elif text:
            self.notes.ambiguous("COH-ANSWER-TWICE", offset, text=True)

    def _compare_calls(self, calls: object, event: Event, *path: str) -> None:
        if isinstance(calls, list) and calls:
            items = item_texts(member_text(event.data, *path, "tool_calls"))
            listed = [
                (dict_or_empty(call), member_text(text, "parameters"))
                for call, text in zip(calls, items, strict=False)
            ]
            self._calls.compare_or_take(listed, event.offset)
        elif calls:
            self.notes.ambiguous("EVENT-GLUED", event.offset, calls=True)
