"""Entries of DashScope's `tool_calls` lists -> calls, by the contract of its native API.

The index is the key, and in a plain response the place in the list; id and name come with the
first entry of a call and are repeated, empty or left out later. Anything else is left open.
Source: https://help.aliyun.com/zh/model-studio/qwen-function-calling (DashScope)
"""

from typing import Any

from harness.judging.strict_reading.dashscope.mode import Values
from harness.judging.strict_reading.events import Event
from harness.judging.strict_reading.json_members import item_texts, member_text
from harness.judging.strict_reading.notes import Notes
from harness.judging.strict_reading.reading import StrictCall
from harness.turns.surrogates import join_surrogates

_PATH = ("output", "choices", 0, "message", "tool_calls")


class _Call:
    def __init__(self, offset: int) -> None:
        self.id = ""
        self.name = ""
        self.offset = offset
        self.arguments = Values()


class CallTable:
    """The calls of one response."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: dict[int, _Call] = {}
        self._ids: set[str] = set()
        self._lists = 0
        self._without_index = False
        self.from_objects = False

    def __len__(self) -> int:
        return len(self._calls)

    def values(self) -> list[Values]:
        """Return the arguments of each call, event by event."""
        return [call.arguments for call in self._calls.values()]

    def calls(self, *, cumulative: bool) -> tuple[StrictCall, ...]:
        """Return the calls, in order of first appearance."""
        return tuple(
            StrictCall(
                join_surrogates(call.id),
                join_surrogates(call.name),
                join_surrogates(call.arguments.total(cumulative=cumulative)),
                call.offset,
            )
            for call in self._calls.values()
        )

    def add(self, entries: object, event: Event) -> None:
        """Take one `tool_calls` value."""
        if entries is None:
            return
        if not isinstance(entries, list):
            self._notes.open("EVENT-GLUED", event.offset, calls=True)
            return
        self._lists += 1
        texts: tuple[str, ...] = ()
        for place, entry in enumerate(entries):
            function = entry.get("function") if isinstance(entry, dict) else None
            if not isinstance(entry, dict) or not isinstance(function, dict):
                self._notes.open("DELTA-FUNCTION-NULL", event.offset, calls=True)
                continue
            if entry.get("type", "function") not in ("function", "", None):
                self._notes.open("DELTA-TYPE-EMPTY-OR-NULL", event.offset, calls=True)
            arguments = function.get("arguments")
            if isinstance(arguments, dict):
                self._notes.keep("ARGS-OBJECT", event.offset)
                self.from_objects = True
                texts = texts or item_texts(member_text(event.data, *_PATH))
                own = texts[place] if place < len(texts) else ""
                arguments = member_text(own, "function", "arguments")
            if not isinstance(arguments, str | None):
                self._notes.open("ARGS-OBJECT", event.offset, calls=True)
            text = arguments if isinstance(arguments, str) else ""
            self._entry({**entry, "function": {**function, "arguments": text}}, place, event)
        if self._without_index and self._lists > 1:
            # Only the place in the list is left, and a list of increments has no places.
            self._notes.open("DELTA-INDEX-MISSING", event.offset, calls=True)

    def _entry(self, entry: dict[str, Any], place: int, event: Event) -> None:
        """Take one entry, whose arguments are text."""
        function = entry["function"]
        index = entry.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            self._without_index = True
            index = place
        call = self._calls.get(index)
        arguments = function["arguments"]
        call_id, name = self._text(entry, "id", event), self._text(function, "name", event)
        if not (call_id or name or arguments):
            return
        if call is None:
            call = self._calls[index] = _Call(event.offset)
            if call_id in self._ids:
                self._notes.open("DELTA-ID-SHARED-BY-SIBLINGS", event.offset, calls=True)
            self._ids |= {call_id} if call_id else set()
        elif not call_id and "id" in entry:
            self._notes.keep("DELTA-ID-EMPTY-LATER", event.offset)
        if call.id and call_id not in ("", call.id):
            self._notes.open("DELTA-ID-CHANGES", event.offset, calls=True)
        if call.name and name not in ("", call.name):
            self._notes.open("DELTA-NAME-FRAGMENTED", event.offset, calls=True)
        call.id = call.id or call_id
        call.name = call.name or name
        call.arguments.add(arguments, event.end)

    def _text(self, holder: dict[str, Any], field: str, event: Event) -> str:
        value = holder.get(field)
        if not isinstance(value, str | None):
            self._notes.open("EVENT-GLUED", event.offset, calls=True)
        return value if isinstance(value, str) else ""
