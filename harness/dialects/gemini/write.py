"""Deltas -> the events of a generateContent stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Source: Gemini API reference, `GenerateContentResponse`.
"""

from collections.abc import Iterable
from typing import Any, assert_never

from harness.dialects.gemini.call_parts import call_parts
from harness.dialects.gemini.framed import framed
from harness.dialects.gemini.spelling import Spelling
from harness.dialects.gemini.words import FAILED
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)
from harness.turns.whole_arguments import whole_arguments

_FINISH_WORDS = {
    FinishReason.STOP: "STOP",
    FinishReason.TOOL_CALLS: "STOP",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "SAFETY",
    FinishReason.OTHER: "OTHER",
}
_FINISH_NUMBERS = {"STOP": 1, "MAX_TOKENS": 2, "SAFETY": 3, "RECITATION": 4, "OTHER": 5}
# Failures that are told by what the stream leaves out, not by an error object.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: Spelling | None = None) -> tuple[bytes, ...]:
    """Return the stream's events as they are framed; joined, they are the body."""
    return _Writer(tuple(deltas), spelling or Spelling()).events()


class _Writer:
    """Writes one stream; `_events` are the JSON values."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: Spelling) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._events: list[Json] = []
        self._starts = {d.index: d for d in deltas if isinstance(d, ToolCallStart)}
        self._whole = whole_arguments(deltas)
        self._usage: Json = {}
        self._ended = True

    def events(self) -> tuple[bytes, ...]:
        for delta in self._deltas:
            self._write(delta)
        if self._spelling.framing == "document":
            self._events = [_merged(self._events)] if self._events else []
        return framed(self._events, self._spelling, ended=self._ended)

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._content([{"text": delta.text}])
            case ReasoningDelta():
                self._content([{"text": delta.text, "thought": True}])
            case ToolCallStart():
                self._call(delta)
            case ArgumentsDelta() | ToolCallEnd() | ToolCallRejected():
                pass  # a call is written where it starts
            case UsageDelta():
                self._counts(delta)
            case Finish():
                self._finish(delta)
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    def _call(self, start: ToolCallStart) -> None:
        spelling = self._spelling
        if spelling.together and start.index != min(self._starts):
            return  # all calls stand where the first one does
        starts = list(self._starts.values()) if spelling.together else [start]
        calls = [self._parts(each) for each in starts]
        if spelling.together:
            self._content([part for parts in calls for part in parts])
            return
        for part in calls[0]:
            self._content([part])

    def _parts(self, start: ToolCallStart) -> list[Json]:
        spelling = self._spelling
        call_id = start.id if spelling.call_id == "own" else ""
        parts = call_parts(start.name, call_id, self._whole[start.index], spelling)
        first = start.index == min(self._starts)
        if spelling.signature == "all" or (spelling.signature == "first" and first):
            parts[0]["thoughtSignature"] = "c2lnbmF0dXJl"
        return parts

    # The end of the turn

    def _counts(self, delta: UsageDelta) -> None:
        counts = {
            "promptTokenCount": delta.usage.input_tokens,
            "candidatesTokenCount": delta.usage.output_tokens,
        }
        self._usage = {name: count for name, count in counts.items() if count is not None}
        self._usage["totalTokenCount"] = sum(self._usage.values())
        if not self._events:
            self._event({})
        self._events[-1]["usageMetadata"] = self._usage

    def _finish(self, delta: Finish) -> None:
        word: str | int = delta.raw or _FINISH_WORDS[delta.reason]
        match self._spelling.finish:
            case "absent":
                return
            case "with-last" if self._events and self._events[-1].get("candidates"):
                self._events[-1]["candidates"][0]["finishReason"] = word
                return
            case "no-parts":
                content: Json = {"content": {"role": "model"}}
            case "no-content":
                content = {}
            case "number":
                word = _FINISH_NUMBERS.get(str(word), word)
                content = {"content": {"parts": [{"text": ""}], "role": "model"}}
            case _:
                content = {"content": {"parts": [{"text": ""}], "role": "model"}}
        self._candidate({**content, "finishReason": word})

    def _fail(self, delta: StreamFailure) -> None:
        self._ended = False
        if delta.code in FAILED:
            self._ended = True
            self._candidate({"finishReason": delta.code, "finishMessage": delta.message})
        elif delta.code not in _SILENT_FAILURES:
            error = {"code": 500, "message": delta.message, "status": delta.code}
            self._events.append({"error": error})

    # Events

    def _content(self, parts: list[Json]) -> None:
        self._candidate({"content": {"parts": parts, "role": "model"}})

    def _candidate(self, fields: Json) -> None:
        index = self._spelling.candidate
        self._event({"candidates": [fields if index is None else {**fields, "index": index}]})

    def _event(self, fields: Json) -> None:
        spelling = self._spelling
        usage = {"usageMetadata": self._usage} if self._usage and spelling.usage == "each" else {}
        about = {"modelVersion": spelling.model, "responseId": spelling.response_id}
        self._events.append({**fields, **usage, **about})


def _merged(events: list[Json]) -> Json:
    """Return the one response that was not streamed: all parts in one candidate."""
    whole: Json = {}
    for event in events:
        candidates = [_with_parts_of(whole, candidate) for candidate in event.get("candidates", ())]
        whole = {**whole, **event} | ({"candidates": candidates} if candidates else {})
    return whole


def _with_parts_of(whole: Json, candidate: Json) -> Json:
    before = whole.get("candidates", [{}])[0]
    parts = _parts_of(before) + _parts_of(candidate)
    content = {"content": {"parts": parts, "role": "model"}} if parts else {}
    return {**before, **candidate, **content}


def _parts_of(candidate: Json) -> list[Json]:
    parts: list[Json] = candidate.get("content", {}).get("parts", [])
    return parts
