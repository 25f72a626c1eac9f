"""Deltas -> the events of an openai-completions stream, in any spelling.

The way back from `read`. The API has text alone, so a call or reasoning cannot be spelled.
Source: OpenAI API reference, "Completions" (legacy), "The completion object".
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from harness.turns.deltas import Delta, Finish, FinishReason, StreamFailure, TextDelta, UsageDelta
from harness.turns.exact_json import encode_json
from harness.wire.sse import encode


class WriterOptions(msgspec.Struct, frozen=True):
    """How a stream is written.

    Fields:
        finish: where the finish reason stands: with an empty text, or with the last text.
        usage: with the chunk of its own that `stream_options` asks for, or with the finish.
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        choice: the index of the choice; None leaves it out.
        logprobs: whether the member is there, null.
        space: after `data:` (`SSE-NO-SPACE`).
        crlf: whether lines end with CRLF (`SSE-CRLF`).
        model, response_id: what the chunks carry.
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


_FINISH_WORDS = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "other",
}
# Failures that are told by what the stream leaves out, not by an error object.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream"))
_CREATED = 1_760_000_000

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events; joined, they are the body.

    Raises:
        ValueError: a delta that this API has no place for.
    """
    writer = _Writer(spelling or WriterOptions())
    for delta in deltas:
        writer.take(delta)
    return writer.events()


class _Writer:
    """Writes one stream."""

    def __init__(self, spelling: WriterOptions) -> None:
        self._spelling = spelling
        self._chunks: list[Json] = []
        self._ended = True

    def take(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._choice(delta.text)
            case UsageDelta():
                self._usage(delta)
            case Finish():
                self._finish(delta.raw or _FINISH_WORDS.get(delta.reason, "other"))
            case StreamFailure():
                self._fail(delta)
            case _:
                raise ValueError(f"openai-completions cannot spell {type(delta).__name__}")

    def events(self) -> tuple[bytes, ...]:
        payloads = [encode_json(chunk) for chunk in self._chunks]
        if self._ended and self._spelling.done:
            payloads.append(b"[DONE]")
        line_end = b"\r\n" if self._spelling.crlf else b"\n"
        return tuple(
            encode(payload, line_end=line_end, space=self._spelling.space) for payload in payloads
        )

    def _finish(self, word: str) -> None:
        last = self._chunks[-1]["choices"] if self._chunks else []
        if self._spelling.finish == "with-text" and last:
            last[0]["finish_reason"] = word
        else:
            self._choice("", word)

    def _usage(self, delta: UsageDelta) -> None:
        counts = delta.usage
        usage = {
            "prompt_tokens": counts.input_tokens,
            "completion_tokens": counts.output_tokens,
            "total_tokens": (counts.input_tokens or 0) + (counts.output_tokens or 0),
        }
        if self._spelling.usage == "with-finish" and self._chunks:
            self._chunks[-1]["usage"] = usage
        else:
            self._chunk([], usage=usage)

    def _fail(self, delta: StreamFailure) -> None:
        self._ended = False
        if delta.code not in _SILENT_FAILURES:
            error = {"message": delta.message, "type": None, "code": delta.code}
            self._chunks.append({"error": error, "choices": []})

    def _choice(self, text: str, finish: str | None = None) -> None:
        choice: Json = {"text": text}
        if self._spelling.choice is not None:
            choice["index"] = self._spelling.choice
        if self._spelling.logprobs:
            choice["logprobs"] = None
        self._chunk([{**choice, "finish_reason": finish}])

    def _chunk(self, choices: list[Json], **fields: object) -> None:
        spelling = self._spelling
        self._chunks.append(
            {
                "id": spelling.response_id,
                "object": "text_completion",
                "created": _CREATED,
                "choices": choices,
                "model": spelling.model,
                **fields,
            }
        )
