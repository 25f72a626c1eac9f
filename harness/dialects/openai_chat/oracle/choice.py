"""One choice of a chat completion -> text, reasoning, refusal, calls, finish reasons.

It takes `delta` objects in order; the `message` of a plain completion is one delta that
holds everything. It keeps what the contract defines and notes the rest.
"""

from typing import Any

from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.openai_chat.oracle.calls import CallTable
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates

KNOWN_FINISHES = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.STOP,
    "content_filter": FinishReason.CONTENT_FILTER,
    "function_call": FinishReason.STOP,
}

# Words that say the provider failed: OpenRouter, GLM, DeepSeek, vLLM. A reader may fail the turn.
_FAILED = frozenset({"error", "network_error", "insufficient_system_resource", "abort", "timeout"})
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_TOOLS_THEN_STOP = frozenset({"tool_calls", "stop"})
_CALL_FIELDS = ("tool_calls", "function_call")
_REASONING_TAGS = ("<think", "</think>")


class Choice:
    """The deltas of the one choice that a reading can be of."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.text = GrowingText()
        self.reasoning = GrowingText()
        self.calls = CallTable(notes)
        self.finishes: list[str] = []
        self._refusal: list[str] = []
        self._finish_was_early = False
        self.reopened = False

    @property
    def refusal(self) -> str:
        """Return the refusal so far."""
        return join_surrogates("".join(self._refusal))

    def add(self, delta: dict[str, Any], offset: int) -> None:
        """Take one delta."""
        if "role" in delta and not delta["role"]:
            self._notes.keep("DELTA-ROLE-NULL", offset)
        self._add_text(delta.get("content"), offset)
        self._add_reasoning(delta, offset)
        self._add_refusal(delta.get("refusal"), offset)
        if "tool_calls" in delta and self.calls.add(delta["tool_calls"], offset) and self.finishes:
            self._notes.open("CONTENT-AFTER-FINISH", offset, calls=True)
        self._add_legacy_call(delta.get("function_call"), offset)
        kwargs = delta.get("additional_kwargs")
        if isinstance(kwargs, dict) and any(map(kwargs.get, _CALL_FIELDS)):
            self._notes.open("DELTA-ADDITIONAL-KWARGS", offset, calls=True)

    def add_finish(self, reason: object, offset: int) -> None:
        """Take one finish reason; null and "" say nothing."""
        if reason is None:
            return
        if not isinstance(reason, str):
            self._notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
        elif not reason:
            self._notes.keep("FINISH-EMPTY-STRING", offset)
        else:
            self._finish(join_surrogates(reason), offset)

    def _finish(self, reason: str, offset: int) -> None:
        if reason.casefold() in _FAILED:
            self._notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
        elif reason not in KNOWN_FINISHES:
            self._notes.keep("FINISH-UNKNOWN", offset)
        if not self.finishes:
            said = self.text.length + self.reasoning.length + len(self._refusal) + len(self.calls)
            self._finish_was_early = not said
        elif reason == self.finishes[-1]:
            self._notes.keep("FINISH-DUPLICATE", offset)
        elif {reason, *self.finishes} <= _TOOLS_THEN_STOP:
            self._notes.keep("FINISH-TOOLCALLS-THEN-STOP", offset)
        else:
            self._notes.open("FINISH-DUPLICATE", offset, end=True)
        self.reopened = False
        self.finishes = [*(one for one in self.finishes if one != reason), reason]

    def check_tags(self, offset: int) -> None:
        """Reasoning marked up in the text may be told apart from it, or not."""
        text = self.text.value()
        if any(tag in text for tag in _REASONING_TAGS):
            self._notes.open("REASONING-FIELD-NAMES", offset, text=True)

    def _add_text(self, content: object, offset: int) -> None:
        if isinstance(content, str):
            self._add_piece(self.text, content, offset)
        elif content is not None:
            self._notes.open("EVENT-GLUED", offset, text=True)

    def _add_reasoning(self, delta: dict[str, Any], offset: int) -> None:
        values = [value for field in _REASONING_FIELDS if (value := delta.get(field))]
        if values and values.count(values[0]) == len(values) and isinstance(values[0], str):
            self._add_piece(self.reasoning, values[0], offset)
        elif values or delta.get("reasoning_details"):
            self._notes.open("REASONING-FIELD-NAMES", offset, text=True)

    def _add_piece(self, text: GrowingText, piece: str, offset: int) -> None:
        if piece and self.finishes:
            self.reopened = True
            quirk = "FINISH-STOP-TOO-EARLY" if self._finish_was_early else "CONTENT-AFTER-FINISH"
            self._notes.open(quirk, offset, text=not self._finish_was_early)
        text.add(piece)

    def _add_refusal(self, refusal: object, offset: int) -> None:
        if isinstance(refusal, str) and refusal:
            self._notes.keep("REFUSAL-DELTA", offset)
            self._refusal.append(refusal)
        elif refusal:
            self._notes.open("REFUSAL-DELTA", offset, calls=True, end=True)

    def _add_legacy_call(self, call: object, offset: int) -> None:
        if isinstance(call, dict) and not any(call.values()):
            self._notes.keep("LEGACY-FC-STUB", offset)
        elif call is not None:
            self._notes.open("LEGACY-FUNCTION-CALL", offset, calls=True)
