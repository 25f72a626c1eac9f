"""One interaction of the dialect gemini -> its strict reading.

A plain batch reader: it splits the whole body, reads each event as a response and adds up the
parts of candidate 0. It never raises, whatever the bytes; it never repairs and never guesses.
Source: Gemini API and Vertex AI API references, `GenerateContentResponse`, `Candidate`.
"""

from typing import Any, Final

from harness.dialects.gemini.oracle.calls import CallList
from harness.dialects.kit.oracle.errors import error_of
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.google import google_events
from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value, item_texts, member_text
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.turns.json_prefix import PrefixState, scan
from harness.wire.interaction import Interaction

Json = dict[str, Any]

DONE = "[DONE]"
_ERROR_STATUS: Final = 400
_FILTERS: Final = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)
_MEANINGS: Final = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    **dict.fromkeys(_FILTERS, FinishReason.CONTENT_FILTER),
}
# What the model wrote is unusable, and which quirk says so.
_MODEL_FAILED: Final = {
    "MALFORMED_FUNCTION_CALL": "GEM-MALFORMED",
    "UNEXPECTED_TOOL_CALL": "GEM-UNEXPECTED-TOOL",
    "TOO_MANY_TOOL_CALLS": "GEM-UNEXPECTED-TOOL",
    "MALFORMED_RESPONSE": "GEM-MALFORMED",
    "MISSING_THOUGHT_SIGNATURE": "GEM-MALFORMED",
}
# The numbers of the enumeration on which both APIs agree; no number has another meaning.
_NUMBERS: Final = {1: FinishReason.STOP, 2: FinishReason.LENGTH, 3: FinishReason.CONTENT_FILTER}
_SERVER_PARTS: Final = (
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "inlineData",
    "fileData",
)
_ABOUT: Final = ("usageMetadata", "modelVersion", "responseId", "promptFeedback", "createTime")
_SNAKE: Final = (
    "usage_metadata",
    "model_version",
    "prompt_feedback",
    "finish_reason",
    "function_call",
)


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    reader = _Reader(error_quirk="" if interaction.status >= _ERROR_STATUS else "ERR-IN-200")
    for event in google_events(interaction.body, reader.notes):
        reader.event(event)
    return reader.reading()


