"""Define the oracle of the dialect `gemini`, which adds up the parts of one candidate.

Source: Gemini API and Vertex AI API references, `GenerateContentResponse`, `Candidate`.
"""

from typing import ClassVar, Final

from harness.dialects.gemini.oracle.calls import CallList
from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.google import GoogleOracle
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    error_of,
    item_texts,
    meanings,
    member_text,
    text_or_empty,
)
from harness.turns.deltas import FinishReason, SealedPlace
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import SealedReading

_FILTERS: Final = (
    "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
    "MODEL_ARMOR", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
)  # fmt: skip
# Finish reasons of unusable model output -> their quirk.
_MODEL_FAILED: Final = {
    "MALFORMED_FUNCTION_CALL": "GEM-MALFORMED",
    "UNEXPECTED_TOOL_CALL": "GEM-UNEXPECTED-TOOL",
    "TOO_MANY_TOOL_CALLS": "GEM-UNEXPECTED-TOOL",
    "MALFORMED_RESPONSE": "GEM-MALFORMED",
    "MISSING_THOUGHT_SIGNATURE": "GEM-MALFORMED",
}
# "Request has at least one thought signature missing."
_OF_REQUEST: Final = "MISSING_THOUGHT_SIGNATURE"
# The numbers of the enumeration on which both APIs agree; no number has another meaning.
_NUMBERS: Final = {1: FinishReason.STOP, 2: FinishReason.LENGTH, 3: FinishReason.CONTENT_FILTER}
_SERVER_PARTS: Final = (
    "executableCode", "codeExecutionResult", "toolCall", "toolResponse", "inlineData",
    "fileData",
)  # fmt: skip
_USAGE: Final = ("usageMetadata", "usage_metadata")
_ABOUT: Final = ("usageMetadata", "modelVersion", "responseId", "promptFeedback", "createTime")
_SNAKE: Final = (
    "usage_metadata", "model_version", "prompt_feedback", "finish_reason", "function_call",
)  # fmt: skip


