"""Deltas -> the events of a messages stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Source: Anthropic API reference, "Streaming Messages".
"""

import json
from collections.abc import Iterable
from typing import Any, assert_never

from harness.dialects.anthropic.writer_options import WriterOptions
from harness.dialects.kit.writer import whole_arguments
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
from harness.turns.exact_json import encode_json
from harness.wire.sse import encode

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_BOM = b"\xef\xbb\xbf"


def framed(
    events: list[dict[str, Any]], spelling: WriterOptions, *, done: bool = False
) -> tuple[bytes, ...]:
    """Return the bytes of each event; `done` adds the mark that gateways end streams with."""
    payloads = [encode_json(event) for event in events]
    if spelling.whole == "document" and len(payloads) == 1:
        return tuple(payloads)
    if spelling.framing == "lines":
        return tuple(payload + b"\n" for payload in payloads)
    if spelling.framing == "list":
        return _listed(payloads)
    names = [str(event["type"]) for event in events]
    if done:
        payloads.append(b"[DONE]")
        names.append("data")
    return _sse(payloads, names, spelling)


def _listed(payloads: list[bytes]) -> tuple[bytes, ...]:
    if not payloads:
        return (b"[]",)
    starts = [b"[", *[b", "] * (len(payloads) - 1)]
    *most, last = (start + payload for start, payload in zip(starts, payloads, strict=True))
    return (*most, last + b"]")


def _sse(payloads: list[bytes], names: list[str], spelling: WriterOptions) -> tuple[bytes, ...]:
    line_end = _LINE_ENDS[spelling.line_end]
    comment = f":{spelling.comment}".encode() + line_end * 2 if spelling.comment else b""
    lines = {"type": names, "absent": [""] * len(names), "chunk": ["chunk"] * len(names)}
    events = [
        comment + encode(payload, event=name, line_end=line_end, space=spelling.space)
        for payload, name in zip(payloads, lines[spelling.event_line], strict=True)
    ]
    if spelling.bom and events:
        events[0] = _BOM + events[0]
    return tuple(events)


