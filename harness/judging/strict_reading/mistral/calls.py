"""Entries of Mistral's `tool_calls` lists -> calls, by the contract: whole, one an entry.

The id tells a call, and where the API leaves it out, the index does. An entry without a name
continues one that is known. What could be either is noted as open and never guessed.
Source: https://docs.mistral.ai/capabilities/function_calling/
"""

from typing import Any, Final

from harness.judging.strict_reading.events import Event
from harness.judging.strict_reading.json_members import item_texts, member_text
from harness.judging.strict_reading.notes import Notes
from harness.judging.strict_reading.reading import StrictCall
from harness.turns.surrogates import join_surrogates

_NO_ID: Final = frozenset(("", "null"))


class _Call:
    def __init__(self, call_id: str, name: str, offset: int) -> None:
        self.id = call_id
        self.name = name
        self.offset = offset
        self.fragments: list[str] = []


class CallList:
    """The calls of one choice."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self) -> tuple[StrictCall, ...]:
        """Return the calls so far, in order of first appearance."""
        return tuple(
            StrictCall(
                join_surrogates(call.id),
                join_surrogates(call.name),
                join_surrogates("".join(call.fragments)),
                call.offset,
            )
            for call in self._calls
        )

    def add(self, entries: list[Any], path: tuple[str | int, ...], event: Event) -> None:
        """Take one list, which stands at `path` of the event."""
        if len(entries) > 1:
            self._notes.keep("DELTA-MULTI-IN-CHUNK", event.offset)
        texts: tuple[str, ...] = ()
        for place, entry in enumerate(entries):
            function = entry.get("function") if isinstance(entry, dict) else None
            if not isinstance(entry, dict) or not isinstance(function, dict):
                self._notes.open("DELTA-FUNCTION-NULL", event.offset, calls=True)
                continue
            self._check_type(entry, event.offset)
            arguments = function.get("arguments")
            if isinstance(arguments, dict):
                self._notes.keep("ARGS-OBJECT", event.offset)
                texts = texts or item_texts(member_text(event.data, *path))
                own = texts[place] if place < len(texts) else ""
                arguments = member_text(own, "function", "arguments")
            if not isinstance(arguments, str):
                quirk = "ARGS-NULL" if arguments is None else "ARGS-OBJECT"
                self._notes.open(quirk, event.offset, calls=arguments is not None)
                arguments = ""
            self._entry(entry, function.get("name"), arguments, event.offset)

    def _entry(self, entry: dict[str, Any], name: object, arguments: str, offset: int) -> None:
        index = entry.get("index")
        index = index if isinstance(index, int) and not isinstance(index, bool) else None
        call_id = self._id(entry.get("id"), offset)
        if not isinstance(name, str | None):
            self._notes.open("EVENT-GLUED", offset, calls=True)
            name = ""
        if not (name or call_id or arguments):
            return
        if index is None:
            self._notes.keep("DELTA-INDEX-MISSING", offset)
        known = self._by_index.get(index) if index is not None else None
        if name:
            call = self._new(call_id, name, known, offset, has_index=index is not None)
        else:
            call = self._continued(call_id, known, offset, has_index=index is not None)
        if index is not None:
            self._by_index[index] = call
        if call_id:
            self._by_id[call_id] = call
        call.fragments.append(arguments)

    def _new(
        self, call_id: str, name: str, known: _Call | None, offset: int, *, has_index: bool
    ) -> _Call:
        """Open a call; doubtful where it could be more of one that is known."""
        rival = known if has_index else (self._calls[-1] if self._calls else None)
        if call_id in self._by_id:
            self._notes.open("DELTA-ID-SHARED-BY-SIBLINGS", offset, calls=True)
        elif rival is not None:
            told_apart = bool(call_id and rival.id) or name != rival.name
            quirk = "DELTA-INDEX-ALL-ZERO" if has_index else "DELTA-INDEX-MISSING"
            self._notes.open(quirk, offset, calls=not told_apart)
        call = _Call(call_id, name, offset)
        self._calls.append(call)
        return call

    def _continued(
        self, call_id: str, known: _Call | None, offset: int, *, has_index: bool
    ) -> _Call:
        """Return the call that an entry without a name continues."""
        self._notes.keep("MIST-CALL-FRAGMENTS", offset)
        if not has_index and len(self._calls) == 1:
            known = self._calls[0]
        if known is None or (call_id and call_id != known.id):
            self._notes.open("DELTA-ID-NAME-FIRST-ONLY", offset, calls=True)
        return known or self._new(call_id, "", None, offset, has_index=True)

    def _id(self, value: object, offset: int) -> str:
        if not isinstance(value, str | None):
            self._notes.open("EVENT-GLUED", offset, calls=True)
        elif value == "null":
            self._notes.keep("MIST-ID-NULL", offset)
        return value if isinstance(value, str) and value not in _NO_ID else ""

    def _check_type(self, entry: dict[str, Any], offset: int) -> None:
        kind = entry.get("type")
        if "type" not in entry:
            self._notes.keep("DELTA-TYPE-MISSING", offset)
        elif kind in (None, ""):
            self._notes.keep("DELTA-TYPE-EMPTY-OR-NULL", offset)
        elif kind != "function":
            self._notes.open("DELTA-TYPE-EMPTY-OR-NULL", offset, calls=True)
