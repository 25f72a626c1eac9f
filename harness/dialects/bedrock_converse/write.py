"""Deltas -> the events of a ConverseStream response, in any spelling; the way back from `read`.

Each run of text or reasoning and each call is a block of its own; calls may be interleaved.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from collections.abc import Iterable
from typing import Any, TypeAlias, assert_never

from harness.dialects.bedrock_converse.writer_options import WriterOptions
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
from harness.wire.aws import encode_event, encode_exception

_FINISH_WORDS = {
    FinishReason.STOP: "end_turn",
    FinishReason.TOOL_CALLS: "tool_use",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.CONTENT_FILTER: "content_filtered",
    FinishReason.OTHER: "other",
}
# Failures that are told by what the stream leaves out, not by an exception.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_LATENCY = {"latencyMs": 412}

Json: TypeAlias = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's messages; joined, they are the body."""
    writer = _Writer(spelling or WriterOptions())
    for delta in deltas:
        writer.take(delta)
    return tuple(writer.events)


class _Writer:
    """Writes one stream."""

    def __init__(self, spelling: WriterOptions) -> None:
        self.events: list[bytes] = []
        self._spelling = spelling
        self._next = spelling.first_index
        self._said: tuple[type, int] | None = None  # the run of text or reasoning at hand
        self._blocks: dict[int, int] = {}  # of open calls
        self._whole: dict[int, list[str]] = {}  # arguments that are kept for one fragment

    def take(self, delta: Delta) -> None:
        """Write one delta."""
        if not self.events and not isinstance(delta, StreamFailure):
            self._event("messageStart", {"role": "assistant"})
        match delta:
            case TextDelta():
                self._piece(TextDelta, {"text": delta.text})
            case ReasoningDelta():
                self._piece(ReasoningDelta, {"reasoningContent": {"text": delta.text}})
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                self._fragment(delta)
            case ToolCallEnd() | ToolCallRejected():
                self._end(delta.index)
            case UsageDelta():
                self._usage(delta.usage)
            case Finish():
                self._close()
                word = delta.raw or _FINISH_WORDS[delta.reason]
                self._event("messageStop", {"stopReason": word})
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    def _piece(self, kind: type, delta: Json) -> None:
        if self._said is None or self._said[0] is not kind:
            self._close_run()
            self._said = (kind, self._new_block())
            if self._spelling.block_starts == "all":
                self._block("contentBlockStart", self._said[1], {"start": {}})
        self._block("contentBlockDelta", self._said[1], {"delta": delta})

    # Calls

    def _start(self, delta: ToolCallStart) -> None:
        self._close_run()
        block = self._blocks[delta.index] = self._new_block()
        use = {"toolUseId": delta.id, "name": delta.name}
        if self._spelling.tool_type == "given":
            use["type"] = "tool_use"
        self._block("contentBlockStart", block, {"start": {"toolUse": use}})
        if self._spelling.input == "whole":
            self._whole[delta.index] = []
        elif self._spelling.input == "empty-first":
            self._input(delta.index, "")

    def _fragment(self, delta: ArgumentsDelta) -> None:
        if delta.index in self._whole:
            self._whole[delta.index].append(delta.fragment)
        else:
            self._input(delta.index, delta.fragment)

    def _input(self, index: int, fragment: str) -> None:
        delta = {"toolUse": {"input": fragment}}
        self._block("contentBlockDelta", self._blocks[index], {"delta": delta})

    def _end(self, index: int) -> None:
        if whole := "".join(self._whole.pop(index, ())):
            self._input(index, whole)
        self._stop(self._blocks.pop(index))

    # Blocks

    def _new_block(self) -> int:
        block = self._next
        self._next += 1 + self._spelling.gaps
        return block

    def _block(self, event: str, index: int, fields: Json) -> None:
        self._event(event, {**fields, "contentBlockIndex": index})

    def _stop(self, index: int) -> None:
        if self._spelling.block_stops:
            self._block("contentBlockStop", index, {})

    def _close_run(self) -> None:
        if self._said is not None:
            self._stop(self._said[1])
        self._said = None

    def _close(self) -> None:
        self._close_run()
        for index in tuple(self._blocks):
            self._end(index)

    # The end of the turn, and events

    def _usage(self, usage: Usage) -> None:
        if not self._spelling.metadata:
            return
        said = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
        total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._event("metadata", {"usage": {**said, "totalTokens": total}, "metrics": _LATENCY})

    def _fail(self, delta: StreamFailure) -> None:
        if delta.code in _SILENT_FAILURES:
            return
        payload = {"message": delta.message}
        if self._spelling.framing == "lines":
            self.events.append(encode_json({delta.code: payload}) + b"\n")
        else:
            self.events.append(encode_exception(encode_json(payload), delta.code))

    def _event(self, name: str, value: Json) -> None:
        if self._spelling.padding:
            value["p"] = _ALPHABET[: 1 + len(self.events) * 7 % len(_ALPHABET)]
        if self._spelling.framing == "lines":
            self.events.append(encode_json({name: value}) + b"\n")
        else:
            self.events.append(encode_event(encode_json(value), name))
