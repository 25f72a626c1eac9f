"""Deltas -> the events of a text-generation-inference stream, in any spelling.

The way back from `read`. The API has text alone, so a call or reasoning cannot be spelled;
usage and finish both stand beside the last token, and only where details are given.
Source: Hugging Face, Text Generation Inference API, `/generate_stream`.
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
from harness.wire.sse import encode


class WriterOptions(msgspec.Struct, frozen=True):
    """How a stream is written.

    Fields:
        last: the last token is a special one of its own, or the last one of the text
            (`stop_sequence` and `length` end so).
        details: whether the last event says why the model stopped; null where nobody asked.
        index: whether tokens are numbered (older servers do not).
        space: after `data:`; the first servers wrote none (`SSE-NO-SPACE`).
        special_text: of the special token that ends the text.
        model: in no event; for the address of the request.
    """

    last: Literal["special", "text"] = "special"
    details: Literal["given", "null"] = "given"
    index: bool = True
    space: bool = False
    special_text: str = "</s>"
    model: str = "any"


_FINISH_WORDS = {
    FinishReason.STOP: "eos_token",
    FinishReason.LENGTH: "length",
    FinishReason.OTHER: "other",
}
# Failures that are told by what the stream leaves out, not by an error object.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream"))
_LOGPROB = -0.25

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
        self._values: list[Json] = []
        self._text: list[str] = []
        self._usage = Usage()
        self._finish: Finish | None = None

    def take(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._text.append(delta.text)
                self._token(delta.text)
            case UsageDelta():
                self._usage = delta.usage
            case Finish():
                self._finish = delta
            case StreamFailure():
                if delta.code not in _SILENT_FAILURES:
                    self._values.append({"error": delta.message, "error_type": delta.code})
            case _:
                raise ValueError(f"tgi cannot spell {type(delta).__name__}")

    def events(self) -> tuple[bytes, ...]:
        if self._finish is not None:
            self._end(self._finish)
        space = self._spelling.space
        return tuple(encode(encode_json(value), space=space) for value in self._values)

    def _token(self, text: str, *, special: bool = False) -> None:
        number = len(self._values) + 1
        event: Json = {"index": number} if self._spelling.index else {}
        token = {"id": number, "text": text, "logprob": _LOGPROB, "special": special}
        self._values.append({**event, "token": token, "generated_text": None, "details": None})

    def _end(self, finish: Finish) -> None:
        if self._spelling.last == "special" or not self._values:
            self._token(self._spelling.special_text, special=True)
        last = self._values[-1]
        last["generated_text"] = "".join(self._text)
        if self._spelling.details == "given":
            last["details"] = {
                "finish_reason": finish.raw or _FINISH_WORDS.get(finish.reason, "other"),
                "generated_tokens": self._usage.output_tokens,
                "input_length": self._usage.input_tokens,
                "seed": None,
            }
