"""Deltas -> the events of a generateContent stream, in any spelling.

The way back from `read`: emulated cassettes, round-trip properties and fuzzing stand on it.
Source: Gemini API reference, `GenerateContentResponse`.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from harness.dialects.gemini.partial_args import PartialArguments, Step, format_path
from harness.dialects.gemini.read import FAILED
from harness.dialects.gemini.writer_options import WriterOptions
from harness.dialects.kit.writer import whole_arguments
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
from harness.turns.exact_json import decode_exactly, write_exactly
from harness.wire.sse import encode

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_CAPITAL = re.compile("[A-Z]")
_BREAK = re.compile(rb"[\r\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Raw(str):
    """JSON text that is written as it is: arguments, whose every digit counts."""

    __slots__ = ()


def framed(
    events: list[dict[str, Any]], spelling: WriterOptions, *, ended: bool
) -> tuple[bytes, ...]:
    """Return the bytes of each event; an array is only closed where the stream `ended`."""
    wrapped = [{"response": event} if spelling.wrapped else event for event in events]
    payloads = [_dump(event, snake=spelling.names == "snake") for event in wrapped]
    match spelling.framing:
        case "sse":
            line_end = _LINE_ENDS[spelling.line_end]
            return tuple(encode(payload, line_end=line_end) for payload in payloads)
        case "lines":
            # Arguments keep their spelling; a line end in it stands between tokens alone.
            return tuple(_BREAK.sub(b" ", payload) + b"\n" for payload in payloads)
        case "array":
            return _array(payloads, ended=ended)
        case "document":
            return tuple(payloads)
        case _:
            assert_never(spelling.framing)


def _array(payloads: list[bytes], *, ended: bool) -> tuple[bytes, ...]:
    if not payloads:
        return (b"[]",) if ended else ()
    elements = (b"[" + payloads[0], *(b"\n,\n" + payload for payload in payloads[1:]))
    return (*elements, b"\n]") if ended else elements


def _dump(value: object, *, snake: bool) -> bytes:
    text = _text(value, snake=snake)
    # Half a surrogate pair can only be escaped; it stands inside of strings alone.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _text(value: object, *, snake: bool) -> str:
    match value:
        case Raw():
            return value
        case dict():
            members = (
                f"{json.dumps(_snake(name) if snake else name)}: {_text(member, snake=snake)}"
                for name, member in value.items()
            )
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(_text(item, snake=snake) for item in value) + "]"
        case _:
            return write_exactly(value)


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)


PartJson = dict[str, Any]

# A string of more characters than this comes in two pieces.
_PIECE_CHARACTERS = 8


def call_parts(name: str, call_id: str, arguments: str, spelling: WriterOptions) -> list[PartJson]:
    """Return the parts of a call; arguments that are no object are written as a string."""
    call: PartJson = {"name": name, **({"id": call_id} if call_id else {})}
    pieces = _pieces(arguments) if spelling.arguments == "partial" else []
    if not pieces:
        return [{"functionCall": {**call, **_whole(arguments)}}]
    opening = {**call, "willContinue": True}
    more = [{"partialArgs": [piece], "willContinue": True} for piece in pieces]
    if spelling.call_end == "empty":
        return [{"functionCall": part} for part in (opening, *more, {})]
    more[-1] = {"partialArgs": more[-1]["partialArgs"]}
    return [{"functionCall": part} for part in (opening, *more)]


def _whole(arguments: str) -> PartJson:
    if not arguments:
        return {}
    return {"args": Raw(arguments) if _is_object(arguments) else arguments}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _pieces(arguments: str) -> list[PartJson]:
    """Return the partial arguments; none where they do not add up to these arguments."""
    try:
        value = decode_exactly(arguments.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    pieces = [piece for steps, leaf in _leaves(value, ()) for piece in _partial_args(steps, leaf)]
    added = PartialArguments()
    for piece in pieces:
        added.add(piece)
    return pieces if added.text() == arguments and not added.fault else []


def _leaves(value: object, steps: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], object]]:
    """Yield each value that is no container, with its steps."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, (*steps, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, (*steps, place))
    else:
        yield steps, value


def _partial_args(steps: tuple[Step, ...], leaf: object) -> list[PartJson]:
    path = format_path(steps)
    if isinstance(leaf, str):
        head, rest = leaf[:_PIECE_CHARACTERS], leaf[_PIECE_CHARACTERS:]
        texts = [head, rest, ""] if rest else [head, ""]
        return [
            {"jsonPath": path, "stringValue": text}
            | ({"willContinue": True} if place < len(texts) - 1 else {})
            for place, text in enumerate(texts)
        ]
    if leaf is None:
        return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
    return [{"jsonPath": path, "boolValue" if isinstance(leaf, bool) else "numberValue": leaf}]


_FINISH_WORDS = {
    FinishReason.STOP: "STOP",
    FinishReason.TOOL_CALLS: "STOP",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "SAFETY",
    FinishReason.OTHER: "OTHER",
}
_FINISH_NUMBERS = {"STOP": 1, "MAX_TOKENS": 2, "SAFETY": 3, "RECITATION": 4, "OTHER": 5}
# Failures that are told by what the stream leaves out, not by an error object.
_SILENT_FAILURES = frozenset(("interrupted", "empty_stream", "calls_missing"))

