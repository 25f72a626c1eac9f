"""Read the frames of a generateContent stream as deltas, as promptly as the bytes allow.

Every event is a complete response that continues the ones before: SSE events, elements of one
JSON array, or lines. A finish reason does not end the turn before the stream ends, because a turn
in which the provider runs code continues after one. The reader never invents a call or an argument.
Source: Gemini API reference, `streamGenerateContent`, `GenerateContentResponse`.
"""

from typing import Any, Final

from harness.dialects.gemini.calls import GeminiCalls
from harness.dialects.gemini.event import (
    has_object_arguments,
    keep_argument_text,
    piece_of,
    unwrapped,
)
from harness.dialects.gemini.partial_args import member
from harness.dialects.kit.reader import EventReader, finish_reasons, reads_with
from harness.turns.deltas import FinishReason, ReasoningDelta, SealedPlace, TextDelta
from harness.turns.json_values import as_dict, as_text, dicts
from harness.wire.frames import Frame

FINISHES: Final = finish_reasons(
    stop=("STOP",),
    length=("MAX_TOKENS",),
    content_filter=(
        "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
        "MODEL_ARMOR", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
    ),
)  # fmt: skip
# Words that say that what the model wrote cannot be used.
FAILED: Final = frozenset((
    "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS",
    "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE",
))  # fmt: skip
# The enumeration's numbers, which the Gemini API writes with `$alt=json;enum-encoding=int`.
NUMBERS: Final = dict(enumerate((
    "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "LANGUAGE", "BLOCKLIST",
    "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY",
    "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS",
), 1))  # fmt: skip
# Words, one each for reasons and for blocked prompts, that mean "not specified".
UNSAID: Final = frozenset(("", "FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "0"))


_OURS = frozenset((
    "candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId",
    "prompt_feedback", "usage_metadata", "model_version", "response_id",
))  # fmt: skip
_NO_CANDIDATE = object()


class _Reader(EventReader):
    """Reads one response of the dialect `gemini`."""

    _stopped: bool  # the finish reason came, and nothing since; unset before it
    _event: dict[str, Any]  # the one at hand
    _data: bytes

    def __init__(self) -> None:
        super().__init__()
        self._calls = GeminiCalls(self.turn)
        self._candidate: object = _NO_CANDIDATE  # index of the one that is read
        self.is_known = False

    def _take(self, frame: Frame) -> None:
        turn = self.turn
        piece = piece_of(frame.data, self._candidate, has_id=bool(turn.seed))
        if piece is None:
            super()._take(frame)
            return
        text, is_thought, usage = piece
        self._stopped = False
        if usage is not None:
            spent = _total(usage.candidatesTokenCount, usage.thoughtsTokenCount)
            turn.usage(usage.promptTokenCount, spent)
        turn.out.append(ReasoningDelta(text) if is_thought else TextDelta(text))

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one event."""
        if frame.event == "error":
            self._error(value.get("error") or value)
            return
        value = unwrapped(value)
        self._event, self._data = value, frame.data
        self._about(value)
        candidates = value.get("candidates")
        if candidates is None:
            self._blocked(value)
        else:
            self.is_known = True
            for candidate in dicts(candidates):
                if not self.turn.over:
                    self._continue(candidate)
        if value.get("error") and not self.turn.over:
            self._error(value["error"])

    def end_of_stream(self) -> None:
        """End the turn, as complete if it has a finish reason and as failed otherwise."""
        self._calls.close()
        # The turn went on after a finish reason, and then broke off (quirk GEM-FINISH-THEN-MORE).
        if self.turn.finished and not self._stopped:
            self.interrupted()
        else:
            super().end_of_stream()

    def interrupted(self, message: str = "") -> None:
        """Fail the turn, after emitting the part of a call that arrived."""
        self._calls.close()
        super().interrupted(message)

    # One event

    def _blocked(self, value: dict[str, Any]) -> None:
        """Process an event without candidates: it has only usage, or reports a blocked prompt."""
        # The last event may have only usage, without candidates.
        if not _OURS.isdisjoint(value):
            self.is_known = True
        feedback = member(value, "promptFeedback")
        if isinstance(feedback, dict) and self._candidate is _NO_CANDIDATE:
            reason = _word(member(feedback, "blockReason"))
            # A blocked prompt has no candidate, so it is the end (quirk GEM-PROMPT-BLOCKED).
            if reason not in UNSAID:
                self._stopped = True
                self.turn.finish(FinishReason.CONTENT_FILTER, reason)

    def _about(self, value: dict[str, Any]) -> None:
        turn = self.turn
        if not turn.seed:
            turn.seed = as_text(member(value, "responseId"))
        usage = value.get("usageMetadata") or value.get("usage_metadata")
        if isinstance(usage, dict):
            turn.usage(
                member(usage, "promptTokenCount"),
                _total(
                    member(usage, "candidatesTokenCount"),
                    member(usage, "thoughtsTokenCount"),
                ),
            )

    def _continue(self, candidate: dict[str, Any]) -> None:
        # The API leaves out an index of 0.
        index = candidate.get("index") or 0
        if self._candidate is _NO_CANDIDATE:
            self._candidate = index
        elif index != self._candidate:
            return  # another answer to the same request
        for part in dicts(as_dict(candidate.get("content")).get("parts")):
            self._part(part)
        reason = candidate.get("finishReason") or candidate.get("finish_reason")
        if reason:
            self._finish(reason, candidate)

    def _part(self, part: dict[str, Any]) -> None:
        """Process one part. Parts of tools that the provider executes are ignored."""
        text = part.get("text")
        if text:
            self._stopped = False
            # A thought is a text part with the flag `thought`.
            (self.turn.reasoning if part.get("thought") else self.turn.text)(text)
        if "functionCall" in part or "function_call" in part:
            call = member(part, "functionCall")
            if call is not None:
                self._stopped = False
                self._call(call, member(part, "thoughtSignature"))
        elif signature := member(part, "thoughtSignature"):
            place: SealedPlace = "reasoning" if part.get("thought") else "text"
            self.turn.seal("thoughtSignature", signature, place)

    def _call(self, call: object, signature: object) -> None:
        if self._data and isinstance(call, dict) and has_object_arguments(call):
            keep_argument_text(self._event, self._data)
            # `args` is an object here, whose text keeps digits and repeated keys.
            self._data = b""  # once for all calls of an event
        self._calls.take(call, signature)

    # The end

    def _finish(self, reason: object, candidate: dict[str, Any]) -> None:
        # Some clients log enumerations as numbers (quirk GEM-FINISH-NUMBER).
        known = NUMBERS.get(reason, "") if type(reason) is int else ""
        known = known or _word(reason).upper()
        if known in UNSAID:
            return
        # The server could not parse the model's call (quirk GEM-MALFORMED); `stop` would hide it.
        if known in FAILED:
            message = as_text(member(candidate, "finishMessage"))
            self._calls.close()
            self.turn.fail(known, message or f"the provider finished the turn with {reason!r}")
            return
        self._stopped = True
        self.turn.finish(FINISHES.get(known, FinishReason.OTHER), _word(reason))

    def _error(self, error: object) -> None:
        self._calls.close()
        self.provider_error(error, ("status", "code"))


def _word(reason: object) -> str:
    return str(reason) if type(reason) is int else as_text(reason)


def _total(*counts: object) -> int | None:
    known = [count for count in counts if type(count) is int]
    return sum(known) if known else None


read = reads_with(_Reader)
