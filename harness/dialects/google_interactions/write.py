"""Write deltas as the events of an Interactions stream, controlled by options.

Source: Gemini API reference, "Interactions", `InteractionSseEvent`.
"""

from typing import ClassVar, Final, Literal

from harness.dialects.kit.frames import DONE, json_lines, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    CallEnd,
    Json,
    Writer,
    finish_words,
    object_or_text,
    token_counts,
    writes_with,
)
from harness.turns.deltas import Delta, StreamFailure, ToolCallStart, Usage
from harness.turns.exact_json import encode_json


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `google-interactions` writes a stream.

    The default of each option is what the API documents.

    Fields:
        version: `steps`, or `contents` as the first version of the API has it.
        arguments: a call's arguments come as fragments of text, or complete at its start.
        framing: named server-sent events, or one object on each line, as clients log it; `document`
            is the interaction that was not streamed.
        done: whether `[DONE]` ends the stream.
        status: `absent` leaves out the last event, with the state of the interaction.
        line_end: the end of lines in server-sent events.
        model, interaction_id: their values in the events.
    """

    version: Literal["steps", "contents"] = "steps"
    arguments: Literal["fragments", "at-start"] = "fragments"
    framing: Literal["sse", "lines", "document"] = "sse"
    done: bool = True
    status: Literal["completed", "absent"] = "completed"
    line_end: Literal["lf", "crlf"] = "lf"
    model: str = "gemini-3-flash-preview"
    interaction_id: str = "v1_1"


# version -> name of the step events, of the step in them, of first and last event, of steps
_NAMES: Final = {
    "steps": ("step", "step", "interaction.created", "interaction.completed", "steps"),
    "contents": ("content", "content", "interaction.start", "interaction.complete", "outputs"),
}
_NO_OTHER_TOKENS: Final = {"total_cached_tokens": 0, "total_tool_use_tokens": 0}
# What the last event says of the interaction in addition.
_COMPLETE: Final = {
    "created": "2025-10-09T08:53:20Z",
    "updated": "2025-10-09T08:53:20Z",
    "service_tier": "standard",
}
_ENDED_STATES: Final = frozenset(("failed", "cancelled"))


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `google-interactions`."""

    FINISH_WORDS: ClassVar = finish_words(
        stop="completed",
        tool_calls="requires_action",
        length="incomplete",
        content_filter="incomplete",
    )

    def begin(self) -> None:
        self._event, self._step, self._first, self._last, self._list = _NAMES[self.options.version]
        self._steps: list[Json] = []  # of the complete interaction
        self._open = ""  # type of the step that is open, if it is not a call
        self._indexes: dict[int, int] = {}  # of a call -> of its step
        self._usage: Json = {}
        self._is_ended = True

    def events(self) -> tuple[bytes, ...]:
        if self.deltas and not _is_empty(self.deltas):
            self._add(self._first, interaction=self._interaction("in_progress"))
            about = {"interaction_id": self.options.interaction_id, "status": "in_progress"}
            self._add("interaction.status_update", **about)
        self.take_all()
        payloads = [encode_json(value) for value in self.values]
        match self.options.framing:
            case "document":
                return tuple(payloads[-1:])
            case "lines":
                return json_lines(payloads)
            case "sse":
                names = [value["event_type"] for value in self.values]
                if payloads and self.options.done and self._is_ended and not self.failed:
                    payloads.append(DONE)
                    names.append("done")
                return sse_events(payloads, names, line_end=self.options.line_end)

    # Steps

    def text(self, text: str) -> None:
        if self.options.version == "contents":
            self._begin("text", {"type": "text", "text": text})
        else:
            content = [{"type": "text", "text": text}]
            self._begin("model_output", {"type": "model_output", "content": content})
        self._continue({"type": "text", "text": text})

    def reasoning(self, text: str) -> None:
        content = {"type": "text", "text": text}
        self._begin("thought", {"type": "thought", "summary": [content]})
        self._continue({"type": "thought_summary", "content": content})

    def _begin(self, kind: str, complete: Json) -> None:
        """Begin a step; if one of this kind is open, add to it what `complete` contains.

        `complete` is the step as a document contains it.
        """
        if self._open != kind:
            self._close()
            self._new_step({"type": kind}, complete)
            self._open = kind
        else:
            member = {"text": "text", "model_output": "content", "thought": "summary"}[kind]
            self._steps[-1][member] += complete[member]

    def _new_step(self, start: Json, complete: Json) -> None:
        self._steps.append(complete)
        self._add(f"{self._event}.start", index=len(self._steps) - 1, **{self._step: start})

    def _continue(self, delta: Json) -> None:
        self._add(f"{self._event}.delta", index=len(self._steps) - 1, delta=delta)

    def _close(self) -> None:
        if self._open:
            self._add(f"{self._event}.stop", index=len(self._steps) - 1)
            self._open = ""

    def start_call(self, start: ToolCallStart) -> None:
        self._close()
        named = {"type": "function_call", "id": start.id, "name": start.name}
        arguments = _arguments(self.arguments[start.index])
        self._indexes[start.index] = len(self._steps)
        if self.options.version == "contents":
            self._new_step({"type": "function_call", "id": start.id}, {**named, **arguments})
            self._continue({**named, **arguments})
        else:
            at_start = arguments if self.options.arguments == "at-start" else {"arguments": {}}
            at_start = at_start if self.arguments[start.index] else {}
            self._new_step({**named, **at_start}, {**named, **arguments})

    def continue_call(self, index: int, fragment: str) -> None:
        if self.options.version == "steps" and self.options.arguments == "fragments":
            piece = {"type": "arguments_delta", "arguments": fragment}
            self._add("step.delta", index=self._indexes[index], delta=piece)

    def end_call(self, end: CallEnd) -> None:
        self._add(f"{self._event}.stop", index=self._indexes[end.index])

    # The end of the turn

    def count(self, usage: Usage) -> None:
        counts = token_counts(usage, "total_input_tokens", "total_output_tokens")
        self._usage = {**counts, "total_tokens": sum(counts.values()), **_NO_OTHER_TOKENS}
        if usage.output_tokens is not None:
            self._usage["total_thought_tokens"] = 0
        if usage.input_tokens is not None:
            modality = {"modality": "text", "tokens": usage.input_tokens}
            self._usage["input_tokens_by_modality"] = [modality]

    def finish(self, word: str) -> None:
        self._close()
        if self.options.status == "absent":
            self._is_ended = False
        else:
            self._end(word)

    def _end(self, word: str) -> None:
        complete = {**self._interaction(word), **_COMPLETE}
        if self._usage:
            complete["usage"] = self._usage
        if self.options.framing == "document":
            self.values.append({**complete, self._list: self._steps})
        else:
            self._add(self._last, interaction=complete)

    def fail(self, failure: StreamFailure) -> None:
        if failure.code in _ENDED_STATES:
            self._end(failure.code)
        else:
            self._add("error", error={"code": failure.code, "message": failure.message})

    def _interaction(self, status: str) -> Json:
        options = self.options
        about = {"object": "interaction", "model": options.model}
        return {"id": options.interaction_id, "status": status, **about}

    def _add(self, kind: str, **fields: object) -> None:
        self.values.append({**fields, "event_type": kind})


def _is_empty(deltas: tuple[Delta, ...]) -> bool:
    return any(isinstance(d, StreamFailure) and d.code == "empty_stream" for d in deltas)


def _arguments(text: str) -> Json:
    """Return the member with the arguments, as an object if they are one."""
    return {"arguments": object_or_text(text)} if text else {}


write = writes_with(_Writer, WriterOptions)
