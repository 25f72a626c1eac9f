"""Write deltas as the events of a text-generation-inference stream, controlled by options.

The API has text alone, so a call or reasoning cannot be written. Usage and finish reason are both
in the details of the last token, which a client has to ask for.
Source: Hugging Face, Text Generation Inference API, `/generate_stream`.
"""

from typing import ClassVar, Final, Literal

from harness.dialects.kit.frames import sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import Json, Writer, finish_words, writes_with
from harness.turns.deltas import StreamFailure
from harness.turns.exact_json import encode_json


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `tgi` writes a stream.

    The default of each option is what the API documents.

    Fields:
        last: the last token is a separate special one, or the last one of the text
            (`stop_sequence` and `length` end so).
        details: whether the last event says why the model stopped; null if the client did not ask.
        index: whether tokens are numbered (older servers do not).
        space: whether a space follows `data:`; the first servers wrote none (`SSE-NO-SPACE`).
        special_text: the text of the special token that ends the answer.
        model: the model in the address of the request; no event contains it.
    """

    last: Literal["special", "text"] = "special"
    details: Literal["given", "null"] = "given"
    index: bool = True
    space: bool = False
    special_text: str = "</s>"
    model: str = "any"


_LOGPROB: Final = -0.25


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `tgi`."""

    FINISH_WORDS: ClassVar = finish_words(stop="eos_token")

    def begin(self) -> None:
        self._text: list[str] = []

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        if self.word is not None:
            self._end(self.word)
        return sse_events(map(encode_json, self.values), space=self.options.space)

    def text(self, text: str) -> None:
        self._text.append(text)
        self._token(text)

    def fail(self, failure: StreamFailure) -> None:
        self.values.append({"error": failure.message, "error_type": failure.code})

    def _token(self, text: str, *, special: bool = False) -> None:
        number = len(self.values) + 1
        event: Json = {"index": number} if self.options.index else {}
        token = {"id": number, "text": text, "logprob": _LOGPROB, "special": special}
        self.values.append({**event, "token": token, "generated_text": None, "details": None})

    def _end(self, word: str) -> None:
        if self.options.last == "special" or not self.values:
            self._token(self.options.special_text, special=True)
        last = self.values[-1]
        last["generated_text"] = "".join(self._text)
        if self.options.details == "given":
            last["details"] = {
                "finish_reason": word,
                "generated_tokens": self.total.output_tokens,
                "input_length": self.total.input_tokens,
                "seed": None,
            }


write = writes_with(_Writer, WriterOptions)
