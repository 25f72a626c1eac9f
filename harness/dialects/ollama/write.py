"""Deltas -> the lines of an Ollama stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Calls are written whole, where they start. Source: https://docs.ollama.com/api/chat
"""

from collections.abc import Iterable
from typing import Any, Final, assert_never

from harness.dialects.ollama.writer_options import WriterOptions
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

_LINE_ENDS: Final = {"lf": b"\n", "crlf": b"\r\n"}
_FINISH_WORDS: Final = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "load",
}
# Failures that are told by what the stream leaves out, not by a line with an error.
_SILENT_FAILURES: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))
# Of the last line, in nanoseconds.
_DURATIONS: Final = {
    "total_duration": 1_650_000_000,
    "load_duration": 90_000_000,
    "prompt_eval_duration": 240_000_000,
    "eval_duration": 1_320_000_000,
}

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's lines, each with its line end; joined, they are the body."""
    return _Writer(tuple(deltas), spelling or WriterOptions()).lines()


class _Writer:
    """Writes one stream; `_lines` are the JSON values."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._lines: list[Json] = []
        totals = [delta.usage for delta in deltas if isinstance(delta, UsageDelta)]
        self._usage = totals[-1] if totals else Usage()
        self._starts = [delta for delta in deltas if isinstance(delta, ToolCallStart)]
        self._calls = {start.index: self._call(start) for start in self._starts}

    def lines(self) -> tuple[bytes, ...]:
        for delta in self._deltas:
            self._write(delta)
        end = _LINE_ENDS[self._spelling.line_end]
        lines = [write_exactly(line).encode() + end for line in self._lines]
        if lines and not self._spelling.final_newline:
            lines[-1] = lines[-1].removesuffix(end)
        return tuple(lines)

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._line({"content": delta.text})
            case ReasoningDelta():
                self._line({"content": "", "thinking": delta.text})
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta() | ToolCallEnd() | ToolCallRejected():
                pass  # calls are written whole, where they start
            case UsageDelta():
                pass  # the counts stand in the last line
            case Finish():
                self._finish(delta)
            case StreamFailure():
                if delta.code not in _SILENT_FAILURES:
                    self._lines.append({"error": delta.message})
            case _:
                assert_never(delta)

    def _start(self, delta: ToolCallStart) -> None:
        match self._spelling.calls:
            case "line-each":
                self._line({"content": "", "tool_calls": [self._calls[delta.index]]})
            case "one-line" if delta is self._starts[0]:
                self._line({"content": "", "tool_calls": [*self._calls.values()]})
            case _:
                pass  # written with the first call, or with the last line

    def _call(self, start: ToolCallStart) -> Json:
        spelling = self._spelling
        function: Json = {"name": start.name, **self._arguments(start.index)}
        hidden = spelling.index == "absent" or (spelling.index, start.index) == ("without-zero", 0)
        if not hidden:
            function = {"index": start.index, **function}
        call_id = {} if spelling.call_id == "absent" else {"id": start.id}
        return {**call_id, "function": function}

    def _arguments(self, index: int) -> Json:
        """Return the field `arguments`: the object that the text is, the text, or nothing."""
        pieces = (it for it in self._deltas if isinstance(it, ArgumentsDelta) and it.index == index)
        text = "".join(piece.fragment for piece in pieces)
        if not text:
            return {}
        return {"arguments": text if self._spelling.arguments == "text" else _object(text)}

    def _finish(self, delta: Finish) -> None:
        with_calls = self._spelling.calls == "with-done" and self._starts
        calls = {"tool_calls": [*self._calls.values()]} if with_calls else {}
        word = delta.raw or _FINISH_WORDS[delta.reason]
        reason = {"done_reason": word} if self._spelling.done_reason else {}
        self._line({"content": "", **calls}, **reason, done=True, **self._counts())

    def _counts(self) -> Json:
        counts = {
            "prompt_eval_count": self._usage.input_tokens,
            "eval_count": self._usage.output_tokens,
        }
        return {**_DURATIONS, **{name: it for name, it in counts.items() if it is not None}}

    def _line(self, said: Json, *, done: bool = False, **fields: object) -> None:
        spelling = self._spelling
        start = {"model": spelling.model, "created_at": f"{spelling.second}.{len(self._lines):06}Z"}
        if spelling.endpoint == "chat":
            said = {"message": {"role": "assistant", **said}}
        else:
            said = {"response": said["content"], **{k: said[k] for k in said if k != "content"}}
        self._lines.append({**start, **said, **fields, "done": done})


def _object(text: str) -> object:
    """Return the JSON object that `text` is, digits and all, else the text itself."""
    try:
        payload = text.encode()
        is_object = isinstance(decode_json(payload), dict)
        return decode_exactly(payload) if is_object else text
    except (NotJson, ValueError):
        return text
