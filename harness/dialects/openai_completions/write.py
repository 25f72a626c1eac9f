"""Write deltas as the events of an openai-completions stream, controlled by options.

The API has text alone, so a call or reasoning cannot be written.
Source: OpenAI API reference, "Completions" (legacy), "The completion object".
"""

from typing import ClassVar, Literal

from harness.dialects.kit.frames import DONE, LineEnd, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import CREATED, Json, Writer, openai_usage, writes_with
from harness.turns.deltas import FinishReason, StreamFailure, Usage
from harness.turns.exact_json import encode_json


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `openai-completions` writes a stream.

    The default of each option is what the API documents.

    Fields:
        finish: which chunk has the finish reason: one with an empty text, or the last text.
        usage: token counts in the separate chunk that `stream_options` asks for, or with the
            finish.
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        choice: the index of the choice; None leaves it out.
        logprobs: whether choices have the member `logprobs`, which is null.
        space: whether a space follows `data:` (`SSE-NO-SPACE`).
        crlf: whether lines end with CRLF (`SSE-CRLF`).
        model, response_id: their values in the chunks.
    """

    finish: Literal["own-chunk", "with-text"] = "own-chunk"
    usage: Literal["own-chunk", "with-finish"] = "own-chunk"
    done: bool = True
    choice: int | None = 0
    logprobs: bool = True
    space: bool = True
    crlf: bool = False
    model: str = "gpt-3.5-turbo-instruct"
    response_id: str = "cmpl-1"


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `openai-completions`; its values are the chunks."""

    USAGE_AFTER_FINISH: ClassVar = True
    FINISH_WORDS: ClassVar = {**Writer.FINISH_WORDS, FinishReason.TOOL_CALLS: "other"}

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        payloads = [encode_json(value) for value in self.values]
        if self.options.done and not self.failed:
            payloads.append(DONE)
        line_end: LineEnd = "crlf" if self.options.crlf else "lf"
        return sse_events(payloads, line_end=line_end, space=self.options.space)

    def text(self, text: str) -> None:
        self._choice(text)

    def finish(self, word: str) -> None:
        last = self.values[-1]["choices"] if self.values else []
        if self.options.finish == "with-text" and last:
            last[0]["finish_reason"] = word
        else:
            self._choice("", word)

    def count(self, usage: Usage) -> None:
        if self.options.usage == "with-finish" and self.values:
            self.values[-1]["usage"] = openai_usage(usage)
        else:
            self._chunk([], usage=openai_usage(usage))

    def fail(self, failure: StreamFailure) -> None:
        error = {"message": failure.message, "type": None, "code": failure.code}
        self.values.append({"error": error, "choices": []})

    def _choice(self, text: str, finish: str | None = None) -> None:
        choice: Json = {"text": text}
        if self.options.choice is not None:
            choice["index"] = self.options.choice
        if self.options.logprobs:
            choice["logprobs"] = None
        self._chunk([{**choice, "finish_reason": finish}])

    def _chunk(self, choices: list[Json], **fields: object) -> None:
        self.values.append(
            {
                "id": self.options.response_id,
                "object": "text_completion",
                "created": CREATED,
                "choices": choices,
                "model": self.options.model,
                **fields,
            }
        )


write = writes_with(_Writer, WriterOptions)
