"""Decide the meaning of a body of the dialect `ollama` by the contract (the oracle).

Each line is a piece of the answer: text, thinking and complete calls. The line whose `done` is
true is the last one. Arguments are an object, whose JSON text is preserved. A complete response is
that last line alone.
Source: https://docs.ollama.com/api/chat, /api/generate, /api/streaming and /api/errors
"""

from typing import ClassVar

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import OneEndOracle
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.reading import OpenCall
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import dict_or_empty, item_texts, meanings, member_text
from harness.turns.oracle_reading import CallReading


class OllamaOracle(OneEndOracle):
    """Reads one response body of Ollama's API by its contract."""

    READ: ClassVar = frozenset(("message.tool_calls",))
    USAGE: ClassVar = counts_at((), read="prompt_eval_count", written="eval_count")
    MEANINGS: ClassVar = meanings(stop=("stop",), length=("length",))
    OTHER_WORDS: ClassVar[frozenset[str]] = frozenset({"load", "unload"})

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[OpenCall] = []
        self._ids: set[str] = set()
        self._indices: set[int] = set()

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return tuple(call.reading() for call in self._calls)

    def take(self, value: Json, event: Event) -> None:
        """Process one line."""
        if self.framing == "sse":
            # Events of a gateway: no contract defines how it translates the lines.
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
        message, done = value.get("message"), value.get("done")
        if "error" in value:
            self._error(value, event.offset)
        elif isinstance(message, dict) and "response" not in value:
            self._message(message, "content", event, "message")
        elif isinstance(value.get("response"), str) and message is None:
            self._message(value, "response", event)
        elif isinstance(done, bool) and message is None and "response" not in value:
            self.known += 1
            self.add_text(self.reasoning, value.get("thinking"), event.offset)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
        if done is True:
            self._done_with(value, event.offset)
        elif done not in (None, False):
            self.notes.ambiguous("ENVELOPE-WRAPPED", event.offset, end=True)

    def _error(self, value: Json, offset: int) -> None:
        error = value["error"]
        is_error = isinstance(error, str) and error and {"message", "response"}.isdisjoint(value)
        self.notes.failure("ERR-IN-200", offset, ambiguous=not is_error)
        self.known += 1
        self.fail("", error)

    def _message(self, message: Json, field: str, event: Event, *path: str) -> None:
        self.known += 1
        self.add_text(self.text, message.get(field), event.offset)
        self.add_text(self.reasoning, message.get("thinking"), event.offset)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            if not calls:
                self.notes.harmless("TOOLCALLS-EMPTY-ARRAY", event.offset)
            texts = item_texts(member_text(event.data, *path, "tool_calls"))
            for call, text in zip(calls, texts, strict=False):
                self._call(call, text, event.offset)
        elif calls is not None:
            self.notes.ambiguous("EVENT-GLUED", event.offset, calls=True)

    # Calls

    def _call(self, call: object, text: str, offset: int) -> None:
        entry = dict_or_empty(call)
        function = dict_or_empty(entry.get("function"))
        call_id, name = entry.get("id"), function.get("name")
        if not isinstance(call_id, str | None) or not isinstance(name, str):
            self.notes.ambiguous("EVENT-GLUED", offset, calls=True)
            return
        self._check_key(call_id, function.get("index"), offset)
        opened = OpenCall(offset, call_id or "", name)
        opened.fragments.append(self._arguments(opened, function, text))
        self._calls.append(opened)

    def _arguments(self, call: OpenCall, function: Json, text: str) -> str:
        arguments, quirk = function.get("arguments"), "OLL-ARGS-TEXT"
        if arguments is None:
            self.notes.harmless("OLL-ARGS-NULL", call.offset)
            return ""
        if isinstance(arguments, str):  # a reader parses the text, or refuses it
            if self.notes.policy_choice(quirk, call.offset, "parse", "reject") == "reject":
                call.rejected = "its arguments are text, and the API has an object"
            return arguments
        if not isinstance(arguments, dict):
            self.notes.ambiguous(quirk, call.offset, calls=True)
        return member_text(text, "function", "arguments")

    def _check_key(self, call_id: str | None, index: object, offset: int) -> None:
        """Note deviations if a call has no id, or the id or index of another call."""
        if not call_id:
            self.notes.harmless("OLL-ARGS-OBJECT", offset)
        if isinstance(index, int) and index in self._indices and not call_id:
            self.notes.ambiguous("DELTA-INDEX-ALL-ZERO", offset, calls=True)
        self._ids.add(call_id or "")
        if isinstance(index, int):
            self._indices.add(index)

    # The end

    def _done_with(self, value: Json, offset: int) -> None:
        word = value.get("done_reason")
        if not isinstance(word, str | None) or word == "error":
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
        if not word:
            self.notes.harmless("OLL-DONE-NO-REASON", offset)
        if self.error is not None:
            self.notes.unreadable("ERR-IN-200", offset)
        self.finish(word if isinstance(word, str) else "", offset)

    def check_calls(self, calls: int) -> None:
        """Note deviations if the finish word does not match the number of calls."""
        if calls and self.word == "stop":
            self.notes.harmless("OLL-DONE-STOP", 0)
        if self.word == "tool_calls" and not calls:
            self.notes.ambiguous("FINISH-TOOLCALLS-WITHOUT-CALLS", 0, end=True)