class _Reader:
    """What was read of one body so far."""

    def __init__(self, *, error_quirk: str) -> None:
        self.notes = Notes()
        self._error_quirk = error_quirk
        self._signed = False  # a call had a signature
        self._text = GrowingText()
        self._reasoning = GrowingText()
        self._calls = CallList(self.notes)
        self._error: tuple[str, str] | None = None
        self._model_failed = False
        self._finishes: list[str] = []
        self._meaning: FinishReason | None = None
        self._stopped = False  # the last event of the candidate had a finish reason
        self._blocked = ""
        self._candidates = 0
        self._values = 0
        self._done = False
        self._damaged = False
        self._marks: list[tuple[int, int]] = []

    def event(self, event: Event) -> None:
        data = event.data.strip()
        if self._done:
            self.notes.lost("SSE-AFTER-DONE", event.offset)
        elif not event.complete:
            self._unfinished(data, event)
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif data == DONE:
            self._done = True
        elif not data:
            self.notes.keep("SSE-EMPTY-DATA", event.offset)
        else:
            self._payload(data, event)

    def _payload(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self._values += 1
            before = self._text.length
            self._response(value, event)
            if self._text.length > before:
                self._marks.append((event.end, self._text.length))
        elif value is UNREADABLE and data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        elif value is UNREADABLE or isinstance(value, list):
            self.notes.lost("EVENT-GLUED", event.offset)
        else:
            self.notes.keep("SSE-DATA-NULL", event.offset)

    def _unfinished(self, data: str, event: Event) -> None:
        """An event that the end of the body cut short: dropped, but what would it have said?"""
        value = event_value(data)
        if isinstance(value, dict):
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif DONE.startswith(data):
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        elif self._finishes:
            self.notes.open("SSE-EOF-MIDCALL", event.offset, end=True)
        else:
            self._values += 1
            self._damaged = scan(data).state is not PrefixState.PREFIX

    # One event

    def _response(self, value: Json, event: Event) -> None:
        offset = event.offset
        if any(name in value for name in _SNAKE):
            self.notes.lost("GEM-SNAKE-CASE", offset)
        if (error := error_of(value, event.name)) is not None:
            self._fail(error, offset)
        candidates = value.get("candidates")
        if isinstance(candidates, list) and candidates:
            if self._error is not None:
                self.notes.lost("ERR-IN-200", offset)
            for place, candidate in enumerate(candidates):
                self._candidate(candidate, place, event)
        elif "response" in value:
            self.notes.lost("GEM-WRAPPED", offset)
        elif candidates is not None and not isinstance(candidates, list):
            self.notes.lost("ENVELOPE-WRAPPED", offset)
        elif not error:
            self._without_candidates(value, offset)

    def _without_candidates(self, value: Json, offset: int) -> None:
        feedback = value.get("promptFeedback")
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if reason and isinstance(reason, str):
            self._blocked = join_surrogates(reason)
            self.notes.open("GEM-PROMPT-BLOCKED", offset, end=bool(self._candidates))
        elif reason:
            self.notes.lost("GEM-PROMPT-BLOCKED", offset)
        elif not any(name in value for name in _ABOUT) and "candidates" not in value:
            self.notes.lost("ENVELOPE-WRAPPED", offset)

    def _candidate(self, candidate: object, place: int, event: Event) -> None:
        offset = event.offset
        self._candidates += 1
        if not isinstance(candidate, dict):
            self.notes.lost("EVENT-GLUED", offset)
            return
        if candidate.get("index", 0) != 0 or place:
            self.notes.lost("GEM-CANDIDATES", offset)
            return
        if any(name in candidate for name in _SNAKE):
            self.notes.lost("GEM-SNAKE-CASE", offset)
        said = self._content(candidate.get("content"), place, event)
        if said and self._finishes:
            self.notes.keep("GEM-FINISH-THEN-MORE", offset)
            self._stopped = False
        reason = candidate.get("finishReason")
        if reason is None and self._blocked:
            self.notes.open("GEM-PROMPT-BLOCKED", offset, end=True)
        if reason is not None:
            content = candidate.get("content")
            if not (isinstance(content, dict) and content.get("parts")):
                self.notes.keep("GEM-FINISH-NO-PARTS", offset)
            self._finish(reason, candidate, offset)

    def _content(self, content: object, place: int, event: Event) -> bool:
        """Take the parts of one candidate; return whether they said anything."""
        parts = content.get("parts") if isinstance(content, dict) else None
        if not isinstance(parts, list):
            odd = content is not None and not isinstance(content, dict)
            if odd or parts is not None:
                self.notes.lost("EVENT-GLUED", event.offset)
            return False
        spelled: tuple[str, ...] = ()
        if any(isinstance(part, dict) and "functionCall" in part for part in parts):
            path = ("candidates", place, "content", "parts")
            spelled = item_texts(member_text(event.data, *path))
        said = [
            self._part(part, spelled[number] if number < len(spelled) else "", event.offset)
            for number, part in enumerate(parts)
        ]
        return any(said)

    def _part(self, part: object, spelled: str, offset: int) -> bool:
        if not isinstance(part, dict) or any(name in part for name in _SNAKE):
            self.notes.lost("GEM-SNAKE-CASE" if isinstance(part, dict) else "EVENT-GLUED", offset)
            return True
        text, thought = part.get("text"), part.get("thought")
        if isinstance(text, str):
            (self._reasoning if thought else self._text).add(text)
        elif text is not None:
            self.notes.open("EVENT-GLUED", offset, text=True)
        if thought is not None and not isinstance(thought, bool):
            self.notes.open("EVENT-GLUED", offset, text=True)
        if any(name in part for name in _SERVER_PARTS):
            self.notes.keep("GEM-SERVER-TOOLS", offset)
        if "functionCall" not in part:
            return bool(text)
        call, signed = part["functionCall"], "thoughtSignature" in part
        if self._signed and not signed and isinstance(call, dict) and call.get("name"):
            self.notes.keep("GEM-SIGNATURE-FIRST-ONLY", offset)
        self._signed = self._signed or signed
        if call is not None:
            self._calls.add(call, member_text(spelled, "functionCall"), offset)
        return True

    # The end

    def _fail(self, error: tuple[str, str], offset: int) -> None:
        if self._finishes:  # the turn had ended well before the error came
            self.notes.lost("ERR-IN-200", offset)
        if self._error_quirk:
            self.notes.keep(self._error_quirk, offset)
        self._error = self._error or error

    def _finish(self, reason: object, candidate: Json, offset: int) -> None:
        word = join_surrogates(reason) if isinstance(reason, str) else ""
        if type(reason) is int:
            self._number(reason, offset)
        elif not word or word == "FINISH_REASON_UNSPECIFIED":
            self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
        elif word.upper() in _MODEL_FAILED:
            self.notes.keep(_MODEL_FAILED[word.upper()], offset)
            message = candidate.get("finishMessage")
            self._error = self._error or (word, message if isinstance(message, str) else "")
            self._model_failed = True
        else:
            if word not in _MEANINGS and word != "OTHER":
                self.notes.keep("FINISH-UNKNOWN", offset)
            self._ended(word, _MEANINGS.get(word), offset)

    def _number(self, reason: int, offset: int) -> None:
        self.notes.keep("GEM-FINISH-NUMBER", offset)
        if reason not in _NUMBERS:
            self.notes.open("GEM-FINISH-NUMBER", offset, calls=True, end=True)
        self._ended(str(reason), _NUMBERS.get(reason), offset)

    def _ended(self, word: str, meaning: FinishReason | None, offset: int) -> None:
        if self._finishes and word != self._finishes[-1]:
            self.notes.open("FINISH-DUPLICATE", offset, calls=True, end=True)
        elif self._finishes:
            self.notes.keep("FINISH-DUPLICATE", offset)
        self._finishes = [*(one for one in self._finishes if one != word), word]
        self._meaning, self._stopped = meaning, True

    def reading(self) -> OracleReading:
        self._conclude()
        finishes = self._finishes or ([self._blocked] if self._blocked else [])
        meaning = self._meaning if self._finishes else FinishReason.CONTENT_FILTER
        return OracleReading(
            text=self._text.value(),
            reasoning=self._reasoning.value(),
            calls=self._calls.calls() if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=finishes[-1] if finishes else "",
            ended=bool(finishes),
            error=self._error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            damaged=self._damaged,
            finishes=tuple(finishes),
            meaning=meaning if finishes else None,
            model_failed=self._model_failed,
        )

    def _conclude(self) -> None:
        """Note what only the whole body shows."""
        self._calls.conclude()
        finishes, calls = self._finishes, len(self._calls)
        if not self._values:
            self.notes.keep("STREAM-NO-EVENTS", 0)
        elif self._error is not None or self._blocked:
            return
        elif not finishes:
            self.notes.keep("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        elif not self._stopped:
            self.notes.open("GEM-FINISH-THEN-MORE", 0, calls=True, end=True)
        elif finishes[-1] == "STOP" and not calls and not self._text.length:
            self.notes.keep("GEM-EMPTY-STOP", 0)
        if finishes and calls and self._meaning is not FinishReason.STOP:
            # Whether the last call is whole cannot be told where it is without arguments.
            self.notes.keep("FINISH-LENGTH-WITH-CALL", 0)
