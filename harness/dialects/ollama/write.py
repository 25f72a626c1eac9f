"""Write deltas as the lines of an Ollama stream, controlled by options.

Calls are written complete, where they start. Source: https://docs.ollama.com/api/chat
"""

from typing import ClassVar, Final, Literal

from harness.dialects.kit.frames import json_lines
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    Json,
    Writer,
    exact_object_or_text,
    finish_words,
    token_counts,
    writes_with,
)
from harness.turns.deltas import StreamFailure, ToolCallStart
from harness.turns.exact_json import write_exactly


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `ollama` writes a stream.

    The default of each option is what the API documents.

    Fields:
        endpoint: `/api/chat`, or `/api/generate` with its own field for text.
        call_id: whether calls have ids; servers before 2025-10 sent none (`OLL-ARGS-OBJECT`).
        index: `function.index` is the index of the call, left out if it is 0, or never there.
        arguments: an object as documented, or its text (`OLL-ARGS-TEXT`).
        calls: a line for each call, one line for all of them, or the last line of the
            stream (`OLL-CALLS-WITH-DONE`).
        done_reason: whether the last line says why it ended; the first servers did not.
        final_newline: whether the last line has its line end (`NDJSON-NO-FINAL-NEWLINE`).
        line_end: the characters that end each line.
        model, second: their values in the lines; the second is that of `created_at`.
    """

    endpoint: Literal["chat", "generate"] = "chat"
    call_id: Literal["kept", "absent"] = "kept"
    index: Literal["kept", "without-zero", "absent"] = "kept"
    arguments: Literal["object", "text"] = "object"
    calls: Literal["line-each", "one-line", "with-done"] = "line-each"
    done_reason: bool = True
    final_newline: bool = True
    line_end: Literal["lf", "crlf"] = "lf"
    model: str = "qwen3:4b"
    second: str = "2026-01-05T10:00:00"


# Of the last line, in nanoseconds.
_DURATIONS: Final = {
    "total_duration": 1_650_000_000,
    "load_duration": 90_000_000,
    "prompt_eval_duration": 240_000_000,
    "eval_duration": 1_320_000_000,
}


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `ollama`; calls are written complete, where they start."""

    FINISH_WORDS: ClassVar = finish_words(
        tool_calls="stop", content_filter="content_filter", other="load"
    )

    def begin(self) -> None:
        self._calls = {index: self._call(start) for index, start in self.starts.items()}

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        payloads = [write_exactly(value).encode() for value in self.values]
        return json_lines(payloads, self.options.line_end, final=self.options.final_newline)

    def text(self, text: str) -> None:
        self._line({"content": text})

    def reasoning(self, text: str) -> None:
        self._line({"content": "", "thinking": text})

    def start_call(self, start: ToolCallStart) -> None:
        match self.options.calls:
            case "line-each":
                self._line({"content": "", "tool_calls": [self._calls[start.index]]})
            case "one-line" if start.index == next(iter(self.starts)):
                self._line({"content": "", "tool_calls": [*self._calls.values()]})
            case _:
                pass  # written with the first call, or with the last line

    def _call(self, start: ToolCallStart) -> Json:
        options = self.options
        function: Json = {"name": start.name, **self._arguments(start.index)}
        hidden = options.index == "absent" or (options.index, start.index) == ("without-zero", 0)
        if not hidden:
            function = {"index": start.index, **function}
        call_id = {} if options.call_id == "absent" else {"id": start.id}
        return {**call_id, "function": function}

    def _arguments(self, index: int) -> Json:
        """Return the member `arguments`: an object, the text, or nothing."""
        text = self.arguments[index]
        if not text:
            return {}
        return {
            "arguments": text if self.options.arguments == "text" else exact_object_or_text(text)
        }

    def finish(self, word: str) -> None:
        with_calls = self.options.calls == "with-done" and self.starts
        calls = {"tool_calls": [*self._calls.values()]} if with_calls else {}
        reason = {"done_reason": word} if self.options.done_reason else {}
        counts = token_counts(self.total, "prompt_eval_count", "eval_count")
        self._line({"content": "", **calls}, **reason, done=True, **_DURATIONS, **counts)

    def fail(self, failure: StreamFailure) -> None:
        self.values.append({"error": failure.message})

    def _line(self, content: Json, *, done: bool = False, **fields: object) -> None:
        options = self.options
        start = {"model": options.model, "created_at": f"{options.second}.{len(self.values):06}Z"}
        if options.endpoint == "chat":
            content = {"message": {"role": "assistant", **content}}
        else:
            content = {"response": content.pop("content"), **content}
        self.values.append({**start, **content, **fields, "done": done})


write = writes_with(_Writer, WriterOptions)
