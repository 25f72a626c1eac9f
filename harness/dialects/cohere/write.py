"""Deltas -> the events of a Cohere stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
The events of each version are made by a generator of its own; here they get their framing.
Source: https://docs.cohere.com/reference/chat-stream and /reference/chat-stream-v1
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, assert_never

from harness.dialects.cohere.writer_options import WriterOptions
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
from harness.turns.exact_json import decode_exactly, write_exactly
from harness.wire.payload import NotJson, decode_json
from harness.wire.sse import encode

_FINISH_WORDS_V1: Final = {
    FinishReason.STOP: "COMPLETE",
    FinishReason.TOOL_CALLS: "COMPLETE",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "ERROR_TOXIC",
    FinishReason.OTHER: "OTHER",
}
_SILENT_FAILURES_V1: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))

JsonV1 = dict[str, Any]


def v1_events(deltas: tuple[Delta, ...], spelling: WriterOptions) -> Iterator[JsonV1]:
    """Yield the JSON of each event."""
    return _WriterV1(deltas, spelling).events()


class _WriterV1:
    """Writes one stream; what was said so far is repeated at its end."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        totals = [delta.usage for delta in deltas if isinstance(delta, UsageDelta)]
        self._usage = totals[-1] if totals else Usage()
        self._text = ""
        self._plan = ""
        self._names = {it.index: it.name for it in deltas if isinstance(it, ToolCallStart)}
        self._arguments = dict.fromkeys(self._names, "")

    def events(self) -> Iterator[JsonV1]:
        if not self._deltas:
            return
        yield {
            "is_finished": False,
            "event_type": "stream-start",
            "generation_id": self._spelling.response_id,
        }
        for delta in self._deltas:
            yield from self._of(delta)

    def _of(self, delta: Delta) -> Iterator[JsonV1]:
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
                yield self._end(delta.raw or _FINISH_WORDS_V1[delta.reason])
            case StreamFailure():
                yield from self._failure(delta)
            case _:
                assert_never(delta)

    def _piece(self, index: int, **fields: str) -> Iterator[JsonV1]:
        if self._spelling.calls != "list":
            yield _event("tool-calls-chunk", tool_call_delta={"index": index, **fields})

    def _generation(self) -> Iterator[JsonV1]:
        if self._names and self._spelling.calls != "pieces":
            yield _event("tool-calls-generation", text=self._plan, tool_calls=self._calls())

    def _calls(self) -> list[JsonV1]:
        return [
            {"name": name, "parameters": _parameters(self._arguments[index])}
            for index, name in self._names.items()
        ]

    def _end(self, word: str, error: str = "") -> JsonV1:
        failed = {"error": error} if error else {}
        end = {"event_type": "stream-end", **failed, "finish_reason": word}
        return {"is_finished": True, **end, "response": self._response(word)}

    def _response(self, word: str) -> JsonV1:
        counts = {"input_tokens": self._usage.input_tokens}
        counts["output_tokens"] = self._usage.output_tokens
        tokens = {name: count for name, count in counts.items() if count is not None}
        response: JsonV1 = {
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

    def _failure(self, delta: StreamFailure) -> Iterator[JsonV1]:
        if delta.code in _SILENT_FAILURES_V1:
            return
        yield (
            {"message": delta.message}
            if delta.code == "error"
            else self._end(delta.code, delta.message)
        )


def _event(kind: str, **fields: object) -> JsonV1:
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


_FINISH_WORDS_V2: Final = {
    FinishReason.STOP: "COMPLETE",
    FinishReason.TOOL_CALLS: "TOOL_CALL",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "ERROR_TOXIC",
    FinishReason.OTHER: "OTHER",
}
# Failures that are told by what the stream leaves out, not by a word.
_SILENT_FAILURES_V2: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))

JsonV2 = dict[str, Any]


def v2_events(deltas: tuple[Delta, ...], spelling: WriterOptions) -> Iterator[JsonV2]:
    """Yield the JSON of each event."""
    return _WriterV2(deltas, spelling).events()


