"""Define the oracle of the dialect `mistral`, which adds up the deltas of choice 0.

Content is text or a list of parts. An entry of `tool_calls` with a name is a complete call, and one
without continues the call at its index. If an entry does not identify its call, the calls are
ambiguous.
Source: https://docs.mistral.ai/api/#tag/chat
"""

from typing import Any, ClassVar, Final

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import FinishWordOracle
from harness.dialects.kit.oracle.events import Event, function_entries
from harness.dialects.kit.oracle.reading import Notes, OpenCall, OpenCalls
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    code_of,
    dict_or_empty,
    is_index,
    meanings,
    text_or_empty,
)


class CallList(OpenCalls[int, OpenCall]):
    """Collects the calls of one choice, numbered in the order of their first appearance."""

    def __init__(self, notes: Notes) -> None:
        super().__init__(notes)
        self._by_id: dict[str, OpenCall] = {}
        self._by_index: dict[int, OpenCall] = {}

    def add(self, entries: list[Any], path: tuple[str | int, ...], event: Event) -> None:
        """Process one list of calls; `path` is its location in the event."""
        if len(entries) > 1:
            self._notes.harmless("DELTA-MULTI-IN-CHUNK", event.offset)
        for _, entry, arguments in function_entries(entries, path, event, self._notes):
            self.check_type(entry, event.offset)
            if not isinstance(arguments, str):
                quirk = "ARGS-NULL" if arguments is None else "ARGS-OBJECT"
                self._notes.ambiguous(quirk, event.offset, calls=arguments is not None)
            self._entry(entry, text_or_empty(arguments), event.offset)

    def _entry(self, entry: Json, arguments: str, offset: int) -> None:
        index = entry.get("index")
        index = index if is_index(index) else None
        call_id = self._id(entry.get("id"), offset)
        name = self.text(entry["function"].get("name"), offset)
        if not (name or call_id or arguments):
            return
        if index is None:
            self._notes.harmless("DELTA-INDEX-MISSING", offset)
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
        self, call_id: str, name: str, known: OpenCall | None, offset: int, *, has_index: bool
    ) -> OpenCall:
        """Begin a call, or name `known`; note that it is ambiguous if both are possible."""
        if known is not None and not known.name and call_id in ("", known.id or call_id):
            self._notes.harmless("DELTA-NAME-LATE", offset)
            known.id, known.name = call_id or known.id, name
            return known
        rival = known if has_index else next(reversed(self._calls.values()), None)
        if rival is not None and call_id not in self._by_id:
            told_apart = bool(call_id and rival.id) or name != rival.name
            quirk = "DELTA-INDEX-ALL-ZERO" if has_index else "DELTA-INDEX-MISSING"
            self._notes.ambiguous(quirk, offset, calls=not told_apart)
        if not call_id and not has_index:
            self._notes.harmless("DELTA-ID-MISSING", offset)
        call = self._calls[len(self._calls)] = OpenCall(offset, call_id, name)
        return call

    def _continued(
        self, call_id: str, known: OpenCall | None, offset: int, *, has_index: bool
    ) -> OpenCall:
        """Return the call that an item without a name continues."""
        self._notes.harmless("MIST-CALL-FRAGMENTS", offset)
        if not has_index and len(self._calls) == 1:
            known = self._calls[0]
        if (known is None and not has_index) or (known and call_id not in ("", known.id)):
            self._notes.ambiguous("DELTA-ID-NAME-FIRST-ONLY", offset, calls=True)
        return known or self._new(call_id, "", None, offset, has_index=True)

    def _id(self, value: object, offset: int) -> str:
        if value == "null":
            self._notes.harmless("MIST-ID-NULL", offset)
            return ""
        return self.text(value, offset)


# Parts without text of the turn: citations, and output of another kind.
_CITATIONS: Final = frozenset(("reference", "tool_reference"))
_OTHER_OUTPUT: Final = frozenset(("image_url", "document_url", "file", "input_audio"))


