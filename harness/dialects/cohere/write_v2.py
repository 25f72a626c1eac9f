"""Deltas -> the events of the chat API, version 2.

Source: https://docs.cohere.com/docs/streaming and /docs/tool-use-streaming
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

_FINISH_WORDS: Final = {
    FinishReason.STOP: "COMPLETE",
    FinishReason.TOOL_CALLS: "TOOL_CALL",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "ERROR_TOXIC",
    FinishReason.OTHER: "OTHER",
}
# Failures that are told by what the stream leaves out, not by a word.
_SILENT_FAILURES: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))

Json = dict[str, Any]


def v2_events(deltas: tuple[Delta, ...], spelling: Spelling) -> Iterator[Json]:
    """Yield the JSON of each event."""
    return _Writer(deltas, spelling).events()


class _Writer:
    """Writes one stream; content blocks are numbered, and closed where another begins."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: Spelling) -> None:
        self._deltas = deltas
        self._spelling = spelling
        totals = [delta.usage for delta in deltas if isinstance(delta, UsageDelta)]
        self._usage = totals[-1] if totals else Usage()
        self._blocks = 0
        self._block = ""  # the kind of content that is open
        self._whole = {it.index: "" for it in deltas if isinstance(it, ToolCallStart)}
        for delta in deltas:
            if isinstance(delta, ArgumentsDelta) and delta.index in self._whole:
                self._whole[delta.index] += delta.fragment

    def events(self) -> Iterator[Json]:
        if not self._deltas:
            return
        empty: Json = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        message = {**empty, "citations": []}
        start: Json = {"id": self._spelling.response_id, "type": "message-start"}
        yield {**start, "delta": {"message": message}}
        for delta in self._deltas:
            yield from self._of(delta)

    def _of(self, delta: Delta) -> Iterator[Json]:
        match delta:
            case TextDelta():
                yield from self._content("text", delta.text)
            case ReasoningDelta():
                yield from self._reasoning(delta.text)
            case ToolCallStart() | ArgumentsDelta() | ToolCallEnd() | ToolCallRejected():
                yield from self._close_block()
                yield from self._of_call(delta)
            case UsageDelta():
                pass  # the counts stand in the last event
            case Finish():
                yield from self._close_block()
                yield self._end(delta.raw or _FINISH_WORDS[delta.reason])
            case StreamFailure():
                yield from self._failure(delta)
            case _:
                assert_never(delta)

    # Content

    def _reasoning(self, text: str) -> Iterator[Json]:
        if self._spelling.reasoning == "thinking":
            yield from self._content("thinking", text)
            return
        yield from self._close_block()
        yield {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}}

    def _content(self, kind: str, text: str) -> Iterator[Json]:
        if self._block != kind:
            yield from self._close_block()
            self._block = kind
            yield self._at_block("content-start", {"content": {"type": kind, kind: ""}})
        yield self._at_block("content-delta", {"content": {kind: text}})
        if kind == "text" and self._spelling.citations:
            yield self._at_block("citation-start", {"citations": _citation(text)})
            yield {"type": "citation-end", "index": self._blocks}

    def _close_block(self) -> Iterator[Json]:
        if self._block:
            yield {"type": "content-end", "index": self._blocks}
            self._block = ""
            self._blocks += 1

    def _at_block(self, kind: str, message: Json) -> Json:
        return {"type": kind, "index": self._blocks, "delta": {"message": message}}

    # Calls

    def _of_call(
        self, delta: ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected
    ) -> Iterator[Json]:
        at_once = self._spelling.arguments == "with-start"
        match delta:
            case ToolCallStart():
                arguments = self._whole[delta.index] if at_once else ""
                function = {"name": delta.name, "arguments": arguments}
                call: Json = {"id": delta.id, "type": "function", "function": function}
                yield _at_call("tool-call-start", delta.index, call)
            case ArgumentsDelta():
                if not at_once:
                    call = {"function": {"arguments": delta.fragment}}
                    yield _at_call("tool-call-delta", delta.index, call)
            case ToolCallEnd() | ToolCallRejected():
                if self._spelling.tool_call_end:
                    yield {"type": "tool-call-end", "index": delta.index}
            case _:
                assert_never(delta)

    # The end

    def _end(self, word: str, error: str = "") -> Json:
        counts = {"input_tokens": self._usage.input_tokens}
        counts["output_tokens"] = self._usage.output_tokens
        tokens = {name: count for name, count in counts.items() if count is not None}
        told = {"usage": {"billed_units": tokens, "tokens": tokens}} if tokens else {}
        failed = {"error": error} if error else {}
        return {"type": "message-end", "delta": {**failed, "finish_reason": word, **told}}

    def _failure(self, delta: StreamFailure) -> Iterator[Json]:
        if delta.code in _SILENT_FAILURES:
            return
        if delta.code == "error":
            yield {"message": delta.message}
            return
        yield from self._close_block()
        yield self._end(delta.code, delta.message)


def _at_call(kind: str, index: int, call: Json) -> Json:
    return {"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}}


def _citation(text: str) -> Json:
    return {"start": 0, "end": len(text), "text": text, "sources": [], "type": "TEXT_CONTENT"}