class _WriterV2:
    """Writes one stream; content blocks are numbered, and closed where another begins."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
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

    def events(self) -> Iterator[JsonV2]:
        if not self._deltas:
            return
        empty: JsonV2 = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        message = {**empty, "citations": []}
        start: JsonV2 = {"id": self._spelling.response_id, "type": "message-start"}
        yield {**start, "delta": {"message": message}}
        for delta in self._deltas:
            yield from self._of(delta)

    def _of(self, delta: Delta) -> Iterator[JsonV2]:
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
                yield self._end(delta.raw or _FINISH_WORDS_V2[delta.reason])
            case StreamFailure():
                yield from self._failure(delta)
            case _:
                assert_never(delta)

    # Content

    def _reasoning(self, text: str) -> Iterator[JsonV2]:
        if self._spelling.reasoning == "thinking":
            yield from self._content("thinking", text)
            return
        yield from self._close_block()
        yield {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}}

    def _content(self, kind: str, text: str) -> Iterator[JsonV2]:
        if self._block != kind:
            yield from self._close_block()
            self._block = kind
            yield self._at_block("content-start", {"content": {"type": kind, kind: ""}})
        yield self._at_block("content-delta", {"content": {kind: text}})
        if kind == "text" and self._spelling.citations:
            yield self._at_block("citation-start", {"citations": _citation(text)})
            yield {"type": "citation-end", "index": self._blocks}

    def _close_block(self) -> Iterator[JsonV2]:
        if self._block:
            yield {"type": "content-end", "index": self._blocks}
            self._block = ""
            self._blocks += 1

    def _at_block(self, kind: str, message: JsonV2) -> JsonV2:
        return {"type": kind, "index": self._blocks, "delta": {"message": message}}

    # Calls

    def _of_call(
        self, delta: ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected
    ) -> Iterator[JsonV2]:
        at_once = self._spelling.arguments == "with-start"
        match delta:
            case ToolCallStart():
                arguments = self._whole[delta.index] if at_once else ""
                function = {"name": delta.name, "arguments": arguments}
                call: JsonV2 = {"id": delta.id, "type": "function", "function": function}
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

    def _end(self, word: str, error: str = "") -> JsonV2:
        counts = {"input_tokens": self._usage.input_tokens}
        counts["output_tokens"] = self._usage.output_tokens
        tokens = {name: count for name, count in counts.items() if count is not None}
        told = {"usage": {"billed_units": tokens, "tokens": tokens}} if tokens else {}
        failed = {"error": error} if error else {}
        return {"type": "message-end", "delta": {**failed, "finish_reason": word, **told}}

    def _failure(self, delta: StreamFailure) -> Iterator[JsonV2]:
        if delta.code in _SILENT_FAILURES_V2:
            return
        if delta.code == "error":
            yield {"message": delta.message}
            return
        yield from self._close_block()
        yield self._end(delta.code, delta.message)


def _at_call(kind: str, index: int, call: JsonV2) -> JsonV2:
    return {"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}}


def _citation(text: str) -> JsonV2:
    return {"start": 0, "end": len(text), "text": text, "sources": [], "type": "TEXT_CONTENT"}


_LINE_ENDS: Final = {"lf": b"\n", "crlf": b"\r\n"}
_EVENTS: Final = {"v1": v1_events, "v2": v2_events}


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its line ends; joined, they are the body."""
    spelling = spelling or WriterOptions()
    events = [*_EVENTS[spelling.version](tuple(deltas), spelling)]
    framed = [_framed(event, spelling) for event in events]
    ended = bool(events) and events[-1].get("type") == "message-end"
    if ended and spelling.done and spelling.framing == "sse":
        framed.append(encode(b"[DONE]", line_end=_LINE_ENDS[spelling.line_end]))
    return tuple(framed)


def _framed(event: dict[str, Any], spelling: WriterOptions) -> bytes:
    payload = write_exactly(event).encode()
    line_end = _LINE_ENDS[spelling.line_end]
    if spelling.framing == "ndjson":
        return payload + line_end
    kind = event.get("type") or event.get("event_type") or ""
    return encode(payload, event=kind if spelling.event_name else "", line_end=line_end)
