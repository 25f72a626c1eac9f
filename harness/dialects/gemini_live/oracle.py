"""Define the oracle of the dialect `gemini-live`, which adds up the messages of one turn.

A `toolCall` has complete calls, and the client executes them at once. A `toolCallCancellation`
names calls that must not be executed. Text is in the parts of the model, or in the transcription of
its audio. Source: Gemini API reference, "Live API", `BidiGenerateContentServerMessage`.
"""

from collections.abc import Iterator
from typing import ClassVar, Final

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import OneEndOracle
from harness.dialects.kit.oracle.events import Event, iter_lines
from harness.dialects.kit.oracle.reading import OpenCall
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    error_of,
    event_value,
    item_texts,
    meanings,
    member_text,
    text_or_empty,
)
from harness.turns.oracle_reading import CallReading

_MESSAGES: Final = frozenset((
    "setupComplete", "serverContent", "toolCall", "toolCallCancellation", "goAway",
    "sessionResumptionUpdate", "usageMetadata", "voiceActivity",
))  # fmt: skip
# What has no content of a turn, so that it may also follow its end.
_ASIDE: Final = _MESSAGES - {"serverContent", "toolCall"}
_COMPLETE, _INTERRUPTED = "turnComplete", "interrupted"
_MALFORMED: Final = "MALFORMED_FUNCTION_CALL"
_UNSPECIFIED: Final = "TURN_COMPLETE_REASON_UNSPECIFIED"


class GeminiLiveOracle(OneEndOracle):
    """Reads the server's messages of one turn of a Live session."""

    READ: ClassVar = frozenset(("toolCall.functionCalls",))
    USAGE: ClassVar = counts_at(
        ("usageMetadata",),
        read="promptTokenCount",
        written="responseTokenCount",
        written_parts="thoughtsTokenCount",
    )
    MEANINGS: ClassVar = meanings(
        stop=(_COMPLETE, "NEED_MORE_INPUT"),
        content_filter=("RESPONSE_REJECTED",),
        other=(_INTERRUPTED,),
    )

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[OpenCall] = []
        self._awaits_results = False
        self._interrupted = False

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield an event for each message."""
        self.framing = "lines"
        yield from iter_lines(body, 0)

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return tuple(call.reading(from_object=bool(call.arguments)) for call in self._calls)

    def may_follow(self, event: Event) -> bool:
        """Return whether a message after the end of the turn is about the session or its calls."""
        value = event_value(event.data)
        return isinstance(value, dict) and self.error is None and value.keys() <= _ASIDE

    def unfinished(self, data: str, event: Event) -> None:
        """Process a message that the end of the connection truncated: more was to come."""
        if not isinstance(event_value(data), dict):
            self._awaits_results = False
        super().unfinished(data, event)

    def take(self, value: Json, event: Event) -> None:
        """Process one message."""
        offset = event.offset
        if (error := error_of(value)) is not None:
            self.known += 1
            self.notes.harmless("ERR-IN-200", offset)
            self.fail(*error)
            return
        if _MESSAGES.isdisjoint(value):
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)
            return
        self.known += 1
        if "toolCall" in value:
            self._tool_call(value["toolCall"], event)
        if "toolCallCancellation" in value:
            self._cancel(dict_or_empty(value["toolCallCancellation"]).get("ids"), offset)
        if "serverContent" in value:
            self._content(value["serverContent"], offset)

    def _tool_call(self, value: object, event: Event) -> None:
        calls = dict_or_empty(value).get("functionCalls")
        if not isinstance(calls, list):
            self.notes.ambiguous("EVENT-GLUED", event.offset, calls=True)
            return
        self._awaits_results = self._awaits_results or bool(calls)
        texts = item_texts(member_text(event.data, "toolCall", "functionCalls"))
        for call, text in zip(calls, texts, strict=False):
            self._call(call, text, event.offset)

    def _call(self, call: object, text: str, offset: int) -> None:
        if not isinstance(call, dict) or not isinstance(call.get("args"), dict | None):
            self.notes.ambiguous("ARGS-OBJECT", offset, calls=True)
            return
        opened = OpenCall(offset, text_or_empty(call.get("id")), text_or_empty(call.get("name")))
        if not opened.name:
            self.notes.harmless("NAME-EMPTY", offset)
        if not opened.id:
            self.notes.harmless("LIVE-NO-ID", offset)
        opened.fragments.append(member_text(text, "args") if call.get("args") is not None else "")
        self._calls.append(opened)

    def _cancel(self, ids: object, offset: int) -> None:
        if not isinstance(ids, list):
            self.notes.ambiguous("LIVE-CALL-CANCELLED", offset, calls=True)
            return
        self.notes.harmless("LIVE-CALL-CANCELLED", offset)
        for call in self._calls:
            if call.id and call.id in ids:
                call.rejected = "the server cancelled it (`toolCallCancellation`)"

    def _content(self, value: object, offset: int) -> None:
        content = dict_or_empty(value)
        parts = dict_or_empty(content.get("modelTurn")).get("parts")
        for part in parts if isinstance(parts, list) else ():
            self._awaits_results = False
            self._part(part, offset)
        self.add_text(
            self.text, dict_or_empty(content.get("outputTranscription")).get("text"), offset
        )
        if content.get(_INTERRUPTED) is True:
            self._interrupted = True
            self.notes.harmless("LIVE-INTERRUPTED", offset)
        if content.get(_COMPLETE) is True:
            self._complete(content.get("turnCompleteReason"), offset)

    def _part(self, part: object, offset: int) -> None:
        members = dict_or_empty(part)
        self.add_text(
            self.reasoning if members.get("thought") else self.text, members.get("text"), offset
        )
        if "executableCode" in members or "codeExecutionResult" in members:
            self.notes.server_tool("GEM-SERVER-TOOLS", offset)
        elif "functionCall" in members:
            self.notes.ambiguous("ENVELOPE-WRAPPED", offset, calls=True)
        elif "inlineData" in members:
            self.notes.other_output = True

    def _complete(self, reason: object, offset: int) -> None:
        word = text_or_empty(reason)
        if word == _MALFORMED:
            self.model_failed = True
            self.notes.harmless("LIVE-COMPLETE-REASON", offset)
            self.fail(word, "")
        elif word not in ("", _UNSPECIFIED):
            self.notes.harmless("LIVE-COMPLETE-REASON", offset)
            self.finish(word, offset)
        else:
            self.finish(_INTERRUPTED if self._interrupted else _COMPLETE, offset)

    def conclude(self) -> None:
        """Note deviations that only all messages show."""
        if self._awaits_results and not self.ended and self.error is None:
            # The server waits for the results, and sends nothing before them.
            self.notes.harmless("LIVE-CALL-ENDS-TURN", 0)
            self.ended = True
        super().conclude()

    def check_calls(self, calls: int) -> None:
        """Note calls without arguments in a turn that was interrupted."""
        if calls and self._interrupted and any(not call.arguments for call in self._calls):
            self.notes.ambiguous("LIVE-INTERRUPTED", 0, calls=True)
