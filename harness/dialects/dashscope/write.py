"""Deltas -> the events of DashScope's native text generation, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

import json
from collections.abc import Iterable
from typing import Any, assert_never

from harness.dialects.dashscope.writer_options import WriterOptions
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

_FINISH_WORDS = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "other",
}
# Failures that are told by what the stream leaves out, not by an error event.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))

Json = dict[str, Any]

_OPEN_FINISHES: dict[str, Json] = {
    "text": {"finish_reason": "null"},
    "null": {"finish_reason": None},
    "absent": {},
}


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its blank line; joined, they are the body."""
    writer = _Writer(tuple(deltas), spelling or WriterOptions())
    return writer.document() if writer.spelling.document else writer.events()


class _Writer:
    """Writes one response.

    Fields:
        steps: the message of each event; all of it so far where the spelling says so.
    """

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self.spelling = spelling
        self._cumulative = spelling.output == "snapshots" or spelling.document
        self._is_text = spelling.result_format == "text" and all(
            not isinstance(delta, ToolCallStart | ReasoningDelta) for delta in deltas
        )
        self._whole = whole_arguments(deltas)
        self._starts = {d.index: d for d in deltas if isinstance(d, ToolCallStart)}
        self._message: Json = {"role": "assistant", "content": ""}
        self._entries: dict[int, Json] = {}
        self.steps: list[Json] = []
        self._finish: str | None = None
        self._usage: Usage | None = None
        self._error: Json | None = None
        for delta in deltas:
            self._write(delta)

    # What comes out

    def events(self) -> tuple[bytes, ...]:
        steps = list(self.steps)
        if self._finish is not None and (self.spelling.finish == "own-event" or not steps):
            last = self._message if self._cumulative else {"role": "assistant", "content": ""}
            steps.append(self._copy(last))
        outputs = [self._output(step, None) for step in steps]
        if self._finish is not None:
            outputs[-1] = self._output(steps[-1], self._finish)
        payloads = [
            self._envelope({"output": output} | self._counts(place, len(outputs)))
            for place, output in enumerate(outputs)
        ]
        framed = [self._framed(at, payload) for at, payload in enumerate(payloads, 1)]
        if self._error is not None:
            framed.append(self._framed(len(framed) + 1, self._error, failed=True))
        return tuple(framed)

    def document(self) -> tuple[bytes, ...]:
        if self._error is not None:
            return (encode_json(self._error),)
        output = self._output(self._copy(self._message), self._finish)
        return (encode_json(self._envelope({"output": output} | self._counts(0, 1))),)

    def _framed(self, number: int, payload: Json, *, failed: bool = False) -> bytes:
        if not self.spelling.fields and not failed:
            return b"data: " + encode_json(payload) + b"\n\n"
        event, status = ("error", 400) if failed else ("result", 200)
        start = f"id:{number}\nevent:{event}\n:HTTP_STATUS/{status}\ndata:"
        return start.encode() + encode_json(payload) + b"\n\n"

    def _envelope(self, fields: Json) -> Json:
        return {**fields, "request_id": self.spelling.request_id}

    def _output(self, message: Json, finish: str | None) -> Json:
        said: Json = {"finish_reason": finish}
        if finish is None:
            said = _OPEN_FINISHES[self.spelling.open_finish]
        if self._is_text:
            return {"text": message["content"], **said}
        content = message["content"]
        if self.spelling.content == "parts":
            message = {**message, "content": [{"text": content}] if content else []}
        return {"choices": [{"message": message, **said}]}

    def _counts(self, place: int, events: int) -> Json:
        usage = self._usage
        if usage is None or (self.spelling.usage == "last" and place < events - 1):
            return {}
        out = usage.output_tokens
        grown = None if out is None else out * (place + 1) // events
        total = (usage.input_tokens or 0) + (grown or 0)
        counts = {"input_tokens": usage.input_tokens, "output_tokens": grown}
        return {"usage": {**counts, "total_tokens": total}}

    # What goes in

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._say("content", delta.text)
            case ReasoningDelta():
                self._say("reasoning_content", delta.text)
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                self._fragment(delta)
            case ToolCallEnd() | ToolCallRejected():
                pass
            case UsageDelta():
                self._usage = delta.usage
            case Finish():
                self._finish = delta.raw or _FINISH_WORDS[delta.reason]
            case StreamFailure():
                if delta.code not in _SILENT_FAILURES:
                    fields = {"code": delta.code, "message": delta.message}
                    self._error = self._envelope(fields)
            case _:
                assert_never(delta)

    def _say(self, field: str, text: str) -> None:
        self._message[field] = self._message.get(field, "") + text
        self._step({"role": "assistant", "content": "", field: text})

    def _start(self, delta: ToolCallStart) -> None:
        first = self._first_arguments(delta.index)
        entry = self._entry(delta.index, {"name": delta.name, "arguments": first}, delta.id)
        self._entries[delta.index] = entry
        self._message["tool_calls"] = list(self._entries.values())
        self._step({"role": "assistant", "content": "", "tool_calls": [entry]})

    def _first_arguments(self, index: int) -> object:
        text = self._whole[index]
        return _object_or_text(text) if self.spelling.arguments == "object" else ""

    def _fragment(self, delta: ArgumentsDelta) -> None:
        if self.spelling.arguments == "object":
            return  # all of it came with the start
        self._entries[delta.index]["function"]["arguments"] += delta.fragment
        start = self._starts[delta.index]
        later: Json = _field("name", self.spelling.later_name, start.name)
        ids = _field("id", self.spelling.later_id, start.id)
        entry = self._entry(delta.index, {**later, "arguments": delta.fragment}, ids.get("id"))
        self._step({"role": "assistant", "content": "", "tool_calls": [entry]})

    def _entry(self, index: int, function: Json, call_id: str | None) -> Json:
        place: Json = {"index": index} if self.spelling.index == "kept" else {}
        ids: Json = {} if call_id is None else {"id": call_id}
        return {**place, **ids, "type": "function", "function": function}

    def _step(self, increment: Json) -> None:
        self.steps.append(self._copy(self._message if self._cumulative else increment))

    def _copy(self, message: Json) -> Json:
        """Return `message` as it is now; its calls go on growing."""
        if "tool_calls" not in message:
            return dict(message)
        entries = [{**e, "function": dict(e["function"])} for e in message["tool_calls"]]
        return {**message, "tool_calls": entries}


def _field(name: str, spelling: str, value: str) -> Json:
    options: dict[str, Json] = {"absent": {}, "empty": {name: ""}, "repeated": {name: value}}
    return options[spelling]


def _object_or_text(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
