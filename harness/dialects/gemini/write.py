"""Write deltas as the events of a generateContent stream, controlled by options.

Source: Gemini API reference, `GenerateContentResponse`.
"""

import json
import re
from collections.abc import Iterator
from typing import ClassVar, Final, Literal

from harness.dialects.gemini.partial_args import PartialArguments, Step, format_path, snake_case
from harness.dialects.gemini.read import FAILED, NUMBERS
from harness.dialects.kit.frames import json_array, json_lines, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    Json,
    Writer,
    finish_words,
    json_object,
    token_counts,
    writes_with,
)
from harness.turns.deltas import SealedDelta, StreamFailure, ToolCallStart, Usage
from harness.turns.exact_json import decode_exactly, write_exactly


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `gemini` writes a stream.

    The default of each option is what the API documents.

    Fields:
        framing: SSE as with `alt=sse`, or one JSON array as without it, or one object on each
            line, as clients log it; `document` is the complete response that was not streamed.
        line_end: the end of lines in server-sent events.
        names: `snake` is how Python clients write the members.
        wrapped: each event inside `response`, as Code Assist does.
        call_id: the API's id is optional (`GEM-NO-ID`).
        together: parallel calls in the parts of one event (`GEM-PARALLEL-SEPARATE-CHUNKS`
            if they are apart).
        arguments: `partial` streams them as Vertex AI does (`GEM-PARTIAL-ARGS`).
        call_end: how a call in parts ends: an empty part, or the last one with a value.
        signature: which calls have a `thoughtSignature`, if no delta specifies it
            (`GEM-SIGNATURE-FIRST-ONLY`).
        finish: the form of the finish reason (`GEM-FINISH-NO-PARTS`, `GEM-FINISH-NUMBER`);
            `absent` leaves it out.
        usage: running totals in each event, or only at the end.
        candidate: the index of the candidate; None leaves it out.
        model, response_id: their values in the events.
    """

    framing: Literal["sse", "array", "lines", "document"] = "sse"
    line_end: Literal["crlf", "lf", "cr"] = "crlf"
    names: Literal["camel", "snake"] = "camel"
    wrapped: bool = False
    call_id: Literal["own", "absent"] = "own"
    together: bool = False
    arguments: Literal["whole", "partial"] = "whole"
    call_end: Literal["empty", "with-value"] = "empty"
    signature: Literal["first", "all", "absent"] = "first"
    finish: Literal["own-event", "with-last", "no-parts", "no-content", "number", "absent"] = (
        "own-event"
    )
    usage: Literal["each", "last"] = "each"
    candidate: int | None = 0
    model: str = "gemini-2.5-flash"
    response_id: str = "r-1"


_SIGNATURE: Final = "thoughtSignature"
_BREAK: Final = re.compile(rb"[\r\n]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_FINISH_NUMBERS: Final = {word: number for number, word in NUMBERS.items()}
# A string of more characters than this comes in two pieces.
_PIECE_CHARACTERS: Final = 8


class Raw(str):
    """JSON text that the encoder writes unchanged, so that arguments keep every digit."""

    __slots__ = ()


def _framed(events: list[Json], options: WriterOptions, *, ended: bool) -> tuple[bytes, ...]:
    """Return the bytes of each event. An array is closed only if the stream `ended`."""
    wrapped = [{"response": event} if options.wrapped else event for event in events]
    payloads = [_dump(event, snake=options.names == "snake") for event in wrapped]
    match options.framing:
        case "sse":
            return sse_events(payloads, line_end=options.line_end)
        case "lines":
            # Arguments keep their text, in which a line end can only be between tokens.
            return json_lines(_BREAK.sub(b" ", payload) for payload in payloads)
        case "array":
            return json_array(payloads, b"\n,\n", b"\n]", ended=ended)
        case "document":
            return tuple(payloads)


def _dump(value: object, *, snake: bool) -> bytes:
    text = _text(value, snake=snake)
    # Half a surrogate pair can only be escaped; it can only be inside a string.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _text(value: object, *, snake: bool) -> str:
    match value:
        case Raw():
            return value
        case dict():
            members = (
                f"{json.dumps(snake_case(name) if snake else name)}: {_text(member, snake=snake)}"
                for name, member in value.items()
            )
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(_text(item, snake=snake) for item in value) + "]"
        case _:
            return write_exactly(value)


def _call_parts(start: ToolCallStart, arguments: str, options: WriterOptions) -> list[Json]:
    """Return the parts of a call; arguments that are not an object are written as a string."""
    call: Json = {"name": start.name}
    if start.id and options.call_id == "own":
        call["id"] = start.id
    pieces = _pieces(arguments) if options.arguments == "partial" else []
    if not pieces:
        return [{"functionCall": {**call, **_args(arguments)}}]
    parts: list[Json] = [call, *({"partialArgs": [piece]} for piece in pieces)]
    parts += [{}] if options.call_end == "empty" else []
    continued = [{**part, "willContinue": True} for part in parts[:-1]]
    return [{"functionCall": part} for part in (*continued, parts[-1])]


def _args(arguments: str) -> Json:
    if not arguments:
        return {}
    return {"args": arguments if json_object(arguments) is None else Raw(arguments)}


def _pieces(arguments: str) -> list[Json]:
    """Return the partial arguments; none if they would not add up to the same arguments."""
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
    """Yield the path and value of each value that is neither an object nor an array."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, (*steps, name))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _leaves(item, (*steps, position))
    else:
        yield steps, value