_WORDS = {
    FinishReason.STOP: "end_turn",
    FinishReason.TOOL_CALLS: "tool_use",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.CONTENT_FILTER: "refusal",
    FinishReason.OTHER: "pause_turn",
}
# Failures that are told by what the stream leaves out, not by an error event.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))
_IN_START = frozenset(("in-start", "start-and-fragments"))
_PLACEHOLDERS: dict[str, dict[str, Any]] = {
    "empty": {"input": {}},
    "absent": {},
    "null": {"input": None},
    "empty-text": {"input": ""},
}
# What the API has counted where a message starts; the count at the end has these in it.
_OUTPUT_AT_START = 1
_SERVER_TOOL = "srvtoolu_1"
_SIGNATURE = "RXhhbXBsZSBzaWduYXR1cmU="
_METRICS = {"inputTokenCount": 1, "outputTokenCount": 1, "invocationLatency": 2}

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its blank line; joined, they are the body."""
    return _Writer(tuple(deltas), spelling or WriterOptions()).events()


class _Writer:
    """Writes one stream; `_events` are its JSON values, in order."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._events: list[Json] = []
        self._whole = whole_arguments(deltas)
        given = (delta.usage for delta in reversed(deltas) if isinstance(delta, UsageDelta))
        self._usage = next(given, Usage())
        self._blocks = 0
        self._prose: tuple[str, int] | None = None  # kind and index of the open text or thinking
        self._places: dict[int, int] = {}  # call -> index of its block
        self._ended = False

    def events(self) -> tuple[bytes, ...]:
        spelling = self._spelling
        if spelling.whole != "no":
            self._whole_message()
        elif not _is_all_error(self._deltas):
            self._streamed()
        for delta in self._deltas:
            if isinstance(delta, StreamFailure) and delta.code not in _SILENT_FAILURES:
                error = {"type": delta.code, "message": delta.message}
                self._events.append({"type": "error", "error": error})
        return framed(self._events, spelling, done=spelling.done and self._ended)

    # Streamed

    def _streamed(self) -> None:
        spelling = self._spelling
        self._say("message_start", message=self._message([], None, at_start=True))
        if spelling.ping != "absent":
            self._say("ping")
        if spelling.server_tool:
            self._server_tool()
        if spelling.unknown:
            self._say("something_new", index=0, delta={"type": "text_delta", "text": "new"})
        for delta in self._deltas:
            self._write(delta)
        self._close_prose()

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._prose_piece("text", delta.text)
            case ReasoningDelta():
                self._prose_piece("thinking", delta.text)
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                self._fragment(delta)
            case ToolCallEnd() | ToolCallRejected():
                self._end(delta.index)
            case Finish():
                self._finish(delta)
            case UsageDelta() | StreamFailure():
                pass  # counts stand in start and end, an error comes last
            case _:
                assert_never(delta)

    def _prose_piece(self, kind: str, piece: str) -> None:
        spelling = self._spelling
        if self._prose is None or self._prose[0] != kind:
            self._close_prose()
            place = self._new_place()
            self._prose = (kind, place)
            in_start = spelling.text_at == "start"
            if not (kind == "text" and spelling.text_at == "no-start"):
                block = {"type": kind, kind: piece if in_start else ""}
                if kind == "thinking":
                    block["signature"] = _SIGNATURE if spelling.signature == "in-start" else ""
                self._say("content_block_start", **self._at(place), content_block=block)
            if in_start:
                return
        self._delta(self._prose[1], {"type": f"{kind}_delta", kind: piece})

    def _close_prose(self) -> None:
        if self._prose is None:
            return
        kind, place = self._prose
        self._prose = None
        if kind == "thinking" and self._spelling.signature == "own-delta":
            self._delta(place, {"type": "signature_delta", "signature": _SIGNATURE})
        self._stop(place)

    def _start(self, delta: ToolCallStart) -> None:
        self._close_prose()
        spelling = self._spelling
        place = self._places[delta.index] = self._new_place()
        block = self._call(delta, self._start_input(self._whole[delta.index]))
        for _ in range(1 + spelling.start_twice):
            self._say("content_block_start", **self._at(place), content_block=block)
        if spelling.input == "empty-first":
            self._partial(place, "")
        if spelling.signature == "on-calls":
            self._delta(place, {"type": "signature_delta", "signature": _SIGNATURE})

    def _start_input(self, whole: str) -> Json:
        value = _object(whole) if self._spelling.input in _IN_START else None
        return _PLACEHOLDERS[self._spelling.start_input] if value is None else {"input": value}

    def _fragment(self, delta: ArgumentsDelta) -> None:
        place, whole = self._places[delta.index], self._whole[delta.index]
        match self._spelling.input:
            case "in-start" | "object" | "one-fragment" if _object(whole) is not None:
                return  # once, at its start or at its end
            case _:
                self._partial(place, delta.fragment)

    def _end(self, index: int) -> None:
        place, whole = self._places[index], self._whole[index]
        value = _object(whole)
        if value is not None and self._spelling.input == "object":
            self._partial(place, value)
        elif value is not None and self._spelling.input == "one-fragment":
            self._partial(place, whole)
        self._stop(place)

    def _partial(self, place: int, fragment: object) -> None:
        self._delta(place, {"type": "input_json_delta", "partial_json": fragment})

    def _finish(self, delta: Finish) -> None:
        self._close_prose()
        spelling = self._spelling
        word = delta.raw or _WORDS[delta.reason]
        words = {"once": (word,), "twice": (word, word), "null-first": (None, word)}
        for each in words[spelling.finish]:
            reason = {"stop_reason": each, "stop_sequence": None}
            self._say("message_delta", delta=reason, **self._usage_at_end())
        self._ended = True
        if spelling.message_stop:
            metrics = {"amazon-bedrock-invocationMetrics": _METRICS} if spelling.metrics else {}
            self._say("message_stop", **metrics)

    # At once

    def _whole_message(self) -> None:
        content: list[Json] = []
        word: str | None = None
        for delta in self._deltas:
            match delta:
                case TextDelta():
                    content.append({"type": "text", "text": delta.text})
                case ReasoningDelta():
                    said = {"thinking": delta.text, "signature": _SIGNATURE}
                    content.append({"type": "thinking", **said})
                case ToolCallStart():
                    value = _object(self._whole[delta.index])
                    content.append(self._call(delta, {"input": {} if value is None else value}))
                case Finish():
                    word = delta.raw or _WORDS[delta.reason]
                    self._ended = True
                case _:
                    pass
        message = self._message(content, word, at_start=False)
        if self._spelling.whole == "document":
            self._events.append(message)
        else:
            self._say("message_start", message=message)
            if self._ended:
                self._say("message_stop")

    # Parts

    def _call(self, delta: ToolCallStart, start_input: Json) -> Json:
        return {"type": "tool_use", "id": delta.id, "name": delta.name, **start_input}

    def _server_tool(self) -> None:
        place = self._new_place()
        block = {"type": "server_tool_use", "id": _SERVER_TOOL, "name": "web_search", "input": {}}
        self._say("content_block_start", **self._at(place), content_block=block)
        self._partial(place, '{"query": "x"}')
        self._stop(place)
        place = self._new_place()
        block = {"type": "web_search_tool_result", "tool_use_id": _SERVER_TOOL, "content": []}
        self._say("content_block_start", **self._at(place), content_block=block)
        self._stop(place)

    def _message(self, content: list[Json], word: str | None, *, at_start: bool) -> Json:
        return {
            "id": self._spelling.message_id,
            "type": "message",
            "role": "assistant",
            "model": self._spelling.model,
            "content": content,
            "stop_reason": word,
            "stop_sequence": None,
            **(self._usage_at_start() if at_start else self._counts(self._usage)),
        }

    def _usage_at_start(self) -> Json:
        if self._spelling.usage == "at-end":
            return {}
        if self._spelling.usage == "twice":
            return self._counts(self._usage)
        return self._counts(Usage(self._usage.input_tokens, _OUTPUT_AT_START))

    def _usage_at_end(self) -> Json:
        if self._spelling.usage == "split":
            return {"usage": {"output_tokens": self._usage.output_tokens or 0}}
        return self._counts(self._usage)

    @staticmethod
    def _counts(usage: Usage) -> Json:
        """Return the usage; its counts are never left out, so one that nobody gave is 0."""
        counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        return {"usage": {name: count or 0 for name, count in counts.items()}}

    # Events

    def _new_place(self) -> int:
        self._blocks += 1
        return self._blocks - 1

    def _at(self, place: int) -> Json:
        match self._spelling.index:
            case "absent":
                return {}
            case "zero":
                return {"index": 0}
            case "sparse":
                return {"index": 3 * place + 1}
            case _:
                return {"index": place}

    def _delta(self, place: int, delta: Json) -> None:
        self._say("content_block_delta", **self._at(place), delta=delta)
        if self._spelling.unknown:
            self._say("content_block_delta", **self._at(place), delta={"type": "something_new"})

    def _stop(self, place: int) -> None:
        if self._spelling.block_stop:
            self._say("content_block_stop", **self._at(place))

    def _say(self, kind: str, **fields: object) -> None:
        if self._spelling.ping == "everywhere" and kind != "message_start":
            self._events.append({"type": "ping"})
        self._events.append({"type": kind, **fields})


def _is_all_error(deltas: tuple[Delta, ...]) -> bool:
    """Return whether nothing came before the failure."""
    return all(isinstance(delta, StreamFailure) for delta in deltas)


def _object(text: str) -> Json | None:
    """Return the object that `text` is, if it is one that keeps its meaning as a value."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
