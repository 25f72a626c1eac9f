"""Write deltas as the events of an openai-chat stream, controlled by options.

Source: OpenAI API reference, "The chat completion chunk object".
"""

from typing import Any, ClassVar, Final, Literal

from harness.dialects.kit.frames import DONE, LineEnd, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    CREATED,
    CallEnd,
    Json,
    Writer,
    object_or_text,
    openai_usage,
    optional_field,
    writes_with,
)
from harness.turns.deltas import StreamFailure, ToolCallStart, Usage
from harness.turns.exact_json import encode_json

RepeatedField = Literal["absent", "empty", "null", "repeated"]


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `openai-chat` writes a stream.

    The default of each option is what the API documents.

    Fields:
        first_id: the id in the delta that opens a call (`DELTA-ID-MISSING`).
        later_id: the id in the deltas that follow (`DELTA-ID-EMPTY-LATER`, `-NULL-LATER`).
        later_name: the name in these deltas (`DELTA-NAME-REPEATED`, `-NULL-STRINGIFIED`).
        name_pieces: the number of deltas with parts of the name (`DELTA-NAME-FRAGMENTED`).
        index: `DELTA-INDEX-MISSING`, `-SPARSE`, `-ALL-ZERO`.
        call_type: `DELTA-TYPE-MISSING`, `-EMPTY-OR-NULL`.
        arguments: `ARGS-OBJECT`, `-CUMULATIVE`, `-REPEATED-AT-END`, `-EMPTYOBJ-THEN-REAL`,
            `-NULL`, `DELTA-ID-NAME-NO-ARGS`, `DELTA-FIRST-HAS-ARGS`.
        one_chunk: all calls, complete, in one delta list (`DELTA-MULTI-IN-CHUNK`).
        where: the field that contains the calls (`MESSAGE-NOT-DELTA`, `LEGACY-FUNCTION-CALL`,
            `DELTA-ADDITIONAL-KWARGS`).
        idle: the fields that a delta does not use (`TOOLCALLS-NULL`, `-EMPTY-ARRAY`).
        reasoning_field: the name of the field for reasoning (`REASONING-FIELD-NAMES`).
        usage: `CHUNK-CHOICES-EMPTY`, `-NULL`, `-ABSENT`.
        finish: `FINISH-EMPTY-STRING`, `-DUPLICATE`, `-TOOLCALLS-THEN-STOP`, `-WITH-CALL`,
            `-STOP-TOO-EARLY`; `absent` leaves it out (with `done` still there).
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        choice: the index of the choice; None leaves it out.
        role: which deltas name the role: the first, each (OpenRouter), or none
            (`DELTA-ROLE-MISSING`). The first is the one that opens a call, or else has no text.
        open_finish: the finish reason of chunks before the last.
        open_usage: the usage of chunks that have none.
        new_response_ids: a new id in each chunk (`RESPONSE-ID-PER-CHUNK`).
        line_end, space, bom, comment, event_name: the format of the server-sent events (quirks
            of group A).
        model, response_id: their values in the chunks.
    """

    first_id: RepeatedField = "repeated"
    later_id: Literal["absent", "empty", "null", "repeated", "changed"] = "absent"
    later_name: RepeatedField = "absent"
    name_pieces: int = 1
    index: Literal["kept", "absent", "null", "from-one", "negative", "zero"] = "kept"
    call_type: Literal["first", "absent", "null", "empty", "always"] = "first"
    arguments: Literal[
        "fragments",
        "with-start",
        "absent-first",
        "null-first",
        "object",
        "cumulative",
        "whole-again",
        "placeholder-first",
    ] = "fragments"
    one_chunk: bool = False
    where: Literal["delta", "message", "legacy", "additional-kwargs"] = "delta"
    idle: Literal["absent", "null", "empty"] = "absent"
    reasoning_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    usage: Literal["own-chunk", "choices-null", "choices-absent", "with-finish"] = "own-chunk"
    finish: Literal[
        "own-chunk",
        "with-call",
        "empty-until-last",
        "twice",
        "then-stop",
        "stop-too-early",
        "absent",
    ] = "own-chunk"
    done: bool = True
    choice: int | None = 0
    role: Literal["first", "each", "absent"] = "first"
    open_finish: Literal["null", "absent"] = "null"
    open_usage: Literal["absent", "null"] = "absent"
    new_response_ids: bool = False
    line_end: LineEnd = "lf"
    space: bool = True
    bom: bool = False
    comment: str = ""
    event_name: str = ""
    model: str = "gpt-4o-mini"
    response_id: str = "chatcmpl-1"


_AT_START: Final = frozenset(("with-start", "object"))
# The field of a call that holds what the model gives it.
_ARGUMENTS: Final = {"function": "arguments", "custom": "input"}
# The first delta of a stream that does not begin with a call.
_OPENING: Final[Json] = {"role": "assistant", "content": ""}
# What each chunk with usage says beyond the sums.
_USAGE_DETAILS: Final[Json] = {
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}
_CALL_FIELDS: Final = ("tool_calls", "function_call", "additional_kwargs")


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `openai-chat`; its values are the chunks."""

    USAGE_AFTER_FINISH: ClassVar = True

    def begin(self) -> None:
        self._sent = dict.fromkeys(self.arguments, "")
        self._opened = self.options.role != "first"
        self._at_once = self.options.one_chunk or self.options.where == "message"

    def events(self) -> tuple[bytes, ...]:
        options = self.options
        if options.finish == "stop-too-early":
            delta = _OPENING if options.role == "first" else {"content": ""}
            self._choice(delta, finish="stop")
        self.take_all()
        payloads = [encode_json(value) for value in self.values]
        if options.done and not self.failed:
            payloads.append(DONE)
        return sse_events(
            payloads,
            [options.event_name] * len(payloads),
            line_end=options.line_end,
            space=options.space,
            comment=options.comment,
            bom=options.bom,
        )

    def text(self, text: str) -> None:
        self._choice({"content": text, **self._idle("tool_calls")})

    def reasoning(self, text: str) -> None:
        self._choice({self.options.reasoning_field: text, **self._idle("content")})

    def _idle(self, field: str) -> Json:
        empty = [] if field == "tool_calls" else ""
        modes: dict[str, Json] = {"absent": {}, "null": {field: None}, "empty": {field: empty}}
        return modes[self.options.idle]

    # Calls

    def start_call(self, start: ToolCallStart) -> None:
        if self._at_once:
            if start.index == min(self.starts):
                self._calls([self._entry(i, self.arguments[i], opens=True) for i in self.starts])
            return
        pieces = _pieces(start.name, self.options.name_pieces)
        for at, piece in enumerate(pieces):
            is_last = at == len(pieces) - 1  # the name is complete before its arguments begin
            arguments = self._first_arguments(start.index) if is_last else ""
            entry = self._entry(start.index, arguments, opens=at == 0)
            entry[start.kind]["name"] = piece
            self._calls([entry])

    def _first_arguments(self, index: int) -> Any:  # noqa: ANN401 - any JSON: that is the quirk
        whole = self.arguments[index]
        match self.options.arguments:
            case "with-start":
                return whole
            case "object":
                return object_or_text(whole)
            case "null-first":
                return None
            case "placeholder-first" if whole.startswith("{") and whole != "{}":
                return "{}"
            case _:
                return ""

    def continue_call(self, index: int, fragment: str) -> None:
        if self._at_once or self.options.arguments in _AT_START:
            return
        self._sent[index] += fragment
        text = self._sent[index] if self.options.arguments == "cumulative" else fragment
        self._calls([self._entry(index, text)])

    def end_call(self, end: CallEnd) -> None:
        whole = self.arguments[end.index]
        if whole and self.options.arguments == "whole-again" and not self._at_once:
            self._calls([self._entry(end.index, whole)])

    def _entry(self, index: int, arguments: Any, *, opens: bool = False) -> Json:  # noqa: ANN401 - as above
        options = self.options
        start = self.starts[index]
        entry: Json = {**self._index(index)}
        changed = f"{start.id}-{len(self.values)}"
        entry |= optional_field(
            "id", options.first_id if opens else options.later_id, start.id, changed
        )
        if options.call_type == "always" or (opens and options.call_type == "first"):
            entry["type"] = start.kind
        elif options.call_type in ("null", "empty"):
            entry["type"] = None if options.call_type == "null" else ""
        function = optional_field("name", "repeated" if opens else options.later_name, start.name)
        if not (opens and options.arguments == "absent-first" and arguments == ""):
            function[_ARGUMENTS[start.kind]] = arguments
        entry[start.kind] = function
        return entry

    def _index(self, index: int) -> Json:
        numbers = {"kept": index, "from-one": index + 1, "negative": index - 1, "zero": 0}
        mode = self.options.index
        return {} if mode == "absent" else {"index": numbers.get(mode)}

    def _calls(self, entries: list[Json]) -> None:
        idle = self._idle("content")
        match self.options.where:
            case "legacy":
                for entry in entries:
                    self._choice({**idle, "function_call": entry["function"]})
            case "additional-kwargs":
                self._choice({**idle, "additional_kwargs": {"tool_calls": entries}})
            case "message":
                message = {"role": "assistant", "content": None, "tool_calls": entries}
                self._choice(message, field="message")
            case _:
                self._choice({**idle, "tool_calls": entries})

    # The end of the turn

    def count(self, counts: Usage) -> None:
        usage = {**openai_usage(counts), **_USAGE_DETAILS}
        match self.options.usage:
            case "choices-null":
                self._chunk({"choices": None, "usage": usage})
            case "choices-absent":
                self._chunk({"usage": usage})
            case "with-finish" if self.values:
                self.values[-1]["usage"] = usage
            case _:
                self._chunk({"choices": [], "usage": usage})

    def finish(self, word: str) -> None:
        match self.options.finish:
            case "absent":
                return
            case "with-call" if self.values and self.values[-1].get("choices"):
                self.values[-1]["choices"][0]["finish_reason"] = word
            case "empty-until-last":
                for chunk in self.values:
                    for choice in chunk.get("choices") or ():
                        choice["finish_reason"] = ""
                self._choice({}, finish=word)
            case mode:
                for each in {"twice": (word, word), "then-stop": (word, "stop")}.get(mode, (word,)):
                    self._choice({}, finish=each)

    def fail(self, failure: StreamFailure) -> None:
        if failure.code == "refusal":
            self.failed = False  # the model refused, which ends a stream well
            self._choice({"refusal": failure.message})
        else:
            self.values.append({"error": {"message": failure.message, "code": failure.code}})

    # Chunks

    def _choice(self, delta: Json, *, finish: str | None = None, field: str = "delta") -> None:
        options = self.options
        choice: Json = {} if options.choice is None else {"index": options.choice}
        if not self._opened:
            delta = self._open(delta)
        if options.role == "each":
            delta = {"role": "assistant", **delta}
        choice[field] = delta
        if finish is not None or options.open_finish == "null":
            choice["finish_reason"] = finish
        usage: Json = {"usage": None} if options.open_usage == "null" else {}
        self._chunk({"choices": [choice], **usage})

    def _open(self, delta: Json) -> Json:
        """Return the first delta, with the role; without a call, the role has a separate delta."""
        self._opened = True
        if "role" in delta:
            return delta
        if any(map(delta.get, _CALL_FIELDS)):
            return {"role": "assistant", "content": None, **delta}
        self._choice(_OPENING)
        return delta

    def _chunk(self, fields: Json) -> None:
        options = self.options
        number = f"-{len(self.values)}" if options.new_response_ids else ""
        self.values.append(
            {
                "id": options.response_id + number,
                "object": "chat.completion.chunk",
                "created": CREATED,
                "model": options.model,
                **fields,
            }
        )


def _pieces(name: str, count: int) -> list[str]:
    """Split `name` into at most `count` parts, none of them empty unless the name is."""
    size = max(1, -(-len(name) // max(1, count)))
    return [name[at : at + size] for at in range(0, len(name), size)] or [""]


write = writes_with(_Writer, WriterOptions)
