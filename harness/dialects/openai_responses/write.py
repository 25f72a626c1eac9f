"""Deltas -> the events of a Responses stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Each run of text or reasoning is one item, and so is each call.
Source: OpenAI API reference, "Responses: streaming events".
"""

import json
from collections.abc import Iterable
from typing import Any, Final, assert_never

from harness.dialects.kit.writer import whole_arguments
from harness.dialects.openai_responses.output import (
    CALLS,
    PLACES,
    TEXTS,
    Json,
    Out,
    as_realtime,
    part,
    response,
)
from harness.dialects.openai_responses.writer_options import WriterOptions, possible_options
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.exact_json import encode_json
from harness.wire.sse import encode

_LINE_ENDS: Final = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
# Failures that are told by what the stream leaves out, not by an error.
_SILENT: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))
_REASONS: Final = {
    FinishReason.LENGTH: "max_output_tokens",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "",
}
# Arguments that stand in no event before that of the item, or of the response.
_LATE: Final = frozenset(("item-only", "terminal-only", "object"))
_OBFUSCATION: Final = "XkP9aQ"
# How texts are told where their parts have events of their own.
_TOLD_IN_PARTS: Final = frozenset(("deltas", "part-only"))


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its blank line; joined, they are the body."""
    return _Writer(tuple(deltas), possible_options(spelling or WriterOptions())).events()


class _Writer:
    """Writes one stream; `_events` are the JSON values."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._events: list[Json] = []
        self._items: list[Out] = []
        self._calls: dict[int, Out] = {}
        self._run: Out | None = None  # the text that may still grow
        self._usage: Usage | None = None
        self._whole = whole_arguments(deltas)
        self._cut_short = any(
            isinstance(delta, Finish) and delta.reason in _REASONS for delta in deltas
        )

    def events(self) -> tuple[bytes, ...]:
        if self._deltas != (StreamFailure("empty_stream"),):
            begun = self._response("in_progress", {"output": []})
            self._about("response.created", begun)
            if self._spelling.api == "responses":
                self._about("response.in_progress", begun)
        for delta in self._deltas:
            self._write(delta)
        return tuple(map(self._framed, self._events)) + self._done()

    def _done(self) -> tuple[bytes, ...]:
        line_end = _LINE_ENDS[self._spelling.line_end]
        over = isinstance(self._deltas[-1], Finish) if self._deltas else False
        return (encode(b"[DONE]", line_end=line_end),) if self._spelling.done and over else ()

    def _framed(self, event: Json) -> bytes:
        name = event["type"] if self._spelling.event_lines else ""
        return encode(encode_json(event), event=name, line_end=_LINE_ENDS[self._spelling.line_end])

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._text("text", delta.text)
            case ReasoningDelta():
                self._text("summary" if self._is_summary() else "reasoning", delta.text)
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                self._fragment(delta)
            case ToolCallEnd():
                self._end(self._calls[delta.index], "completed")
            case ToolCallRejected():
                status = "incomplete" if self._cut_short else "completed"
                self._end(self._calls[delta.index], status)
            case UsageDelta():
                self._usage = delta.usage
            case Finish():
                self._finish(delta)
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    def _is_summary(self) -> bool:
        return self._spelling.reasoning == "summary"

    # Texts

    def _text(self, kind: str, piece: str) -> None:
        if self._run is None or self._run.kind != kind:
            self._end_run()
            self._run = self._open(Out(len(self._items), kind))
            self._part(self._run, "added", "")
        self._run.pieces.append(piece)
        if self._spelling.texts == "deltas":
            self._said(self._run, "delta", {"delta": piece} | self._padding())

    def _end_run(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        if self._spelling.texts in _TOLD_IN_PARTS:
            self._said(run, "done", {_field(run): run.whole})
        self._part(run, "done", run.whole)
        self._item_done(run, "completed")

    def _part(self, run: Out, word: str, said: str) -> None:
        """Open or close the one part of an item that is told in parts."""
        if self._spelling.texts in _TOLD_IN_PARTS:
            place, name = PLACES[run.kind]
            fields = self._place(run) | {place: 0, "part": part(run.kind, said)}
            self._event(f"response.{name}.{word}", fields)

    def _said(self, run: Out, word: str, said: Json) -> None:
        more: Json = {"logprobs": []} if run.kind == "text" else {}
        fields = self._place(run) | {PLACES[run.kind][0]: 0} | said | more
        self._event(f"response.{TEXTS[run.kind][3]}.{word}", fields)

    def _padding(self) -> Json:
        return {"obfuscation": _OBFUSCATION} if self._spelling.obfuscation else {}

    # Calls

    def _start(self, delta: ToolCallStart) -> None:
        self._end_run()
        self._calls[delta.index] = self._open(Out(len(self._items), delta.kind, delta))

    def _fragment(self, delta: ArgumentsDelta) -> None:
        call = self._calls[delta.index]
        call.pieces.append(delta.fragment)
        if self._spelling.arguments == "fragments":
            fields = self._place(call) | {"delta": delta.fragment} | self._padding()
            self._event(f"response.{CALLS[call.kind][2]}.delta", fields)

    def _end(self, call: Out, status: str) -> None:
        self._end_run()
        if self._spelling.arguments not in _LATE and self._spelling.item_done:
            _, field, name = CALLS[call.kind]
            self._event(f"response.{name}.done", self._place(call) | {field: call.whole})
        self._item_done(call, status)

    # Items

    def _open(self, item: Out) -> Out:
        self._items.append(item)
        if not self._is_only_told_at_the_end(item):
            self._event(
                "response.output_item.added", self._index(item) | self._item(item, opens=True)
            )
        return item

    def _item_done(self, item: Out, status: str) -> None:
        item.status = status
        if self._spelling.item_done and not self._is_only_told_at_the_end(item):
            self._event("response.output_item.done", self._index(item) | self._item(item))

    def _is_only_told_at_the_end(self, item: Out) -> bool:
        told = self._spelling.arguments if item.call else self._spelling.texts
        return told == "terminal-only"

    def _item(self, item: Out, *, opens: bool = False) -> Json:
        value: Json = {"type": item.type, "status": item.status, **self._content(item, opens=opens)}
        item_id = self._item_id(item)
        return {"item": value | ({"id": item_id} if item_id else {})}

    def _content(self, item: Out, *, opens: bool) -> Json:
        if item.call is not None:
            arguments = self._arguments(item, item.call, opens=opens)
            field = CALLS[item.kind][1]
            return {"call_id": item.call.id, "name": item.call.name, field: arguments}
        parts = [] if opens else [part(item.kind, item.whole)]
        other: Json = {"summary": []} if item.type == "reasoning" else {"role": "assistant"}
        return other | {TEXTS[item.kind][1]: parts}

    def _arguments(self, item: Out, call: ToolCallStart, *, opens: bool) -> Any:  # noqa: ANN401 - text, or the object that it spells
        if opens:
            return self._whole[call.index] if self._spelling.arguments == "with-start" else ""
        as_object = self._spelling.arguments == "object" and call.kind == "function"
        return _object_or_text(item.whole) if as_object else item.whole

    def _item_id(self, item: Out) -> str:
        match self._spelling.item_ids:
            case "absent":
                return ""
            case "changing":
                return f"{item.id}-{len(self._events)}"
            case _:
                return item.id

    def _index(self, item: Out) -> Json:
        match self._spelling.output_index:
            case "absent":
                return {}
            case "zero":
                return {"output_index": 0}
            case _:
                return {"output_index": item.index}

    def _place(self, item: Out) -> Json:
        item_id = self._item_id(item)
        return self._index(item) | ({"item_id": item_id} if item_id else {})

    # The end of the turn

    def _finish(self, delta: Finish) -> None:
        self._end_run()
        last = self._response("completed", self._output())
        if delta.reason in _REASONS:
            reason = delta.raw or _REASONS[delta.reason]
            last |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        self._terminal(last)

    def _fail(self, delta: StreamFailure) -> None:
        if delta.code == "refusal":
            self._text("refusal", delta.message)
            self._finish(Finish(FinishReason.STOP))
            return
        if delta.code in _SILENT:
            return
        if self._spelling.texts != "deltas":
            self._end_run()
        error = {"code": delta.code, "message": delta.message}
        match self._spelling.failure:
            case "event":
                self._event("error", {**error, "param": None})
            case "nested-event":
                self._event("error", {"error": error})
            case _:
                self._terminal(self._response("failed", self._output()) | {"error": error})

    def _terminal(self, last: Json) -> None:
        name = "done" if self._spelling.api == "realtime" else last["status"]
        self._about(f"response.{name}", last)

    def _about(self, kind: str, value: Json) -> None:
        is_realtime = self._spelling.api == "realtime"
        self._event(kind, {"response": as_realtime(value) if is_realtime else value})

    def _response(self, status: str, output: Json) -> Json:
        spelling = self._spelling
        return response(spelling.response_id, spelling.model, status, output, self._usage)

    def _output(self) -> Json:
        """Return the field `output` of the terminal event; null and none at all are quirks."""
        match self._spelling.output:
            case "empty":
                return {"output": []}
            case "null":
                return {"output": None}
            case "absent":
                return {}
            case _:
                return {"output": [self._last(item) for item in self._items]}

    def _last(self, item: Out) -> Json:
        """Return an item as the terminal event repeats it."""
        value: Json = self._item(item)["item"]
        other = "" if self._is_only_told_at_the_end(item) else self._spelling.last_ids
        if item.call is not None and other in ("other-call", "both-other"):
            value["call_id"] = f"{item.call.id}-again"
        if "id" in value and other in ("other-item", "both-other"):
            value["id"] = f"{value['id']}-again"
        return value

    # Events

    def _event(self, kind: str, fields: Json) -> None:
        number = len(self._events)
        event: Json = {"type": kind}
        if self._spelling.api == "realtime":
            event["event_id"] = f"event_{number + 1}"
            if "response" not in fields:
                event["response_id"] = self._spelling.response_id
        elif self._spelling.sequence == "counted":
            event["sequence_number"] = number
        elif self._spelling.sequence == "negative":
            event["sequence_number"] = -1
        self._events.append(event | fields)


def _field(run: Out) -> str:
    """Return the field of the event that ends a text."""
    return "refusal" if run.kind == "refusal" else "text"


def _object_or_text(text: str) -> Any:  # noqa: ANN401 - a JSON object where the text is one
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