Json = dict[str, Any]


def write(deltas: Iterable[Delta], spelling: WriterOptions | None = None) -> tuple[bytes, ...]:
    """Return the stream's events as they are framed; joined, they are the body."""
    return _Writer(tuple(deltas), spelling or WriterOptions()).events()


class _Writer:
    """Writes one stream; `_events` are the JSON values."""

    def __init__(self, deltas: tuple[Delta, ...], spelling: WriterOptions) -> None:
        self._deltas = deltas
        self._spelling = spelling
        self._events: list[Json] = []
        self._starts = {d.index: d for d in deltas if isinstance(d, ToolCallStart)}
        self._whole = whole_arguments(deltas)
        self._usage: Json = {}
        self._ended = True

    def events(self) -> tuple[bytes, ...]:
        for delta in self._deltas:
            self._write(delta)
        if self._spelling.framing == "document":
            self._events = [_merged(self._events)] if self._events else []
        return framed(self._events, self._spelling, ended=self._ended)

    def _write(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self._content([{"text": delta.text}])
            case ReasoningDelta():
                self._content([{"text": delta.text, "thought": True}])
            case ToolCallStart():
                self._call(delta)
            case ArgumentsDelta() | ToolCallEnd() | ToolCallRejected():
                pass  # a call is written where it starts
            case UsageDelta():
                self._counts(delta)
            case Finish():
                self._finish(delta)
            case StreamFailure():
                self._fail(delta)
            case _:
                assert_never(delta)

    def _call(self, start: ToolCallStart) -> None:
        spelling = self._spelling
        if spelling.together and start.index != min(self._starts):
            return  # all calls stand where the first one does
        starts = list(self._starts.values()) if spelling.together else [start]
        calls = [self._parts(each) for each in starts]
        if spelling.together:
            self._content([part for parts in calls for part in parts])
            return
        for part in calls[0]:
            self._content([part])

    def _parts(self, start: ToolCallStart) -> list[Json]:
        spelling = self._spelling
        call_id = start.id if spelling.call_id == "own" else ""
        parts = call_parts(start.name, call_id, self._whole[start.index], spelling)
        first = start.index == min(self._starts)
        if spelling.signature == "all" or (spelling.signature == "first" and first):
            parts[0]["thoughtSignature"] = "c2lnbmF0dXJl"
        return parts

    # The end of the turn

    def _counts(self, delta: UsageDelta) -> None:
        counts = {
            "promptTokenCount": delta.usage.input_tokens,
            "candidatesTokenCount": delta.usage.output_tokens,
        }
        self._usage = {name: count for name, count in counts.items() if count is not None}
        self._usage["totalTokenCount"] = sum(self._usage.values())
        if not self._events:
            self._event({})
        self._events[-1]["usageMetadata"] = self._usage

    def _finish(self, delta: Finish) -> None:
        word: str | int = delta.raw or _FINISH_WORDS[delta.reason]
        match self._spelling.finish:
            case "absent":
                return
            case "with-last" if self._events and self._events[-1].get("candidates"):
                self._events[-1]["candidates"][0]["finishReason"] = word
                return
            case "no-parts":
                content: Json = {"content": {"role": "model"}}
            case "no-content":
                content = {}
            case "number":
                word = _FINISH_NUMBERS.get(str(word), word)
                content = {"content": {"parts": [{"text": ""}], "role": "model"}}
            case _:
                content = {"content": {"parts": [{"text": ""}], "role": "model"}}
        self._candidate({**content, "finishReason": word})

    def _fail(self, delta: StreamFailure) -> None:
        self._ended = False
        if delta.code in FAILED:
            self._ended = True
            self._candidate({"finishReason": delta.code, "finishMessage": delta.message})
        elif delta.code not in _SILENT_FAILURES:
            error = {"code": 500, "message": delta.message, "status": delta.code}
            self._events.append({"error": error})

    # Events

    def _content(self, parts: list[Json]) -> None:
        self._candidate({"content": {"parts": parts, "role": "model"}})

    def _candidate(self, fields: Json) -> None:
        index = self._spelling.candidate
        self._event({"candidates": [fields if index is None else {**fields, "index": index}]})

    def _event(self, fields: Json) -> None:
        spelling = self._spelling
        usage = {"usageMetadata": self._usage} if self._usage and spelling.usage == "each" else {}
        about = {"modelVersion": spelling.model, "responseId": spelling.response_id}
        self._events.append({**fields, **usage, **about})


def _merged(events: list[Json]) -> Json:
    """Return the one response that was not streamed: all parts in one candidate."""
    whole: Json = {}
    for event in events:
        candidates = [_with_parts_of(whole, candidate) for candidate in event.get("candidates", ())]
        whole = {**whole, **event} | ({"candidates": candidates} if candidates else {})
    return whole


def _with_parts_of(whole: Json, candidate: Json) -> Json:
    before = whole.get("candidates", [{}])[0]
    parts = _parts_of(before) + _parts_of(candidate)
    content = {"content": {"parts": parts, "role": "model"}} if parts else {}
    return {**before, **candidate, **content}


def _parts_of(candidate: Json) -> list[Json]:
    parts: list[Json] = candidate.get("content", {}).get("parts", [])
    return parts
