"""Deltas -> the events of a Mistral chat stream, or a whole completion, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Calls are written whole where the spelling has no fragments, as the API does.
Source: https://docs.mistral.ai/api/#tag/chat
"""

import json
from collections.abc import Iterable
from typing import Any, assert_never

from harness.dialects.kit.writer import whole_arguments
from harness.dialects.mistral.writer_options import WriterOptions
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
from harness.turns.exact_json import encode_json
from harness.wire.sse import encode

_FINISH_WORDS = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "other",
}
# Failures that are told by what the stream leaves out, not by an error object.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))
_CREATED = 1_760_000_000
_MOST_PADDING = 7

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its blank line; joined, they are the body."""
    writer = _Writer(tuple(deltas), spelling or WriterOptions())
    return writer.document() if writer.spelling.document else writer.events()


class _Writer:
    """Writes one response; `_said` are its deltas, in the API's words."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self.spelling = spelling
        self._whole = whole_arguments(deltas)
        self._starts = {d.index: d for d in deltas if isinstance(d, ToolCallStart)}
        self._said: list[Json] = []
        self._finish: str | None = None
        self._usage: Json | None = None
        self._error: Json | None = None
        self._ended = True
        for delta in deltas:
            self._write(delta)

    # What comes out

    def events(self) -> tuple[bytes, ...]:
        chunks = [self._chunk({"role": "assistant", "content": ""})]
        chunks += [self._chunk(said) for said in self._said]
        if self._finish is not None:
            # The first chunk opens the stream and nothing else.
            if self.spelling.finish == "own-chunk" or not self._said:
                chunks.append(self._chunk({"content": ""}))
            chunks[-1]["choices"][0]["finish_reason"] = self._finish
        if self._usage is not None:
            chunks[-1]["usage"] = self._usage
        if self.spelling.padding:
            for place, chunk in enumerate(chunks):
                chunk["p"] = "abcdefg"[: 1 + place % _MOST_PADDING]
        chunks += [self._error] if self._error else []
        payloads = [encode_json(chunk) for chunk in chunks]
        payloads += [b"[DONE]"] if self._ended and self.spelling.done else []
        return tuple(encode(payload) for payload in payloads)

    def document(self) -> tuple[bytes, ...]:
        if self._error is not None:
            return (encode_json(self._error),)
        message = {"role": "assistant", "content": self._content(), "tool_calls": None}
        calls = [entry for said in self._said for entry in said.get("tool_calls", ())]
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        fields: Json = {"choices": [choice]}
        if self._usage is not None:
            fields["usage"] = self._usage
        return (encode_json({**self._envelope("chat.completion"), **fields}),)

    def _content(self) -> object:
        contents = [said["content"] for said in self._said if "content" in said]
        if all(isinstance(content, str) for content in contents):
            return "".join(contents)
        return [part for content in contents for part in _as_parts(content)]

    def _envelope(self, kind: str) -> Json:
        spelling = self.spelling
        start = {"id": spelling.response_id, "object": kind, "created": _CREATED}
        return {**start, "model": spelling.model}

    def _chunk(self, delta: Json) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        return {**self._envelope("chat.completion.chunk"), "choices": [choice]}

    # What goes in

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._text(delta.text)
            case ReasoningDelta():
                self._thinking(delta.text)
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                if self._in_fragments:
                    self._fragment(delta)
            case ToolCallEnd() | ToolCallRejected():
                pass
            case UsageDelta():
                self._count(delta)
            case Finish():
                self._finish = delta.raw or _FINISH_WORDS[delta.reason]
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    @property
    def _in_fragments(self) -> bool:
        return self.spelling.calls == "fragments" and not self.spelling.document

    def _text(self, text: str) -> None:
        if self.spelling.content == "text":
            self._said.append({"content": text})
            return
        parts: list[Json] = [{"type": "text", "text": text}]
        if self.spelling.sources:
            parts.append({"type": "reference", "reference_ids": [len(self._said)]})
        self._said.append({"content": parts})

    def _thinking(self, text: str) -> None:
        """Reasoning has no spelling but the part, whatever the text around it has."""
        part: Json = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        if self.spelling.closed:
            part["closed"] = True
        self._said.append({"content": [part]})

    def _start(self, delta: ToolCallStart) -> None:
        if self._in_fragments:
            self._said.append({"tool_calls": [self._entry(delta, "")]})
        elif self.spelling.calls == "apart":
            self._said.append({"tool_calls": [self._entry(delta, self._arguments(delta.index))]})
        elif delta.index == min(self._starts):
            entries = [self._entry(start, self._arguments(i)) for i, start in self._starts.items()]
            self._said.append({"tool_calls": entries})

    def _fragment(self, delta: ArgumentsDelta) -> None:
        entry: Json = {"id": "null"} if self.spelling.later_id == "null" else {}
        entry["function"] = {"name": "", "arguments": delta.fragment}
        self._said.append({"tool_calls": [{**entry, **self._index(delta.index)}]})

    def _entry(self, start: ToolCallStart, arguments: object) -> Json:
        spelling = self.spelling
        ids: dict[str, Json] = {"kept": {"id": start.id}, "null": {"id": "null"}}
        types: dict[str, Json] = {"function": {"type": "function"}, "null": {"type": None}}
        return {
            **ids.get(spelling.call_id, {}),
            **types.get(spelling.call_type, {}),
            "function": {"name": start.name, "arguments": arguments},
            **self._index(start.index),
        }

    def _index(self, index: int) -> Json:
        if self.spelling.index == "absent":
            return {}
        return {"index": 0 if self.spelling.index == "zero" else index}

    def _arguments(self, index: int) -> object:
        text = self._whole[index]
        return _object_or_text(text) if self.spelling.arguments == "object" else text

    def _count(self, delta: UsageDelta) -> None:
        usage = delta.usage
        self._usage = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": (usage.input_tokens or 0) + (usage.output_tokens or 0),
        }

    def _fail(self, delta: StreamFailure) -> None:
        self._ended = False
        if delta.code not in _SILENT_FAILURES:
            start = {"object": "error", "message": delta.message, "type": delta.code}
            self._error = {**start, "param": None, "code": delta.code}


def _as_parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _object_or_text(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
