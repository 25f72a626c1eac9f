"""Deltas -> the events of the chat API, version 1.

Source: https://docs.cohere.com/v1/docs/streaming and /reference/chat-stream-v1
"""

from collections.abc import Iterator
from typing import Any, Final, assert_never

from harness.dialects.cohere.spelling import Spelling
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
    Usage,
    UsageDelta,
)
from harness.turns.exact_json import decode_exactly
from harness.wire.payload import NotJson, decode_json

_FINISH_WORDS: Final = {
    FinishReason.STOP: "COMPLETE",
    FinishReason.TOOL_CALLS: "COMPLETE",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "ERROR_TOXIC",
    FinishReason.OTHER: "OTHER",
}
_SILENT_FAILURES: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))

Json = dict[str, Any]


def v1_events(deltas: tuple[Delta, ...], spelling: Spelling) -> Iterator[Json]:
    """Yield the JSON of each event."""
    return _Writer(deltas, spelling).events()


class _Writer:
    """Writes one stream; what was said so far is repeated at its end."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: Spelling) -> None:
        self._deltas = deltas
        self._spelling = spelling
        totals = [delta.usage for delta in deltas if isinstance(delta, UsageDelta)]
        self._usage = totals[-1] if totals else Usage()
        self._text = ""
        self._plan = ""
        self._names = {it.index: it.name for it in deltas if isinstance(it, ToolCallStart)}
        self._arguments = dict.fromkeys(self._names, "")

    def events(self) -> Iterator[Json]:
        if not self._deltas:
            return
        yield {
            "is_finished": False,
            "event_type": "stream-start",
            "generation_id": self._spelling.response_id,
        }
        for delta in self._deltas:
            yield from self._of(delta)

    def _of(self, delta: Delta) -> Iterator[Json]:
        match delta:
            case TextDelta():
                self._text += delta.text
                yield _event("text-generation", text=delta.text)
            case ReasoningDelta():
                self._plan += delta.text
                yield _event("tool-calls-chunk", text=delta.text)
            case ToolCallStart():
                yield from self._piece(delta.index, name=delta.name)
            case ArgumentsDelta():
                self._arguments[delta.index] += delta.fragment
                yield from self._piece(delta.index, parameters=delta.fragment)
            case ToolCallEnd() | ToolCallRejected():
                pass  # no event says that a call is over
            case UsageDelta():
                pass  # the counts stand in the last event
            case Finish():
                yield from self._generation()
                yield self._end(delta.raw or _FINISH_WORDS[delta.reason])
            case StreamFailure():
                yield from self._failure(delta)
            case _:
                assert_never(delta)

    def _piece(self, index: int, **fields: str) -> Iterator[Json]:
        if self._spelling.calls != "list":
            yield _event("tool-calls-chunk", tool_call_delta={"index": index, **fields})

    def _generation(self) -> Iterator[Json]:
        if self._names and self._spelling.calls != "pieces":
            yield _event("tool-calls-generation", text=self._plan, tool_calls=self._calls())

    def _calls(self) -> list[Json]:
        return [
            {"name": name, "parameters": _parameters(self._arguments[index])}
            for index, name in self._names.items()
        ]

    def _end(self, word: str, error: str = "") -> Json:
        failed = {"error": error} if error else {}
        end = {"event_type": "stream-end", **failed, "finish_reason": word}
        return {"is_finished": True, **end, "response": self._response(word)}

    def _response(self, word: str) -> Json:
        counts = {"input_tokens": self._usage.input_tokens}
        counts["output_tokens"] = self._usage.output_tokens
        tokens = {name: count for name, count in counts.items() if count is not None}
        response: Json = {
            "response_id": f"r-{self._spelling.response_id}",
            "generation_id": self._spelling.response_id,
            "finish_reason": word,
            **({"meta": {"api_version": {"version": "1"}, "tokens": tokens}} if tokens else {}),
        }
        if not self._spelling.answer:
            return response
        calls = self._names and self._spelling.calls != "pieces"
        whole = {"tool_calls": self._calls()} if calls else {}
        return {**response, "text": self._text or self._plan, **whole}

    def _failure(self, delta: StreamFailure) -> Iterator[Json]:
        if delta.code in _SILENT_FAILURES:
            return
        yield (
            {"message": delta.message}
            if delta.code == "error"
            else self._end(delta.code, delta.message)
        )


def _event(kind: str, **fields: object) -> Json:
    return {"is_finished": False, "event_type": kind, **fields}


def _parameters(text: str) -> object:
    """Return the JSON object that `text` is, digits and all; {} for none, else the text."""
    if not text:
        return {}
    try:
        payload = text.encode()
        return decode_exactly(payload) if isinstance(decode_json(payload), dict) else text
    except (NotJson, ValueError):
        return text
