"""Read the messages of one turn of a Live session as deltas, as promptly as they arrive.

Calls come complete in `toolCall`. A call that `toolCallCancellation` names is never executed. A
turn ends with `turnComplete`, or with a `toolCall` whose results the server awaits. Messages about
the session change no turn. The reader never raises and never invents a call or an argument.
Source: Gemini API reference, "Live API", `BidiGenerateContentServerMessage`.
"""

from typing import Any, Final

from harness.dialects.kit.reader import EventReader, exact_event, reads_with
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_dict, as_text, dicts
from harness.wire.frames import Frame

# Why the server completed a turn without an answer -> the reason.
_REASONS: Final = {"RESPONSE_REJECTED": FinishReason.CONTENT_FILTER}
_FAILED: Final = "MALFORMED_FUNCTION_CALL"
_UNSAID: Final = ("", "TURN_COMPLETE_REASON_UNSPECIFIED")
_OURS: Final = frozenset((
    "setupComplete", "serverContent", "toolCall", "toolCallCancellation", "goAway",
    "sessionResumptionUpdate", "usageMetadata", "voiceActivity",
))  # fmt: skip
TURN_COMPLETE: Final = "turnComplete"
INTERRUPTED: Final = "interrupted"


class _Reader(EventReader):
    """Reads one turn of the dialect `gemini-live`."""

    INTERRUPTED = "the session ended without turnComplete"

    def __init__(self) -> None:
        super().__init__()
        self.is_known = False
        self._keys: dict[str, list[int]] = {}  # id -> the keys of its calls
        self._contents: dict[str, tuple[object, str]] = {}  # id -> name and arguments of its call
        self._awaits_results = False
        self._was_interrupted = False

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one message."""
        self.is_known = self.is_known or not _OURS.isdisjoint(value)
        usage = as_dict(value.get("usageMetadata"))
        written = (usage.get("responseTokenCount"), usage.get("thoughtsTokenCount"))
        known = [count for count in written if type(count) is int]
        self.turn.usage(usage.get("promptTokenCount"), sum(known) if known else None)
        if "toolCall" in value:
            exact = as_dict(exact_event(value, frame.data).get("toolCall"))
            calls = list(dicts(exact.get("functionCalls")))
            for call in calls:
                self._call(call)
            self._awaits_results = self._awaits_results or bool(calls)
        cancelled = as_dict(value.get("toolCallCancellation")).get("ids")
        for call_id in cancelled if isinstance(cancelled, list) else ():
            for key in self._keys.get(call_id, ()) if isinstance(call_id, str) else ():
                self.turn.reject(key, "the server cancelled it")
        self._content(as_dict(value.get("serverContent")))
        if value.get("error") and not self.turn.over:
            self.is_known = True
            self.provider_error(value["error"], ("status", "code"))

    def _call(self, call: dict[str, Any]) -> None:
        key, call_id, args = len(self.turn), call.get("id"), call.get("args")
        arguments = "" if args is None else args if isinstance(args, str) else write_exactly(args)
        if isinstance(call_id, str) and call_id:
            content = (call.get("name"), arguments)
            # An equal repetition under a known id is the same call.
            if self._contents.setdefault(call_id, content) == content and call_id in self._keys:
                return
            self._keys.setdefault(call_id, []).append(key)
        self.turn.open(key, call_id, call.get("name"))
        if args is not None:
            self.turn.append(key, arguments)

    def _content(self, content: dict[str, Any]) -> None:
        for part in dicts(as_dict(content.get("modelTurn")).get("parts")):
            self._awaits_results = False
            # A thought is a text part with the flag `thought`; audio has its transcription.
            add = self.turn.reasoning if part.get("thought") else self.turn.text
            add(part.get("text"))
        self.turn.text(as_dict(content.get("outputTranscription")).get("text"))
        self._was_interrupted = self._was_interrupted or content.get(INTERRUPTED) is True
        if content.get(TURN_COMPLETE) is True:
            self._complete(as_text(content.get("turnCompleteReason")))

    def _complete(self, reason: str) -> None:
        if reason == _FAILED:
            self.turn.fail(reason, "the provider completed the turn without a usable call")
        elif reason not in _UNSAID:
            self.turn.finish(_REASONS.get(reason, FinishReason.STOP), reason)
        elif self._was_interrupted:
            self.turn.finish(FinishReason.OTHER, INTERRUPTED)
        else:
            self.turn.finish(FinishReason.STOP, TURN_COMPLETE)

    def end_of_stream(self) -> None:
        """End the turn; calls whose results the server awaits need no further message."""
        if self._awaits_results and not self.turn.finished:
            self.turn.close()
        else:
            super().end_of_stream()


read = reads_with(_Reader)
