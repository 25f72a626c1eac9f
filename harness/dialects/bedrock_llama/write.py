"""Deltas -> the messages of a Llama stream on Bedrock, in any spelling; the way back from `read`.

The API has text alone, so a call or reasoning cannot be spelled.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.turns.exact_json import encode_json
from harness.wire.aws import encode_event, encode_exception, wrap_chunk


class WriterOptions(msgspec.Struct, frozen=True):
    """How a stream is written.

    Fields:
        finish: in an event of its own, with an empty text, or in that of the last text.
        metrics: whether the last event has what Bedrock counted.
        model: in no event; for the address of the request.
    """

    finish: Literal["own-event", "with-text"] = "own-event"
    metrics: bool = True
    model: str = "any"


_FINISH_WORDS = {FinishReason.STOP: "stop", FinishReason.LENGTH: "length"}
# Failures that are told by what the stream leaves out, not by an exception.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream"))

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's messages; joined, they are the body.

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
        self._values: list[Json] = []
        self._usage = Usage()
        self._finish: Finish | None = None
        self._failure: tuple[bytes, ...] = ()

    def take(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._piece(delta.text)
            case UsageDelta():
                self._usage = delta.usage
            case Finish():
                self._finish = delta
            case StreamFailure():
                if delta.code not in _SILENT_FAILURES:
                    payload = encode_json({"message": delta.message})
                    self._failure = (encode_exception(payload, delta.code),)
            case _:
                raise ValueError(f"bedrock-llama cannot spell {type(delta).__name__}")

    def events(self) -> tuple[bytes, ...]:
        """Return all messages, once the last delta was taken."""
        if self._finish is not None:
            self._end(self._finish)
        self._count()
        messages = (encode_event(wrap_chunk(encode_json(value)), "chunk") for value in self._values)
        return (*messages, *self._failure)

    def _piece(self, text: str) -> None:
        self._values.append(
            {
                "generation": text,
                "prompt_token_count": None,
                "generation_token_count": None,
                "stop_reason": None,
            }
        )

    def _end(self, finish: Finish) -> None:
        if self._spelling.finish == "own-event" or not self._values:
            self._piece("")
        last = self._values[-1]
        last["stop_reason"] = finish.raw or _FINISH_WORDS.get(finish.reason, "other")
        if self._spelling.metrics:
            last["amazon-bedrock-invocationMetrics"] = {
                "inputTokenCount": self._usage.input_tokens,
                "outputTokenCount": self._usage.output_tokens,
                "invocationLatency": 412,
                "firstByteLatency": 96,
            }

    def _count(self) -> None:
        """Count the input in the first event, and the output so far in each."""
        usage = self._usage
        if not self._values:
            return
        self._values[0]["prompt_token_count"] = usage.input_tokens
        if usage.output_tokens is None:
            return
        for number, value in enumerate(self._values, 1):
            value["generation_token_count"] = number
        self._values[-1]["generation_token_count"] = usage.output_tokens
