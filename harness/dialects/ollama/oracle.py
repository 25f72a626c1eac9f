"""One interaction of the dialect ollama -> its strict reading.

Each line is a piece of the answer: text, thinking and whole calls; the line whose `done` is
true is the last one. Arguments are an object, whose own text is kept. A plain response is
that last line alone.
Source: https://docs.ollama.com/api/chat, /api/generate, /api/streaming and /api/errors
"""

from typing import Any, ClassVar

from harness.dialects.kit.oracle.dispatch import FramedReader
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.reading import CallReading, OracleReading
from harness.dialects.kit.oracle.values import item_texts, member_text
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.wire.interaction import Interaction

_REASONING_TAGS = ("<think", "</think>")


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    return _Reader().read(interaction.body)


class _Reader(FramedReader):
    MEANINGS: ClassVar[dict[str, FinishReason]] = {
        "stop": FinishReason.STOP,
        "length": FinishReason.LENGTH,
    }
    OTHER_WORDS: ClassVar[frozenset[str]] = frozenset({"load", "unload"})

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[CallReading] = []
        self._ids: set[str] = set()
        self._indices: set[int] = set()

    def calls(self) -> tuple[CallReading, ...]:
        return tuple(self._calls)

    def take(self, value: dict[str, Any], event: Event) -> None:
        if self.framing == "sse":
            # A gateway's: what it made of the lines is for nobody to say.
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)
        message, done = value.get("message"), value.get("done")
        if "error" in value:
            self._error(value, event.offset)
        elif isinstance(message, dict) and "response" not in value:
            self._say(message, "content", event, "message")
        elif isinstance(value.get("response"), str) and message is None:
            self._say(value, "response", event)
        elif isinstance(done, bool) and message is None and "response" not in value:
            self.known += 1
        else:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)
        if done is True:
            self._done_with(value, event.offset)
        elif done not in (None, False):
            self.notes.open("ENVELOPE-WRAPPED", event.offset, end=True)

    def _error(self, value: dict[str, Any], offset: int) -> None:
        error = value["error"]
        if not isinstance(error, str) or not error or not {"message", "response"}.isdisjoint(value):
            self.notes.lost("ERR-IN-200", offset)
        self.notes.keep("ERR-IN-200", offset)
        self.known += 1
        self.fail("", error)

    def _say(self, said: dict[str, Any], field: str, event: Event, *path: str) -> None:
        self.known += 1
        self.say(self.text, said.get(field), event.offset)
        self.say(self.reasoning, said.get("thinking"), event.offset)
        calls = said.get("tool_calls")
        if isinstance(calls, list):
            texts = item_texts(member_text(event.data, *path, "tool_calls"))
            for call, text in zip(calls, texts, strict=False):
                self._call(call, text, event.offset)
        elif calls is not None:
            self.notes.open("EVENT-GLUED", event.offset, calls=True)

    # Calls

    def _call(self, call: object, text: str, offset: int) -> None:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            self.notes.open("EVENT-GLUED", offset, calls=True)
            return
        call_id, name = call.get("id"), function.get("name")
        if not isinstance(call_id, str | None) or not isinstance(name, str):
            self.notes.open("EVENT-GLUED", offset, calls=True)
            return
        self._check_key(call_id, function.get("index"), offset)
        self._calls.append(
            CallReading(
                join_surrogates(call_id or ""),
                join_surrogates(name),
                join_surrogates(self._arguments(function, text, offset)),
                offset,
            )
        )

    def _arguments(self, function: dict[str, Any], text: str, offset: int) -> str:
        arguments = function.get("arguments")
        if arguments is None:
            self.notes.keep("ARGS-NULL", offset)
            return ""
        if not isinstance(arguments, dict):
            # A reader may take a text as what it says, or refuse it.
            self.notes.open("OLL-ARGS-TEXT", offset, calls=True)
        return member_text(text, "function", "arguments")

    def _check_key(self, call_id: str | None, index: object, offset: int) -> None:
        """Each entry is a call; one that has the key of another may be that one again."""
        if not call_id:
            self.notes.keep("OLL-ARGS-OBJECT", offset)
        elif call_id in self._ids:
            self.notes.open("DELTA-ID-SHARED-BY-SIBLINGS", offset, calls=True)
        if isinstance(index, int) and index in self._indices and not call_id:
            self.notes.open("DELTA-INDEX-ALL-ZERO", offset, calls=True)
        self._ids.add(call_id or "")
        if isinstance(index, int):
            self._indices.add(index)

    # The end

    def _done_with(self, value: dict[str, Any], offset: int) -> None:
        word = value.get("done_reason")
        if not isinstance(word, str | None) or word == "error":
            self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
        if not word:
            self.notes.keep("OLL-DONE-NO-REASON", offset)
        if self.error is not None:
            self.notes.lost("ERR-IN-200", offset)
        self.finish(word if isinstance(word, str) else "", offset)

    def conclude(self, calls: int) -> None:
        if any(tag in self.text.value() for tag in _REASONING_TAGS):
            self.notes.open("REASONING-FIELD-NAMES", 0, text=True)
        if calls and self.word == "stop":
            self.notes.keep("OLL-DONE-STOP", 0)
        if self.word == "tool_calls" and not calls:
            self.notes.open("FINISH-TOOLCALLS-WITHOUT-CALLS", 0, end=True)