def _partial_args(steps: tuple[Step, ...], leaf: object) -> list[Json]:
    path = format_path(steps)
    if isinstance(leaf, str):
        head, rest = leaf[:_PIECE_CHARACTERS], leaf[_PIECE_CHARACTERS:]
        texts = [head, rest, ""] if rest else [head, ""]
        return [
            {"jsonPath": path, "stringValue": text}
            | ({"willContinue": True} if position < len(texts) - 1 else {})
            for position, text in enumerate(texts)
        ]
    if leaf is None:
        return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
    return [{"jsonPath": path, "boolValue" if isinstance(leaf, bool) else "numberValue": leaf}]


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `gemini`."""

    FINISH_WORDS: ClassVar = finish_words(
        stop="STOP", tool_calls="STOP", length="MAX_TOKENS", content_filter="SAFETY", other="OTHER"
    )

    def begin(self) -> None:
        # The tokens of the prompt are known from the first event on.
        self._usage = _usage_metadata(Usage(self.total.input_tokens))
        sealed = [each for each in self.deltas if isinstance(each, SealedDelta)]
        self._signatures = {each.index: each.value for each in sealed if each.of == "call"}

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        if self.options.framing == "document":
            self.values = [_merged(self.values)] if self.values else []
        return _framed(self.values, self.options, ended=not self.failed)

    def text(self, text: str) -> None:
        self._content([{"text": text}])

    def reasoning(self, text: str) -> None:
        self._content([{"text": text, "thought": True}])

    def seal(self, delta: SealedDelta) -> None:
        if delta.kind != _SIGNATURE:
            super().seal(delta)
        if delta.of != "call":  # that of a call is on its part
            thought = {"thought": True} if delta.of == "reasoning" else {}
            self._content([{"text": "", **thought, _SIGNATURE: delta.value}])

    def start_call(self, start: ToolCallStart) -> None:
        if not self.options.together:
            for part in self._parts(start):
                self._content([part])
        elif start.index == min(self.starts):  # all calls are written with the first one
            self._content([part for each in self.starts.values() for part in self._parts(each)])

    def _parts(self, start: ToolCallStart) -> list[Json]:
        options = self.options
        parts = _call_parts(start, self.arguments[start.index], options)
        first = start.index == min(self.starts)
        if self.has_sealed:
            signature = self._signatures.get(start.index)
            parts[0] |= {_SIGNATURE: signature} if signature else {}
        elif options.signature == "all" or (options.signature == "first" and first):
            parts[0][_SIGNATURE] = "c2lnbmF0dXJl"
        return parts

    # The end of the turn

    def count(self, usage: Usage) -> None:
        self._usage = _usage_metadata(usage)
        if not self.values:
            self._event({})
        self.values[-1]["usageMetadata"] = self._usage

    def finish(self, word: str) -> None:
        content: Json = {"content": {"parts": [{"text": ""}], "role": "model"}}
        reason: str | int = word
        match self.options.finish:
            case "absent":
                return
            case "with-last" if self.values and self.values[-1].get("candidates"):
                self.values[-1]["candidates"][0]["finishReason"] = word
                return
            case "no-parts":
                content = {"content": {"role": "model"}}
            case "no-content":
                content = {}
            case "number":
                reason = _FINISH_NUMBERS.get(word, word)
            case _:
                pass
        self._candidate({**content, "finishReason": reason})

    def fail(self, failure: StreamFailure) -> None:
        if failure.code in FAILED:
            self.failed = False  # the API's own word for it ends the stream well
            self._candidate({"finishReason": failure.code, "finishMessage": failure.message})
            return
        error = {"code": 500, "message": failure.message, "status": failure.code}
        self.values.append({"error": error})

    # Events

    def _content(self, parts: list[Json]) -> None:
        self._candidate({"content": {"parts": parts, "role": "model"}})

    def _candidate(self, fields: Json) -> None:
        index = self.options.candidate
        self._event({"candidates": [fields if index is None else {**fields, "index": index}]})

    def _event(self, fields: Json) -> None:
        options = self.options
        usage = {"usageMetadata": self._usage} if self._usage and options.usage == "each" else {}
        about = {"modelVersion": options.model, "responseId": options.response_id}
        self.values.append({**fields, **usage, **about})


def _usage_metadata(usage: Usage) -> Json:
    """Return the counts; {} if the tokens of the prompt and of the answer are unknown."""
    counts = token_counts(usage, "promptTokenCount", "candidatesTokenCount")
    if not counts:
        return {}
    details = [{"modality": "TEXT", "tokenCount": usage.input_tokens}]
    prompt = {} if usage.input_tokens is None else {"promptTokensDetails": details}
    return {**counts, "totalTokenCount": sum(counts.values()), **prompt}


def _merged(events: list[Json]) -> Json:
    """Return the response without streaming: all parts in one candidate."""
    whole: Json = {}
    candidate: Json = {}
    parts: list[Json] = []
    for event in events:
        whole |= event
        for each in event.get("candidates", ()):
            candidate |= each
            parts += each.get("content", {}).get("parts", [])
    content = {"content": {"parts": parts, "role": "model"}} if parts else {}
    return whole | ({"candidates": [candidate | content]} if candidate else {})


write = writes_with(_Writer, WriterOptions)
