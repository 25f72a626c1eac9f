"""Write deltas as the events of a Responses stream, controlled by options.

Each run of text or reasoning is one item, and so is each call.
Source: OpenAI API reference, "Responses: streaming events".
"""

from typing import Any, ClassVar, Final, Literal

import msgspec

from harness.dialects.kit.frames import DONE, LineEnd, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import CallEnd, Json, Writer, object_or_text, writes_with
from harness.dialects.openai_responses.output import (
    CALLS,
    PLACES,
    TEXTS,
    Out,
    as_realtime,
    part,
    response,
)
from harness.turns.deltas import (
    Finish,
    FinishReason,
    SealedDelta,
    StreamFailure,
    ToolCallRejected,
    ToolCallStart,
    Usage,
)
from harness.turns.exact_json import encode_json

_AT_END_OF_ITEM = frozenset(("done-only", "item-only", "object"))


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `openai-responses` writes a stream.

    The default of each option is what the API documents.

    Fields:
        api: which of the two APIs names the events (`RESP-REALTIME-EVENTS`).
        arguments: which events contain the arguments (`RESP-NO-ARGUMENT-DELTAS`,
            `RESP-ARGUMENTS-IN-ADDED`, `ARGS-OBJECT`).
        texts: which events contain texts (`RESP-NO-TEXT-DELTAS`).
        item_ids: `RESP-ITEM-ID-ABSENT`, `RESP-ITEM-ID-CHANGES`; if the index is
            missing, the ids do not change.
        output_index: `RESP-OUTPUT-INDEX-LOST`.
        last_ids: the ids of calls in the terminal event (`RESP-CALL-ID-CHANGES`,
            `RESP-TWO-IDS-TWICE`).
        output: the member `output` of the terminal event (`RESP-COMPLETED-OUTPUT-EMPTY`, `-NULL`).
            If it lacks content that no other event has, the writer uses the documented events.
        item_done: whether items have an event for their end (`RESP-NO-ITEM-DONE`).
        reasoning: reasoning as its summary, or as raw text.
        sequence: `RESP-SEQUENCE-NEGATIVE`.
        obfuscation: deltas are padded to hide their length (`RESP-OBFUSCATION`).
        event_lines: whether events have their name next to the payload (`RESP-NO-EVENT-LINE`).
        done: whether `[DONE]` ends the stream (`RESP-DONE-SENTINEL`).
        failure: the event that reports an error.
        line_end: the end of lines in server-sent events (quirks of group A).
        model, response_id: their values in the response.
    """

    api: Literal["responses", "realtime"] = "responses"
    arguments: Literal[
        "fragments", "done-only", "item-only", "terminal-only", "with-start", "object"
    ] = "fragments"
    texts: Literal["deltas", "part-only", "item-only", "terminal-only"] = "deltas"
    item_ids: Literal["kept", "absent", "changing"] = "kept"
    output_index: Literal["kept", "absent", "zero"] = "kept"
    last_ids: Literal["kept", "other-call", "other-item", "both-other"] = "kept"
    output: Literal["items", "empty", "null", "absent"] = "items"
    item_done: bool = True
    reasoning: Literal["summary", "text"] = "summary"
    sequence: Literal["counted", "absent", "negative"] = "counted"
    obfuscation: bool = False
    event_lines: bool = True
    done: bool = False
    failure: Literal["response", "event", "nested-event"] = "response"
    line_end: LineEnd = "lf"
    model: str = "gpt-5-mini"
    response_id: str = "resp_1"


def possible_options(options: WriterOptions) -> WriterOptions:
    """Return `options` without combinations that would leave a stream without content.

    Without their index, items are distinguished by their ids. Content that no event would have
    comes in deltas.
    """
    changes: dict[str, str] = {}
    if options.output_index != "kept":
        changes["item_ids"] = "kept"
    for switch, plain in (("arguments", "fragments"), ("texts", "deltas")):
        mode = getattr(options, switch)
        without_end = not options.item_done and mode in _AT_END_OF_ITEM
        if without_end or (mode == "terminal-only" and options.output != "items"):
            changes[switch] = plain
    return msgspec.structs.replace(options, **changes)


_REASONS: Final = {
    FinishReason.LENGTH: "max_output_tokens",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "",
}
# Arguments that are in no event before that of the item, or of the response.
_LATE: Final = frozenset(("item-only", "terminal-only", "object"))
_OBFUSCATION: Final = "XkP9aQ"
# How texts are written if their parts have separate events.
_IN_PARTS: Final = frozenset(("deltas", "part-only"))


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `openai-responses`."""

    FINISH_WORDS: ClassVar = {**dict.fromkeys(FinishReason, "completed"), **_REASONS}

    def begin(self) -> None:
        self.options = possible_options(self.options)
        self._items: list[Out] = []
        self._calls: dict[int, Out] = {}
        self._run: Out | None = None  # the text that may still grow
        self._usage: Usage | None = None
        self._cut_short = any(
            isinstance(delta, Finish) and delta.reason in _REASONS for delta in self.deltas
        )

    def events(self) -> tuple[bytes, ...]:
        options = self.options
        if self.deltas != (StreamFailure("empty_stream"),):
            begun = self._response("in_progress", {"output": []})
            self._about("response.created", begun)
            if options.api == "responses":
                self._about("response.in_progress", begun)
        self.take_all()
        payloads = [encode_json(value) for value in self.values]
        names = [value["type"] if options.event_lines else "" for value in self.values]
        if options.done and self.deltas and isinstance(self.deltas[-1], Finish):
            payloads.append(DONE)
            names.append("")
        return sse_events(payloads, names, line_end=options.line_end)

    def text(self, text: str) -> None:
        self._text("text", text)

    def reasoning(self, text: str) -> None:
        self._text("summary" if self.options.reasoning == "summary" else "reasoning", text)

    def seal(self, delta: SealedDelta) -> None:
        """Write the encrypted content of the reasoning item, under an id of this writer."""
        if (delta.kind, delta.of) != ("reasoning", "reasoning"):
            super().seal(delta)
        run = self._run
        if run is None or run.type != "reasoning":
            self._end_run()
            run = self._open(Out(len(self._items), "summary"))
            run.encrypted = delta.value
            self._item_done(run, "completed")
        else:
            run.encrypted = delta.value
            self._end_run()

    def count(self, usage: Usage) -> None:
        self._usage = usage

    # Texts

    def _text(self, kind: str, piece: str) -> None:
        if self._run is None or self._run.kind != kind:
            self._end_run()
            self._run = self._open(Out(len(self._items), kind))
            self._part(self._run, "added", "")
        self._run.pieces.append(piece)
        if self.options.texts == "deltas":
            self._text_event(self._run, "delta", {"delta": piece} | self._padding())

    def _end_run(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        if self.options.texts in _IN_PARTS:
            field = "refusal" if run.kind == "refusal" else "text"
            self._text_event(run, "done", {field: run.text})
        self._part(run, "done", run.text)
        self._item_done(run, "completed")

    def _part(self, run: Out, word: str, fields_of_text: str) -> None:
        """Open or close the one part of an item whose parts have events."""
        if self.options.texts in _IN_PARTS:
            member, name = PLACES[run.kind]
            fields = self._location(run) | {member: 0, "part": part(run.kind, fields_of_text)}
            self._event(f"response.{name}.{word}", fields)

    def _text_event(self, run: Out, word: str, fields_of_text: Json) -> None:
        more: Json = {"logprobs": []} if run.kind == "text" else {}
        fields = self._location(run) | {PLACES[run.kind][0]: 0} | fields_of_text | more
        self._event(f"response.{TEXTS[run.kind][3]}.{word}", fields)

    def _padding(self) -> Json:
        return {"obfuscation": _OBFUSCATION} if self.options.obfuscation else {}

    # Calls

    def start_call(self, start: ToolCallStart) -> None:
        self._end_run()
        self._calls[start.index] = self._open(Out(len(self._items), start.kind, start))

    def continue_call(self, index: int, fragment: str) -> None:
        call = self._calls[index]
        call.pieces.append(fragment)
        if self.options.arguments == "fragments":
            fields = self._location(call) | {"delta": fragment} | self._padding()
            self._event(f"response.{CALLS[call.kind][2]}.delta", fields)

    def end_call(self, end: CallEnd) -> None:
        call = self._calls[end.index]
        is_cut_short = self._cut_short and isinstance(end, ToolCallRejected)
        self._end_run()
        if self.options.arguments not in _LATE and self.options.item_done:
            _, field, name = CALLS[call.kind]
            self._event(f"response.{name}.done", self._location(call) | {field: call.text})
        self._item_done(call, "incomplete" if is_cut_short else "completed")

    # Items

    def _open(self, item: Out) -> Out:
        self._items.append(item)
        if not self._is_terminal_only(item):
            self._event(
                "response.output_item.added", self._index(item) | self._item(item, opens=True)
            )
        return item

    def _item_done(self, item: Out, status: str) -> None:
        item.status = status
        if self.options.item_done and not self._is_terminal_only(item):
            self._event("response.output_item.done", self._index(item) | self._item(item))

    def _is_terminal_only(self, item: Out) -> bool:
        mode = self.options.arguments if item.call else self.options.texts
        return mode == "terminal-only"

    def _item(self, item: Out, *, opens: bool = False) -> Json:
        value: Json = {"type": item.type, "status": item.status, **self._content(item, opens=opens)}
        item_id = self._item_id(item)
        return {"item": value | ({"id": item_id} if item_id else {})}

    def _content(self, item: Out, *, opens: bool) -> Json:
        if item.call is not None:
            arguments = self._arguments(item, item.call, opens=opens)
            field = CALLS[item.kind][1]
            return {"call_id": item.call.id, "name": item.call.name, field: arguments}
        parts = [] if opens or (item.encrypted and not item.text) else [part(item.kind, item.text)]
        other: Json = {"summary": []} if item.type == "reasoning" else {"role": "assistant"}
        other |= {"encrypted_content": item.encrypted} if item.encrypted else {}
        return other | {TEXTS[item.kind][1]: parts}

    def _arguments(self, item: Out, call: ToolCallStart, *, opens: bool) -> Any:  # noqa: ANN401 - text, or the object that it is
        if opens:
            return self.arguments[call.index] if self.options.arguments == "with-start" else ""
        as_object = self.options.arguments == "object" and call.kind == "function"
        return object_or_text(item.text) if as_object else item.text

    def _item_id(self, item: Out) -> str:
        changed = f"{item.id}-{len(self.values)}"
        return {"kept": item.id, "absent": "", "changing": changed}[self.options.item_ids]

    def _index(self, item: Out) -> Json:
        modes: dict[str, Json] = {"absent": {}, "zero": {"output_index": 0}}
        return modes.get(self.options.output_index, {"output_index": item.index})

    def _location(self, item: Out) -> Json:
        item_id = self._item_id(item)
        return self._index(item) | ({"item_id": item_id} if item_id else {})

    # The end of the turn

    def finish(self, word: str) -> None:
        self._end_run()
        last = self._response("completed", self._output())
        if self.reason in _REASONS:
            last |= {"status": "incomplete", "incomplete_details": {"reason": word}}
            last["completed_at"] = None
        self._terminal(last)

    def fail(self, failure: StreamFailure) -> None:
        if failure.code == "refusal":
            self._text("refusal", failure.message)
            self.reason = FinishReason.STOP
            self.finish("")
            return
        if self.options.texts != "deltas":
            self._end_run()
        error = {"code": failure.code, "message": failure.message}
        match self.options.failure:
            case "event":
                self._event("error", {**error, "param": None})
            case "nested-event":
                self._event("error", {"error": error})
            case "response":
                self._terminal(self._response("failed", self._output()) | {"error": error})

    def _terminal(self, last: Json) -> None:
        name = "done" if self.options.api == "realtime" else last["status"]
        self._about(f"response.{name}", last)

    def _about(self, kind: str, value: Json) -> None:
        is_realtime = self.options.api == "realtime"
        self._event(kind, {"response": as_realtime(value) if is_realtime else value})

    def _response(self, status: str, output: Json) -> Json:
        options = self.options
        return response(options.response_id, options.model, status, output, self._usage)

    def _output(self) -> Json:
        """Return the member `output` of the terminal event. A null or missing one is a quirk."""
        modes: dict[str, Json] = {"empty": {"output": []}, "null": {"output": None}, "absent": {}}
        if self.options.output in modes:
            return modes[self.options.output]
        return {"output": [self._last(item) for item in self._items]}

    def _last(self, item: Out) -> Json:
        """Return an item as the terminal event repeats it."""
        value: Json = self._item(item)["item"]
        other = "" if self._is_terminal_only(item) else self.options.last_ids
        if item.call is not None and other in ("other-call", "both-other"):
            value["call_id"] = f"{item.call.id}-again"
        if "id" in value and other in ("other-item", "both-other"):
            value["id"] = f"{value['id']}-again"
        return value

    # Events

    def _event(self, kind: str, fields: Json) -> None:
        number = len(self.values)
        event: Json = {"type": kind}
        if self.options.api == "realtime":
            event["event_id"] = f"event_{number + 1}"
            if "response" not in fields:
                event["response_id"] = self.options.response_id
        elif self.options.sequence == "counted":
            event["sequence_number"] = number
        elif self.options.sequence == "negative":
            event["sequence_number"] = -1
        self.values.append(event | fields)


write = writes_with(_Writer, WriterOptions)
