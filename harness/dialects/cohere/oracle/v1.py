"""Events of Cohere's chat API, version 1 -> text, plan and calls, by its contract.

`tool-calls-generation` and the response inside `stream-end` say again what the pieces said:
that is no second answer, and where the two differ the reading abstains.
Source: https://docs.cohere.com/reference/chat-stream-v1
"""

from typing import Any, Protocol

from harness.dialects.cohere.oracle.calls import Calls
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.kit.oracle.values import item_texts, member_text


class Reader(Protocol):
    """What the reading of the whole body offers to this one."""

    notes: Notes
    text: GrowingText
    reasoning: GrowingText
    known: int

    def say(self, text: GrowingText, piece: object, offset: int) -> None:
        """Append a piece."""

    def end_with(self, word: object, error: object, offset: int) -> None:
        """End the turn."""


class V1:
    """Reads the events of version 1."""

    def __init__(self, reader: Reader, calls: Calls) -> None:
        self._reader = reader
        self._calls = calls
        self._takes = {
            "text-generation": self._text,
            "tool-calls-chunk": self._chunk,
            "tool-calls-generation": self._generation,
            "stream-end": self._end,
        }
        self._silent = frozenset(
            {
                "stream-start",
                "citation-generation",
                "search-queries-generation",
                "search-results",
            }
        )

    def take(self, kind: str, value: dict[str, Any], event: Event) -> None:
        """Take one event."""
        take = self._takes.get(kind)
        self._reader.known += kind in self._silent or take is not None
        if take is not None:
            take(value, event)

    def whole(self, value: dict[str, Any], event: Event, *path: str) -> None:
        """Take a complete response, which may say again what was said."""
        reader = self._reader
        self._settle(value.get("tool_calls"), event, *path)
        text = value.get("text")
        if reader.text.length or reader.reasoning.length:
            self._say_again(text, event.offset)
        elif len(self._calls):
            # Beside calls it is the plan; the contract has no other word for it.
            reader.notes.open("COH-TOOL-EVENTS", event.offset, text=bool(text))
            reader.say(reader.reasoning, text, event.offset)
        else:
            reader.say(reader.text, text, event.offset)

    def _text(self, value: dict[str, Any], event: Event) -> None:
        self._reader.say(self._reader.text, value.get("text"), event.offset)

    def _chunk(self, value: dict[str, Any], event: Event) -> None:
        reader = self._reader
        reader.say(reader.reasoning, value.get("text"), event.offset)
        delta = value.get("tool_call_delta")
        if isinstance(delta, dict):
            index = delta.get("index")
            said = (delta.get("id"), delta.get("name"), delta.get("parameters"))
            self._calls.add(index, *said, event.offset, opens=not self._calls.known(index))
        elif delta is not None:
            reader.notes.open("EVENT-GLUED", event.offset, calls=True)

    def _generation(self, value: dict[str, Any], event: Event) -> None:
        reader = self._reader
        if reader.reasoning.length:
            self._say_again(value.get("text"), event.offset)
        else:
            reader.say(reader.reasoning, value.get("text"), event.offset)
        self._settle(value.get("tool_calls"), event)

    def _end(self, value: dict[str, Any], event: Event) -> None:
        response = value.get("response")
        told = response if isinstance(response, dict) else {}
        self.whole(told, event, "response")
        word, again = value.get("finish_reason"), told.get("finish_reason")
        if again not in (None, word):
            self._reader.notes.open("FINISH-DUPLICATE", event.offset, calls=True, end=True)
        self._reader.end_with(word, value.get("error"), event.offset)

    def _say_again(self, text: object, offset: int) -> None:
        """Check that a whole text is the one that its pieces made."""
        reader = self._reader
        if text and text in (reader.text.value(), reader.reasoning.value()):
            reader.notes.keep("COH-ANSWER-TWICE", offset)
        elif text:
            reader.notes.open("COH-ANSWER-TWICE", offset, text=True)

    def _settle(self, calls: object, event: Event, *path: str) -> None:
        if isinstance(calls, list) and calls:
            items = item_texts(member_text(event.data, *path, "tool_calls"))
            listed = [
                (call if isinstance(call, dict) else {}, member_text(text, "parameters"))
                for call, text in zip(calls, items, strict=False)
            ]
            self._calls.settle(listed, event.offset)
        elif calls:
            self._reader.notes.open("EVENT-GLUED", event.offset, calls=True)
