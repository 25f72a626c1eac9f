"""Deltas -> the events of an Interactions stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Source: Gemini API reference, "Interactions", `InteractionSseEvent`.
"""

import json
from collections.abc import Iterable
from typing import Any, assert_never

from harness.dialects.google_interactions.writer_options import WriterOptions
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
    UsageDelta,
)
from harness.turns.exact_json import encode_json
from harness.wire.sse import encode

_STATUSES = {
    FinishReason.STOP: "completed",
    FinishReason.TOOL_CALLS: "requires_action",
    FinishReason.LENGTH: "incomplete",
    FinishReason.CONTENT_FILTER: "incomplete",
    FinishReason.OTHER: "other",
}
# version -> name of the step events, of the step in them, of first and last event, of steps
_NAMES = {
    "steps": ("step", "step", "interaction.created", "interaction.completed", "steps"),
    "contents": ("content", "content", "interaction.start", "interaction.complete", "outputs"),
}
_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n"}
_ENDED_STATES = frozenset(("failed", "cancelled"))
# Failures that are told by what the stream leaves out, not by an error event.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its blank line; joined, they are the body."""
    return _Writer(tuple(deltas), spelling or WriterOptions()).events()


class _Writer:
    """Writes one stream; `_events` are the JSON values."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._event, self._step, self._first, self._last, self._list = _NAMES[spelling.version]
        self._events: list[Json] = []
        self._steps: list[Json] = []  # of the whole interaction
        self._open = ""  # type of the step that is open, if it is no call
        self._indexes: dict[int, int] = {}  # of a call -> of its step
        self._whole = whole_arguments(deltas)
        self._usage: Json = {}
        self._ended = True

    def events(self) -> tuple[bytes, ...]:
        if self._deltas and not _is_empty(self._deltas):
            self._say(self._first, interaction=self._interaction("in_progress"))
        for delta in self._deltas:
            self._write(delta)
        if self._spelling.framing == "document":
            return tuple(encode_json(event) for event in self._events[-1:])
        return self._framed()

    def _framed(self) -> tuple[bytes, ...]:
        if self._spelling.framing == "lines":
            return tuple(encode_json(event) + b"\n" for event in self._events)
        line_end = _LINE_ENDS[self._spelling.line_end]
        framed = [
            encode(encode_json(event), event=event["event_type"], line_end=line_end)
            for event in self._events
        ]
        if self._ended and self._events and self._spelling.done:
            framed.append(encode(b"[DONE]", event="done", line_end=line_end))
        return tuple(framed)

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._text(delta.text)
            case ReasoningDelta():
                self._thought(delta.text)
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                self._fragment(delta)
            case ToolCallEnd() | ToolCallRejected():
                self._say(f"{self._event}.stop", index=self._indexes[delta.index])
            case UsageDelta():
                self._counts(delta)
            case Finish():
                self._finish(delta)
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    # Steps

    def _text(self, text: str) -> None:
        if self._spelling.version == "contents":
            self._begin("text", {"type": "text", "text": text})
        else:
            content = [{"type": "text", "text": text}]
            self._begin("model_output", {"type": "model_output", "content": content})
        self._continue({"type": "text", "text": text})

    def _thought(self, text: str) -> None:
        content = {"type": "text", "text": text}
        self._begin("thought", {"type": "thought", "summary": [content]})
        self._continue({"type": "thought_summary", "content": content})

    def _begin(self, kind: str, whole: Json) -> None:
        """Start a step, unless one of its kind is open; `whole` is what a document says."""
        same = self._open == kind
        if not same:
            self._close()
            self._new_step({"type": kind}, whole)
            self._open = kind
        elif kind == "text":
            self._steps[-1]["text"] += whole["text"]
        else:
            parts = "content" if kind == "model_output" else "summary"
            self._steps[-1][parts] += whole[parts]

    def _new_step(self, start: Json, whole: Json) -> None:
        self._steps.append(whole)
        self._say(f"{self._event}.start", index=len(self._steps) - 1, **{self._step: start})

    def _continue(self, delta: Json) -> None:
        self._say(f"{self._event}.delta", index=len(self._steps) - 1, delta=delta)

    def _close(self) -> None:
        if self._open:
            self._say(f"{self._event}.stop", index=len(self._steps) - 1)
            self._open = ""

    def _start(self, delta: ToolCallStart) -> None:
        self._close()
        named = {"type": "function_call", "id": delta.id, "name": delta.name}
        arguments = _object_or_text(self._whole[delta.index])
        self._indexes[delta.index] = len(self._steps)
        if self._spelling.version == "contents":
            self._new_step({"type": "function_call", "id": delta.id}, {**named, **arguments})
            self._continue({**named, **arguments})
        else:
            at_start = arguments if self._spelling.arguments == "at-start" else {"arguments": {}}
            at_start = at_start if self._whole[delta.index] else {}
            self._new_step({**named, **at_start}, {**named, **arguments})

    def _fragment(self, delta: ArgumentsDelta) -> None:
        if self._spelling.version == "steps" and self._spelling.arguments == "fragments":
            said = {"type": "arguments_delta", "arguments": delta.fragment}
            self._say("step.delta", index=self._indexes[delta.index], delta=said)

    # The end of the turn

    def _counts(self, delta: UsageDelta) -> None:
        counts = {
            "total_input_tokens": delta.usage.input_tokens,
            "total_output_tokens": delta.usage.output_tokens,
        }
        self._usage = {name: count for name, count in counts.items() if count is not None}
        self._usage["total_tokens"] = sum(self._usage.values())

    def _finish(self, delta: Finish) -> None:
        self._close()
        if self._spelling.status == "absent":
            self._ended = False
            return
        word = delta.raw or _STATUSES[delta.reason]
        self._end(word)

    def _end(self, word: str) -> None:
        whole = self._interaction(word)
        if self._usage:
            whole["usage"] = self._usage
        if self._spelling.framing == "document":
            self._events.append({**whole, self._list: self._steps})
        else:
            self._say(self._last, interaction=whole)

    def _fail(self, delta: StreamFailure) -> None:
        self._ended = False
        if delta.code in _ENDED_STATES:
            self._end(delta.code)
        elif delta.code not in _SILENT_FAILURES:
            self._say("error", error={"code": delta.code, "message": delta.message})

    def _interaction(self, status: str) -> Json:
        spelling = self._spelling
        about = {"object": "interaction", "model": spelling.model}
        return {"id": spelling.interaction_id, "status": status, **about}

    def _say(self, kind: str, **fields: object) -> None:
        self._events.append({**fields, "event_type": kind})


def _is_empty(deltas: tuple[Delta, ...]) -> bool:
    return any(isinstance(d, StreamFailure) and d.code == "empty_stream" for d in deltas)


def _object_or_text(text: str) -> Json:
    """Return the member that holds arguments: an object where they are one."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"arguments": text}
    return {"arguments": value if isinstance(value, dict) else text}
