"""Write deltas as the messages of one turn of a Live session, controlled by options.

Source: Gemini API reference, "Live API", `BidiGenerateContentServerMessage`.
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
from harness.turns.deltas import StreamFailure, ToolCallStart, Usage
from harness.turns.exact_json import write_exactly

_REASONS: Final = frozenset(("RESPONSE_REJECTED", "NEED_MORE_INPUT"))
_FAILED: Final = "MALFORMED_FUNCTION_CALL"


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `gemini-live` writes a turn.

    The default of each option is what the API documents.

    Fields:
        call_id: the id of calls; Vertex AI leaves it out (`LIVE-NO-ID`).
        together: parallel calls in one `toolCall`.
        text: the text in parts of the model, or as the transcription of its audio.
        ending: `turnComplete` after calls too, or nothing, because the server awaits the results
            (`LIVE-CALL-ENDS-TURN`).
        generation_complete: whether `generationComplete` precedes the end.
        usage: the numbers of tokens next to the end, or in a separate message.
        model: accepted as in other dialects; the messages do not name it.
    """

    call_id: Literal["own", "absent"] = "own"
    together: bool = False
    text: Literal["parts", "transcription"] = "parts"
    ending: Literal["complete", "tool-call"] = "complete"
    generation_complete: bool = True
    usage: Literal["with-end", "own-message"] = "with-end"
    model: str = "gemini-live"


class _Writer(Writer[WriterOptions]):
    """Writes one turn of the dialect `gemini-live`."""

    FINISH_WORDS: ClassVar = finish_words(
        stop="turnComplete",
        tool_calls="turnComplete",
        length="interrupted",
        content_filter="RESPONSE_REJECTED",
        other="interrupted",
    )

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        if self.usage is not None and self.options.usage == "own-message":
            self.values.append({"usageMetadata": _usage_metadata(self.usage)})
        lines = (write_exactly(value).encode("utf-8", "replace") for value in self.values)
        return json_lines(lines)

    def text(self, text: str) -> None:
        if self.options.text == "parts":
            self._content({"modelTurn": {"parts": [{"text": text}]}})
        else:
            self._content({"outputTranscription": {"text": text}})

    def reasoning(self, text: str) -> None:
        self._content({"modelTurn": {"parts": [{"text": text, "thought": True}]}})

    def start_call(self, start: ToolCallStart) -> None:
        if not self.options.together:
            self._calls([start])
        elif start.index == min(self.starts):
            self._calls([*self.starts.values()])

    def _calls(self, starts: list[ToolCallStart]) -> None:
        self.values.append({"toolCall": {"functionCalls": [*map(self._call, starts)]}})

    def _call(self, start: ToolCallStart) -> Json:
        arguments = self.arguments[start.index]
        own = {"id": start.id} if start.id and self.options.call_id == "own" else {}
        args = {"args": exact_object_or_text(arguments)} if arguments else {}
        return {**own, "name": start.name, **args}

    def finish(self, word: str) -> None:
        if self.options.ending == "tool-call" and self.starts and word == "turnComplete":
            return
        if word == "interrupted":
            self._content({"interrupted": True})
        elif self.options.generation_complete:
            self._content({"generationComplete": True})
        reason = {"turnCompleteReason": word} if word in _REASONS else {}
        self._content({"turnComplete": True, **reason})
        if self.usage is not None and self.options.usage == "with-end":
            self.values[-1]["usageMetadata"] = _usage_metadata(self.usage)

    def fail(self, failure: StreamFailure) -> None:
        if failure.code == _FAILED:
            self._content({"turnComplete": True, "turnCompleteReason": failure.code})
            return
        error = {"code": 500, "message": failure.message, "status": failure.code}
        self.values.append({"error": error})

    def _content(self, fields: Json) -> None:
        self.values.append({"serverContent": fields})


def _usage_metadata(usage: Usage) -> Json:
    counts = token_counts(usage, "promptTokenCount", "responseTokenCount")
    return {**counts, "totalTokenCount": sum(counts.values())}


write = writes_with(_Writer, WriterOptions)
