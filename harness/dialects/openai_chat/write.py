"""Deltas -> the events of an openai-chat stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Source: OpenAI API reference, "The chat completion chunk object".
"""

import json
from collections.abc import Iterable
from typing import Any, assert_never

from harness.dialects.kit.writer import whole_arguments
from harness.dialects.openai_chat.writer_options import WriterOptions
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
    UsageDelta,
)
from harness.wire.sse import encode

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_FINISH_WORDS = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.OTHER: "other",
}
# Failures that are told by what the stream leaves out, not by an error object.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))
_WHOLE = frozenset(("with-start", "object"))
# The field of a call that holds what the model gives it.
_ARGUMENTS = {"function": "arguments", "custom": "input"}
_CREATED = 1_760_000_000

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events, each with its blank line; joined, they are the body."""
    return _Writer(tuple(deltas), spelling or WriterOptions()).events()


class _Writer:
    """Writes one stream; `_chunks` are the JSON values, `events` their framing."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._chunks: list[Json] = []
        self._whole = whole_arguments(deltas)
        self._starts = {d.index: d for d in deltas if isinstance(d, ToolCallStart)}
        self._sent = dict.fromkeys(self._whole, "")
        self._at_once = self._spelling.one_chunk or self._spelling.where == "message"
        self._ended = True

    def events(self) -> tuple[bytes, ...]:
        if self._spelling.finish == "stop-too-early":
            self._choice({"role": "assistant", "content": ""}, finish="stop")
        for delta in self._deltas:
            self._write(delta)
        payloads = [_dump(chunk) for chunk in self._chunks]
        if self._ended and self._spelling.done:
            payloads.append(b"[DONE]")
        return self._framed(payloads)

    def _framed(self, payloads: list[bytes]) -> tuple[bytes, ...]:
        spelling = self._spelling
        line_end = _LINE_ENDS[spelling.line_end]
        comment = f":{spelling.comment}".encode() + line_end * 2 if spelling.comment else b""
        events = [
            comment
            + encode(payload, event=spelling.event_name, line_end=line_end, space=spelling.space)
            for payload in payloads
        ]
        if spelling.bom and events:
            events[0] = b"\xef\xbb\xbf" + events[0]
        return tuple(events)

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._choice({"content": delta.text, **self._idle("tool_calls")})
            case ReasoningDelta():
                self._choice({self._spelling.reasoning_field: delta.text, **self._idle("content")})
            case ToolCallStart():
                self._start(delta)
            case ArgumentsDelta():
                self._fragment(delta)
            case ToolCallEnd() | ToolCallRejected():
                self._end(delta.index)
            case UsageDelta():
                self._usage(delta)
            case Finish():
                self._finish(delta)
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    def _idle(self, field: str) -> Json:
        match self._spelling.idle:
            case "null":
                return {field: None}
            case "empty":
                return {field: [] if field == "tool_calls" else ""}
            case _:
                return {}

    # Calls

    def _start(self, delta: ToolCallStart) -> None:
        if self._at_once:
            if delta.index == min(self._starts):
                self._calls([self._entry(i, self._whole[i], opens=True) for i in self._starts])
            return
        pieces = _pieces(delta.name, self._spelling.name_pieces)
        for at, piece in enumerate(pieces):
            is_last = at == len(pieces) - 1  # the name is whole before its arguments begin
            arguments = self._first_arguments(delta.index) if is_last else ""
            entry = self._entry(delta.index, arguments, opens=at == 0)
            entry[delta.kind]["name"] = piece
            self._calls([entry])

    def _first_arguments(self, index: int) -> Any:  # noqa: ANN401 - any JSON: that is the quirk
        whole = self._whole[index]
        match self._spelling.arguments:
            case "with-start":
                return whole
            case "object":
                return _object_or_text(whole)
            case "null-first":
                return None
            case "placeholder-first" if whole.startswith("{") and whole != "{}":
                return "{}"
            case _:
                return ""

    def _fragment(self, delta: ArgumentsDelta) -> None:
        spelling = self._spelling
        if self._at_once or spelling.arguments in _WHOLE:
            return
        self._sent[delta.index] += delta.fragment
        cumulative = spelling.arguments == "cumulative"
        text = self._sent[delta.index] if cumulative else delta.fragment
        self._calls([self._entry(delta.index, text)])

    def _end(self, index: int) -> None:
        again = self._spelling.arguments == "whole-again" and not self._at_once
        if again and self._whole[index]:
            self._calls([self._entry(index, self._whole[index])])

    def _entry(self, index: int, arguments: Any, *, opens: bool = False) -> Json:  # noqa: ANN401 - as above
        spelling = self._spelling
        start = self._starts[index]
        entry: Json = {**self._index(index)}
        changed = f"{start.id}-{len(self._chunks)}"
        entry |= _field("id", spelling.first_id if opens else spelling.later_id, start.id, changed)
        if spelling.call_type == "always" or (opens and spelling.call_type == "first"):
            entry["type"] = start.kind
        elif spelling.call_type in ("null", "empty"):
            entry["type"] = None if spelling.call_type == "null" else ""
        function = _field("name", "repeated" if opens else spelling.later_name, start.name)
        if not (opens and spelling.arguments == "absent-first" and arguments == ""):
            function[_ARGUMENTS[start.kind]] = arguments
        entry[start.kind] = function
        return entry

    def _index(self, index: int) -> Json:
        match self._spelling.index:
            case "absent":
                return {}
            case "null":
                return {"index": None}
            case "from-one":
                return {"index": index + 1}
            case "negative":
                return {"index": index - 1}
            case "zero":
                return {"index": 0}
            case _:
                return {"index": index}

    def _calls(self, entries: list[Json]) -> None:
        idle = self._idle("content")
        match self._spelling.where:
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

    def _usage(self, delta: UsageDelta) -> None:
        usage = {
            "prompt_tokens": delta.usage.input_tokens,
            "completion_tokens": delta.usage.output_tokens,
            "total_tokens": (delta.usage.input_tokens or 0) + (delta.usage.output_tokens or 0),
        }
        match self._spelling.usage:
            case "choices-null":
                self._chunk({"choices": None, "usage": usage})
            case "choices-absent":
                self._chunk({"usage": usage})
            case "with-finish" if self._chunks:
                self._chunks[-1]["usage"] = usage
            case _:
                self._chunk({"choices": [], "usage": usage})

    def _finish(self, delta: Finish) -> None:
        word = delta.raw or _FINISH_WORDS[delta.reason]
        match self._spelling.finish:
            case "absent":
                return
            case "with-call" if self._chunks and self._chunks[-1].get("choices"):
                self._chunks[-1]["choices"][0]["finish_reason"] = word
            case "empty-until-last":
                for chunk in self._chunks:
                    for choice in chunk.get("choices") or ():
                        choice["finish_reason"] = ""
                self._choice({}, finish=word)
            case "twice":
                self._choice({}, finish=word)
                self._choice({}, finish=word)
            case "then-stop":
                self._choice({}, finish=word)
                self._choice({}, finish="stop")
            case _:
                self._choice({}, finish=word)

    def _fail(self, delta: StreamFailure) -> None:
        if delta.code == "refusal":
            self._choice({"refusal": delta.message})
            return
        self._ended = False
        if delta.code not in _SILENT_FAILURES:
            self._chunks.append({"error": {"message": delta.message, "code": delta.code}})

    # Chunks

    def _choice(self, delta: Json, *, finish: str | None = None, field: str = "delta") -> None:
        spelling = self._spelling
        choice: Json = {} if spelling.choice is None else {"index": spelling.choice}
        if spelling.role == "each" or (spelling.role == "first" and not self._chunks):
            delta = {"role": "assistant", **delta}
        choice[field] = delta
        if finish is not None or spelling.open_finish == "null":
            choice["finish_reason"] = finish
        usage: Json = {"usage": None} if spelling.open_usage == "null" else {}
        self._chunk({"choices": [choice], **usage})

    def _chunk(self, fields: Json) -> None:
        spelling = self._spelling
        number = f"-{len(self._chunks)}" if spelling.new_response_ids else ""
        self._chunks.append(
            {
                "id": spelling.response_id + number,
                "object": "chat.completion.chunk",
                "created": _CREATED,
                "model": spelling.model,
                **fields,
            }
        )


def _dump(chunk: Json) -> bytes:
    """Return the chunk as readable JSON; half a surrogate pair can only be escaped."""
    try:
        return json.dumps(chunk, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(chunk).encode()


def _field(name: str, spelling: str, value: str, changed: str = "") -> Json:
    """Return the field `name` in one of the ways of `Later`, or changed."""
    options: dict[str, Json] = {
        "absent": {},
        "empty": {name: ""},
        "null": {name: None},
        "repeated": {name: value},
        "changed": {name: changed},
    }
    return options[spelling]


def _object_or_text(text: str) -> Any:  # noqa: ANN401 - a JSON object where the text is one
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def _pieces(name: str, count: int) -> list[str]:
    """Cut `name` into at most `count` pieces, none of them empty unless the name is."""
    size = max(1, -(-len(name) // max(1, count)))
    return [name[at : at + size] for at in range(0, len(name), size)] or [""]
