"""Read the frames of a text-generation-inference stream, or a complete response, as deltas.

Each event is one token. The last one also contains the complete text, which the reader does not
emit again. A special token, such as the end of text, is not part of the answer. The reader never
raises.
Source: Hugging Face, Text Generation Inference API, `/generate_stream` and `/generate`.
"""

from typing import Any, ClassVar, Final

from harness.dialects.kit.reader import EventReader, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason
from harness.turns.json_values import as_text
from harness.wire.frames import Frame

_FINISH: Final = finish_reasons(stop=("eos_token", "stop_sequence"), length=("length",))


class _Reader(EventReader):
    """Reads one response of the dialect `tgi`."""

    INTERRUPTED: ClassVar = "the stream ended without its last token"

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one token, or the complete response."""
        token = value.get("token")
        if type(token) is dict:
            # Special tokens such as `</s>` are part of the stream, and not of the text.
            if not token.get("special"):
                self.turn.text(token.get("text"))
            if value.get("generated_text") is not None or value.get("details"):
                self._last(value)
        elif error := value.get("error"):
            self._fail(value, error)
        elif type(value.get("generated_text")) is str:
            self.turn.text(value["generated_text"])
            self._last(value)
        elif frame.event == "error":
            self.turn.fail("error", quote(value.get("message") or value))
        else:
            self.unknown(value)

    def _last(self, value: dict[str, Any]) -> None:
        """Close the turn. Without details, the reason of its end is unknown."""
        details = value.get("details")
        word = ""
        if type(details) is dict:
            word = as_text(details.get("finish_reason"))
            self.turn.usage(details.get("input_length"), details.get("generated_tokens"))
        unknown = FinishReason.OTHER if word else FinishReason.STOP
        self.turn.finish(_FINISH.get(word, unknown), word)
        self.turn.close()

    def _fail(self, value: dict[str, Any], error: object) -> None:
        if type(error) is dict:  # a gateway in front of the model has its own errors
            self.provider_error(error, ("type", "code", "http_status_code"))
            return
        text = "; ".join(map(quote, error)) if type(error) is list else quote(error)
        self.turn.fail(quote(value.get("error_type")) or "error", quote(text))


read = reads_with(_Reader)