class MistralOracle(FinishWordOracle):
    """Reads one response body of Mistral's chat API by its contract."""

    READ: ClassVar = frozenset(("choices.delta.tool_calls", "choices.message.tool_calls"))
    USAGE: ClassVar = counts_at(("usage",), read="prompt_tokens", written="completion_tokens")
    MEANINGS: ClassVar = meanings(stop=("stop", "tool_calls"), length=("length", "model_length"))

    def __init__(self) -> None:
        super().__init__()
        self.table = self._calls = CallList(self.notes)
        self._chunks = 0

    def take(self, value: Json, event: Event) -> None:
        """Process one chunk, or the complete completion."""
        choices = value.get("choices")
        error = _error_of(value, event.name)
        if error is not None:
            self.notes.failure("ERR-IN-200", event.offset, ambiguous=self.ended or choices)
            self.fail(*error)
        elif isinstance(choices, list):
            if len(choices) > 1:
                self.notes.unreadable("N-CHOICES", event.offset)
            for place, choice in enumerate(choices):
                self._one_choice(choice, place, event)
        elif choices is None and isinstance(value.get("usage"), dict):
            self.notes.harmless("CHUNK-CHOICES-ABSENT", event.offset)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _one_choice(self, choice: object, place: int, event: Event) -> None:
        if not isinstance(choice, dict):
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        index = choice.get("index", 0)
        if type(index) is not int:
            self.notes.unreadable("N-CHOICES", event.offset)
        if not self.is_answer(index, event.offset):
            return
        delta, message = choice.get("delta"), choice.get("message")
        self._chunks += 1
        if message is not None and (delta is not None or self._chunks > 1):
            self.notes.unreadable("MESSAGE-NOT-DELTA", event.offset)
        field = "delta" if message is None else "message"
        reply = choice.get(field)
        if isinstance(reply, dict):
            self._delta(reply, ("choices", place, field), event)
        else:
            self.notes.ambiguous(
                "DELTA-NULL", event.offset, text=reply is not None, calls=bool(reply)
            )
        self._take_finish(choice.get("finish_reason"), event.offset)

    def _delta(self, reply: Json, path: tuple[str | int, ...], event: Event) -> None:
        content, entries = reply.get("content"), reply.get("tool_calls")
        if self.ended and (content or entries) and not self.uses_late_content(event.offset):
            return
        if isinstance(content, list):
            self.notes.harmless("MIST-CONTENT-PARTS", event.offset)
            for part in content:
                self._part(part, event.offset)
        else:
            self.add_text(self.text, content, event.offset)
        if isinstance(entries, list):
            if not entries:
                self.notes.harmless("TOOLCALLS-EMPTY-ARRAY", event.offset)
            self._calls.add(entries, (*path, "tool_calls"), event)
        elif entries is not None:
            self.notes.ambiguous("EVENT-GLUED", event.offset, calls=True)

    def _part(self, part: object, offset: int) -> None:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(kind, str):
            self.notes.ambiguous("MIST-CONTENT-PARTS", offset, text=True)
        elif kind == "text" and isinstance(part.get("text"), str):
            self.text.add(part["text"])
        elif kind == "thinking" and isinstance(part.get("thinking"), list):
            for thought in part["thinking"]:
                self._thought(thought, offset)
        elif kind in _OTHER_OUTPUT:
            self.notes.other_output = True
        elif kind not in _CITATIONS:
            self.notes.ambiguous("MIST-CONTENT-PARTS", offset, text=True)

    def _thought(self, thought: object, offset: int) -> None:
        members = dict_or_empty(thought)
        kind, text = members.get("type"), members.get("text")
        if kind == "text" and isinstance(text, str):
            self.reasoning.add(text)
        elif text is not None or not isinstance(kind, str):
            self.notes.ambiguous("MIST-CONTENT-PARTS", offset, text=True)

    def _take_finish(self, word: object, offset: int) -> None:
        if word in (None, ""):
            return
        if isinstance(word, str):
            self.check_failure_word(word, offset)
            self.finish(word, offset)
        else:
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)


def _error_of(value: Json, event: str) -> tuple[str, str] | None:
    """Return code and message of the error in an event; None if it is not an error."""
    error = value.get("error")
    holder = error if isinstance(error, dict) else value
    is_error = not value.get("choices") and any(value.get(key) for key in ("message", "detail"))
    if not (error or is_error or event == "error" or value.get("object") == "error"):
        return None
    return code_of(holder), text_or_empty(holder.get("message"))
