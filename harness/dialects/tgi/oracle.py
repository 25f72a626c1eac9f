"""Decide the meaning of a body of the dialect `tgi` by the contract (the oracle).

The texts of all tokens that are not special are appended. The event with the complete text is
the last one. Its details say why the model stopped, if the request asked for them.
Source: Hugging Face, Text Generation Inference API, `/generate_stream` and `/generate`.
"""

from typing import ClassVar

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import FinishWordOracle
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import dict_or_empty, meanings, text_or_empty


class TgiOracle(FinishWordOracle):
    """Reads one response body of text-generation-inference by its contract."""

    USAGE: ClassVar = counts_at(("details",), read="input_length", written="generated_tokens")
    MEANINGS: ClassVar = meanings(stop=("eos_token", "stop_sequence"), length=("length",))

    def take(self, value: Json, event: Event) -> None:
        """Process one token, or the whole answer."""
        token, whole = value.get("token"), value.get("generated_text")
        if "error" in value or event.name == "error":
            self._error(value, event.offset)
        elif not isinstance(whole, str | None):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
        elif isinstance(token, dict):
            self._token(token, event.offset)
        elif token is None and whole is not None:
            self.text.add(whole)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
        if isinstance(whole, str):
            self._last(value.get("details"), event.offset)
        elif value.get("details"):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _error(self, value: Json, offset: int) -> None:
        error, code = value.get("error", value.get("message")), value.get("error_type")
        ambiguous = "token" in value or "generated_text" in value or not error
        self.notes.failure("ERR-IN-200", offset, ambiguous=ambiguous)
        self.fail(text_or_empty(code), text_or_empty(error))

    def _token(self, token: Json, offset: int) -> None:
        text, special = token.get("text"), token.get("special", False)
        if not isinstance(text, str) or not isinstance(special, bool):
            self.notes.ambiguous("EVENT-GLUED", offset, text=True)
        elif not special:
            self.text.add(text)

    def _last(self, details: object, offset: int) -> None:
        self.over = self.ended = True
        if details is None:
            return
        word = dict_or_empty(details).get("finish_reason")
        if isinstance(word, str) and word:
            self.finish(word, offset)
        else:
            self.notes.ambiguous("FINISH-UNKNOWN", offset, end=True)