class GeminiOracle(GoogleOracle):
    """Reads one response body of Gemini's generateContent by its contract."""

    READ: ClassVar = frozenset(
        f"{place}candidates.content.parts.{member}"
        for place in ("", "response.")
        for member in ("functionCall", "functionResponse", "function_call", *_SERVER_PARTS)
    )
    USAGE: ClassVar = counts_at(
        *((*path, name) for path in ((), ("response",)) for name in _USAGE),
        read="promptTokenCount prompt_token_count",
        written="candidatesTokenCount candidates_token_count",
        read_parts="toolUsePromptTokenCount tool_use_prompt_token_count",
        written_parts="thoughtsTokenCount thoughts_token_count",
    )
    MEANINGS: ClassVar = meanings(stop=("STOP",), length=("MAX_TOKENS",), content_filter=_FILTERS)

    def __init__(self) -> None:
        super().__init__()
        self.table = self._calls = CallList(self.notes)
        self._signed = False  # a call had a signature
        self._meaning: FinishReason | None = None
        self._stopped = False  # the last event of the candidate had a finish reason
        self._blocked = ""
        self._candidates = 0
        self._sealed: list[SealedReading] = []

    @property
    def meaning(self) -> FinishReason | None:
        """What the contract defines for the last finish reason, or for a blocked prompt."""
        return self._meaning

    # One event

    def take(self, value: Json, event: Event) -> None:
        """Process one response."""
        offset = event.offset
        if any(name in value for name in _SNAKE):
            self.notes.unreadable("GEM-SNAKE-CASE", offset)
        if (error := error_of(value, event.name)) is not None:
            self.take_error(error, offset)
        elif value.get("error"):  # of a type that the API does not specify
            self.notes.unreadable("ERR-IN-200", offset)
        candidates = value.get("candidates")
        if isinstance(candidates, list) and candidates:
            if self.error is not None:
                self.notes.unreadable("ERR-IN-200", offset)
            for place, candidate in enumerate(candidates):
                self._candidate(candidate, place, event)
        elif "response" in value:
            self.notes.unreadable("GEM-WRAPPED", offset)
        elif candidates is not None and not isinstance(candidates, list):
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)
        elif not error:
            self._without_candidates(value, offset)

    def _without_candidates(self, value: Json, offset: int) -> None:
        reason = dict_or_empty(value.get("promptFeedback")).get("blockReason")
        if reason == "BLOCK_REASON_UNSPECIFIED":
            self.notes.ambiguous("GEM-PROMPT-BLOCKED", offset, end=True)
        elif reason and isinstance(reason, str):
            self._blocked = join_surrogates(reason)
            self.notes.ambiguous("GEM-PROMPT-BLOCKED", offset, end=bool(self._candidates))
        elif reason:
            self.notes.unreadable("GEM-PROMPT-BLOCKED", offset)
        elif not any(name in value for name in _ABOUT) and "candidates" not in value:
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)

    def _candidate(self, candidate: object, place: int, event: Event) -> None:
        offset = event.offset
        self._candidates += 1
        if not isinstance(candidate, dict):
            self.notes.unreadable("EVENT-GLUED", offset)
            return
        index = candidate.get("index", 0)
        if type(index) is not int or (place and not index):
            self.notes.unreadable("GEM-CANDIDATES", offset)
        if not self.is_answer(index, offset, "GEM-CANDIDATES"):
            return
        if any(name in candidate for name in _SNAKE):
            self.notes.unreadable("GEM-SNAKE-CASE", offset)
        has_content = self._content(candidate.get("content"), place, event)
        if has_content and self.finishes:
            self.notes.harmless("GEM-FINISH-THEN-MORE", offset)
            self._stopped = False
        reason = candidate.get("finishReason")
        if reason is None and self._blocked:
            self.notes.ambiguous("GEM-PROMPT-BLOCKED", offset, end=True)
        if reason is not None:
            if not dict_or_empty(candidate.get("content")).get("parts"):
                self.notes.harmless("GEM-FINISH-NO-PARTS", offset)
            self._finish(reason, candidate, offset)

    def _content(self, content: object, place: int, event: Event) -> bool:
        """Process the parts of one candidate; return whether they contained anything."""
        parts = dict_or_empty(content).get("parts")
        if not isinstance(parts, list):
            odd = content is not None and not isinstance(content, dict)
            if odd or parts is not None:
                self.notes.unreadable("EVENT-GLUED", event.offset)
            return False
        texts: tuple[str, ...] = ()
        if any(isinstance(part, dict) and "functionCall" in part for part in parts):
            path = ("candidates", place, "content", "parts")
            texts = item_texts(member_text(event.data, *path))
        found = [
            self._part(part, texts[number] if number < len(texts) else "", event.offset)
            for number, part in enumerate(parts)
        ]
        return any(found)

    def _part(self, part: object, part_text: str, offset: int) -> bool:
        if not isinstance(part, dict) or any(name in part for name in _SNAKE):
            self.notes.unreadable(
                "GEM-SNAKE-CASE" if isinstance(part, dict) else "EVENT-GLUED", offset
            )
            return True
        if "thought_signature" in part:
            self.notes.harmless("GEM-SNAKE-CASE", offset)
        text, thought = part.get("text"), part.get("thought")
        self.add_text(self.reasoning if thought else self.text, text, offset)
        if thought is not None and not isinstance(thought, bool):
            self.notes.ambiguous("EVENT-GLUED", offset, text=True)
        if any(name in part for name in _SERVER_PARTS):
            self.notes.server_tool("GEM-SERVER-TOOLS", offset)
        if "functionCall" not in part:
            self._seal(part, "reasoning" if thought else "text", len(self._calls))
            return bool(text)
        call, signed = part["functionCall"], "thoughtSignature" in part
        if self._signed and not signed and isinstance(call, dict) and call.get("name"):
            self.notes.harmless("GEM-SIGNATURE-FIRST-ONLY", offset)
        self._signed = self._signed or signed
        if call is not None:
            before = len(self._calls)
            self._calls.add(call, member_text(part_text, "functionCall"), offset)
            # A call without a name cannot go back, and neither can its signature.
            if len(self._calls) > before and text_or_empty(call.get("name")):
                self._seal(part, "call", before)
        return True

    def _seal(self, part: Json, of: SealedPlace, call: int) -> None:
        signature = text_or_empty(part.get("thoughtSignature"))
        if signature:
            value = join_surrogates(signature)
            self._sealed.append(SealedReading("thoughtSignature", value, of, call))

    def sealed(self) -> tuple[SealedReading, ...]:
        """Return the thought signatures."""
        return tuple(self._sealed)

    # The end

    def _finish(self, reason: object, candidate: Json, offset: int) -> None:
        word = join_surrogates(reason) if isinstance(reason, str) else ""
        if type(reason) is int:
            self._number(reason, offset)
        elif not word or word == "FINISH_REASON_UNSPECIFIED":
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
        elif word.upper() in _MODEL_FAILED:
            self.notes.harmless(_MODEL_FAILED[word.upper()], offset)
            message = candidate.get("finishMessage")
            self.error = self.error or (word, message if isinstance(message, str) else "")
            self.model_failed |= word.upper() != _OF_REQUEST
        else:
            if word not in self.MEANINGS and word != "OTHER":
                self.notes.harmless("FINISH-UNKNOWN", offset)
            self._end(word, self.MEANINGS.get(word), offset)

    def _number(self, reason: int, offset: int) -> None:
        self.notes.harmless("GEM-FINISH-NUMBER", offset)
        if reason not in _NUMBERS:
            self.notes.ambiguous("GEM-FINISH-NUMBER", offset, calls=True, end=True)
        self._end(str(reason), _NUMBERS.get(reason), offset)

    def _end(self, word: str, meaning: FinishReason | None, offset: int) -> None:
        if self.finishes and word != self.finishes[-1]:
            self.notes.ambiguous("FINISH-DUPLICATE", offset, calls=True, end=True)
        elif self.finishes:
            self.notes.harmless("FINISH-DUPLICATE", offset)
        self.add_finish(word)
        self._meaning, self._stopped = meaning, True

    def conclude(self) -> None:
        """Note deviations that can be seen only in the complete body."""
        self._calls.conclude()
        self._check_end(self.finishes, len(self._calls))
        if self._blocked and not self.finishes:
            self.add_finish(self._blocked)
            self._meaning = FinishReason.CONTENT_FILTER

    def _check_end(self, finishes: list[str], calls: int) -> None:
        if not self.values:
            self.notes.harmless("STREAM-NO-EVENTS", 0)
        elif self.error is not None or self._blocked:
            return
        elif not finishes:
            self.notes.harmless("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        elif not self._stopped:
            self.notes.ambiguous("GEM-FINISH-THEN-MORE", 0, calls=True, end=True)
        elif finishes[-1] == "STOP" and not calls and not self.text.length:
            self.notes.harmless("GEM-EMPTY-STOP", 0)
        if finishes and calls and self._meaning is not FinishReason.STOP:
            # A call without arguments does not show whether it is complete.
            self.notes.harmless("FINISH-LENGTH-WITH-CALL", 0)
