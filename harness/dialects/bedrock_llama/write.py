"""Write deltas as the messages of a Llama stream on Bedrock, controlled by options.

The API has text alone, so a call or reasoning cannot be written.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from typing import ClassVar, Literal

from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import Writer, finish_words, writes_with
from harness.turns.deltas import StreamFailure
from harness.turns.exact_json import encode_json
from harness.wire.aws import encode_event, encode_exception, wrap_chunk


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `bedrock-llama` writes a stream.

    The default of each option is what the API documents.

    Fields:
        finish: the finish reason is in a separate event with an empty text, or in the last text's.
        metrics: whether the last event has the counts of Bedrock.
        model: the model in the address of the request; no event contains it.
    """

    finish: Literal["own-event", "with-text"] = "own-event"
    metrics: bool = True
    model: str = "any"


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `bedrock-llama`."""

    FINISH_WORDS: ClassVar = finish_words()

    def begin(self) -> None:
        self._exceptions: list[bytes] = []

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        if self.word is not None:
            self._end(self.word)
        self._count()
        messages = (encode_event(wrap_chunk(encode_json(value)), "chunk") for value in self.values)
        return (*messages, *self._exceptions)

    def text(self, text: str) -> None:
        self.values.append(
            {
                "generation": text,
                "prompt_token_count": None,
                "generation_token_count": None,
                "stop_reason": None,
            }
        )

    def fail(self, failure: StreamFailure) -> None:
        payload = encode_json({"message": failure.message})
        self._exceptions = [encode_exception(payload, failure.code)]

    def _end(self, word: str) -> None:
        if self.options.finish == "own-event" or not self.values:
            self.text("")
        last = self.values[-1]
        last["stop_reason"] = word
        if self.options.metrics:
            last["amazon-bedrock-invocationMetrics"] = {
                "inputTokenCount": self.total.input_tokens,
                "outputTokenCount": self.total.output_tokens,
                "invocationLatency": 412,
                "firstByteLatency": 96,
            }

    def _count(self) -> None:
        """Write the number of input tokens in the first event, and of output tokens in each."""
        if not self.values:
            return
        self.values[0]["prompt_token_count"] = self.total.input_tokens
        if self.total.output_tokens is None:
            return
        for number, value in enumerate(self.values, 1):
            value["generation_token_count"] = number
        self.values[-1]["generation_token_count"] = self.total.output_tokens


write = writes_with(_Writer, WriterOptions)
