"""Define the oracle of the dialect `anthropic`, which adds up the content blocks of a message.

Source: Anthropic API reference, "Streaming Messages", "Messages", "Handling stop reasons".
"""

from typing import ClassVar, Final

from harness.dialects.anthropic.oracle.blocks import BlockTable
from harness.dialects.kit.oracle.dispatch import DONE, Json, Oracle, TakeEvent
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    UNREADABLE,
    error_of,
    event_value,
    meanings,
    member_text,
    read_arguments,
)
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import SealedReading

_NEW: Final = frozenset(("pause_turn", "refusal", "model_context_window_exceeded", "compaction"))
# Words, also in another case or of another API, after which the last call may be incomplete.
_STOPPED_INSIDE: Final = frozenset(
    ("max_tokens", "model_context_window_exceeded", "refusal", "length", "content_filter")
)
# Words of gateways for calls: a reader may take them as such.
_MAY_PROMISE_CALLS: Final = frozenset(("tool_use", "tool_calls", "tool_call", "function_call"))
_HARMLESS: Final = frozenset(("ping", "message_stop"))


class AnthropicOracle(Oracle):
    """Reads one response body of Anthropic's Messages API by its contract."""

    ITEMS: ClassVar = frozenset(("message.content", "content_block", "content"))
    USAGE: ClassVar = counts_at(
        ("message", "usage"), ("usage",), read="input_tokens", written="output_tokens",
        read_parts="cache_creation_input_tokens cache_read_input_tokens", adds_up=True,
    )  # fmt: skip
    MEANINGS: ClassVar = meanings(
        stop=("end_turn", "stop_sequence", "tool_use"),
        length=("max_tokens", "model_context_window_exceeded"),
        content_filter=("refusal",),
        other=("pause_turn", "compaction"),
    )

    TYPE_MEMBER: ClassVar[str] = "type"

    def __init__(self) -> None:
        super().__init__()
        self.table = self._blocks = BlockTable(self.notes, self.text, self.reasoning)
        self.error_quirk = "ANT-ERROR-EVENT"
        self._start_reason = ""
        self._started = False
        self._is_whole = False  # the start has the content, and nothing follows it
        self._takes: dict[str, TakeEvent] = {
            "content_block_delta": self._block_delta,
            "content_block_start": self._block_start,
            "content_block_stop": self._block_stop,
            "error": self.take_error_event,
            "message": self._message,
            "message_delta": self._message_delta,
            "message_start": self._message_start,
            "message_stop": self._message_stop,
            "ping": self._ping,
        }

    def after_end(self, data: str, event: Event) -> None:
        """Process an event after the end."""
        value = event_value(data)
        harmless = isinstance(value, dict) and value.get("type") in tuple(_HARMLESS)
        if data in ("", DONE) or harmless:
            self.notes.harmless("SSE-AFTER-DONE", event.offset)
        else:
            self.notes.unreadable("SSE-AFTER-DONE", event.offset)

    def unfinished(self, data: str, event: Event) -> None:
        """Process an event that is incomplete because the body ends inside it."""
        values = [event_value(data), *map(event_value, data.split("\n"))]
        if isinstance(values[0], dict) and (
            self._start_reason or values[0].get("type") not in tuple(_HARMLESS)
        ):
            self.take_unfinished(values[0], event)
            return
        dicts = [value for value in values if isinstance(value, dict)]
        if any(value.get("type") not in tuple(_HARMLESS) for value in dicts) or (
            dicts and self._start_reason
        ):
            self.notes.unreadable("SSE-NO-FINAL-BLANK", event.offset)
        elif dicts or DONE.startswith(data) or values[0] is not UNREADABLE:
            self.notes.harmless("SSE-NO-FINAL-BLANK", event.offset)
        elif self.finishes:
            self.notes.ambiguous("SSE-EOF-MIDCALL", event.offset, end=True)
        else:
            self.values += 1

    # Events

    def is_event_name(self, name: str) -> bool:
        """Return whether the API has an event of this type, and it is not an error."""
        return name in self._takes and name != "error"

    def take(self, value: Json, event: Event) -> None:
        """Process one event, or the complete message."""
        kind = value.get("type")
        if isinstance(kind, str) and kind in self._takes:
            if kind not in (event.name, "message") and not event.is_wrapped:
                self.notes.harmless("ANT-NO-EVENT-LINE", event.offset)
            self._check_order(kind, event.offset)
            self._takes[kind](value, event)
        elif (error := error_of(value, event.name)) is not None:
            self.take_error(error, event.offset)
        elif isinstance(kind, str) and event.name not in self._takes and self.values > 1:
            self.notes.harmless("ANT-UNKNOWN-EVENT", event.offset)
        else:
            self.notes.unreadable("ANT-UNKNOWN-EVENT", event.offset)

    def _check_order(self, kind: str, offset: int) -> None:
        if kind in ("ping", "message_stop"):
            return
        if self.error is not None or (self.finishes and kind not in ("message_delta", "error")):
            self.notes.unreadable("CONTENT-AFTER-FINISH", offset)

    def _message_start(self, value: Json, event: Event) -> None:
        message = value.get("message")
        if self._started or self._blocks.blocks or not isinstance(message, dict):
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        self._started = True
        if message.get("content"):
            self.notes.harmless("ANT-WHOLE-IN-START", event.offset)
            text = member_text(event.data, "message", "content")
            self._content(message["content"], text, event.offset)
            self._is_whole = True
        reason = message.get("stop_reason")
        self._start_reason = reason if isinstance(reason, str) else ""

    def _content(self, content: object, text: str, offset: int) -> None:
        if not isinstance(content, list):
            self.notes.unreadable("EVENT-GLUED", offset)
            return
        for place, block in enumerate(content):
            has_input = isinstance(block, dict) and isinstance(block.get("input"), dict)
            input_text = member_text(text, place, "input") if has_input else ""
            self._blocks.start(place, block, input_text, offset)
            self._blocks.stop(place, offset)

    def _block_start(self, value: Json, event: Event) -> None:
        self._is_whole = False
        content = value.get("content_block")
        input_text = ""
        if isinstance(content, dict) and content.get("input"):
            input_text = member_text(event.data, "content_block", "input")
            self.notes.harmless("ANT-FULL-INPUT-IN-START", event.offset)
        self._blocks.start(value.get("index"), content, input_text, event.offset)

    def _block_delta(self, value: Json, event: Event) -> None:
        self._blocks.delta(value.get("index"), value.get("delta"), event.offset)

    def _block_stop(self, value: Json, event: Event) -> None:
        self._blocks.stop(value.get("index"), event.offset)

    def _message_delta(self, value: Json, event: Event) -> None:
        delta = value.get("delta")
        if isinstance(delta, dict):
            self._finish(delta.get("stop_reason"), event.offset)
        elif delta is not None:
            self.notes.unreadable("EVENT-GLUED", event.offset)

    def _message_stop(self, _: Json, event: Event) -> None:
        self.over = True
        if not self.finishes and self._start_reason:
            self._finish(self._start_reason, event.offset)
        if not self.finishes and self.error is None:
            self.notes.ambiguous("FINISH-UNKNOWN", event.offset, end=True)

    def _message(self, value: Json, event: Event) -> None:
        """Process the document that the API returns to a request without a stream."""
        if self.values > 1:
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        self.notes.harmless("JSON-FOR-STREAM", event.offset)
        text = member_text(event.data, "content")
        self._content(value.get("content"), text, event.offset)
        self._finish(value.get("stop_reason"), event.offset)
        self.over = True

    def _ping(self, _: Json, event: Event) -> None:
        self.notes.harmless("ANT-UNKNOWN-EVENT", event.offset)

    def _finish(self, reason: object, offset: int) -> None:
        if reason is None:
            return
        if not isinstance(reason, str) or not reason:
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
            return
        word = join_surrogates(reason)
        if not self.check_failure_word(word, offset) and word not in self.MEANINGS:
            self.notes.harmless("FINISH-UNKNOWN", offset)
        if self.finishes and word == self.finishes[-1]:
            self.notes.harmless("FINISH-DUPLICATE", offset)
        elif self.finishes:
            self.notes.ambiguous("FINISH-DUPLICATE", offset, calls=True, end=True)
        self.add_finish(word)

    # The end

    def sealed(self) -> tuple[SealedReading, ...]:
        """Return signatures and redacted thinking."""
        return tuple(self._blocks.sealed())

    def conclude(self) -> None:
        """Note deviations that can be seen only in the complete body."""
        if not self.finishes and self.error is None and self._start_reason and self._is_whole:
            # The start has the content and the stop reason, and the end of the message is missing.
            ends = self.notes.policy_choice("ANT-WHOLE-IN-START", 0, "interrupted", "finished")
            if ends == "finished":
                self._finish(self._start_reason, 0)
        last = self.finishes[-1].casefold() if self.finishes else ""
        ended = bool(self.finishes) and self.error is None
        self._blocks.conclude(ended=ended, in_last=last in _STOPPED_INSIDE)
        calls = self._blocks.uses()
        if not self.values and not self.notes.deviations():
            self.notes.harmless("STREAM-NO-EVENTS", 0)
        elif not self.finishes and self.error is None:
            self.notes.harmless("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if not self.finishes:
            return
        if not self.over:
            self.notes.harmless("ANT-MESSAGE-STOP-MISSING", 0)
        self._check_reason(self.finishes[-1])

    def _check_reason(self, word: str) -> None:
        calls, blocks = self._blocks.uses(), self._blocks.blocks
        if word in _NEW:
            self.notes.harmless("ANT-STOP-REASONS-NEW", 0)
        if not calls and self.notes.calls_known and word.casefold() in _MAY_PROMISE_CALLS:
            self.notes.ambiguous("FINISH-TOOLCALLS-WITHOUT-CALLS", 0, end=word != "tool_use")
        if calls and word == "end_turn":
            self.notes.harmless("ANT-ENDTURN-WITH-TOOL", 0)
        if calls and blocks[-1] is calls[-1] and word.casefold() in _STOPPED_INSIDE:
            # A readable input does not show whether the call is complete. Any other one does.
            readable = read_arguments(calls[-1].arguments).value is not None
            quirk = "ANT-BUFFERED-MAXTOKENS" if readable else "FINISH-LENGTH-WITH-CALL"
            self.notes.ambiguous(quirk, 0, calls=readable)
        if self.meaning is FinishReason.OTHER and not all(c.arguments for c in calls):
            self.notes.ambiguous("ANT-EMPTY-INPUT", 0, calls=True)
