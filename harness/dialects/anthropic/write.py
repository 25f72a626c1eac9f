"""Write deltas as the events of a messages stream, controlled by options.

Source: Anthropic API reference, "Streaming Messages".
"""

from abc import abstractmethod
from typing import ClassVar, Final, Literal

from harness.dialects.kit.frames import DONE, LineEnd, json_array, json_lines, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    CallEnd,
    Json,
    Writer,
    finish_words,
    json_object,
    writes_with,
)
from harness.turns.deltas import Delta, SealedDelta, StreamFailure, ToolCallStart, Usage
from harness.turns.exact_json import encode_json


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `anthropic` writes a stream.

    The default of each option is what the API documents.

    Fields:
        input: how the input of a call comes: fragments after an empty one, fragments alone,
            one fragment, an object in place of text, complete in the start of the block
            (`ANT-FULL-INPUT-IN-START`), or both in the start and in fragments.
        start_input: the placeholder in the start of a call (`ANT-START-INPUT-PLUS-DELTA`).
        text_at: which event has the first part of a text block; `no-start` leaves out its start.
        index: how blocks are numbered; `zero` and `absent` as some bridges number them.
        block_stop: whether blocks are closed.
        start_twice: whether the start of a call comes twice.
        signature: the position of the signature of a thinking block, if no delta specifies it;
            `on-calls` puts it on calls (`ANT-SIGNATURE-MISPLACED`).
        server_tool: whether the provider runs its own tool before all else.
        ping: which `ping` events the stream has (`ANT-UNKNOWN-EVENT`).
        unknown: events, blocks and deltas of types that no client knows (`ANT-UNKNOWN-EVENT`).
        whole: the complete message, within its start (`ANT-WHOLE-IN-START`) or as the one
            document that a request without a stream gets.
        finish: how often the stop reason comes, and its value in earlier events.
        message_stop: whether the event comes that ends the message.
        metrics: what Bedrock adds to the event that ends the message.
        usage: which event has the numbers of tokens.
        done: whether `[DONE]` follows, as gateways add it.
        event_line: whether events are named (`ANT-NO-EVENT-LINE`), or all alike (`chunk`).
        framing: the framing that a tool or a proxy gives to the events.
        line_end, space, bom, comment: the format of the server-sent events (quirks of group A).
        model, message_id: their values in the message.
    """

    input: Literal[
        "empty-first", "fragments", "one-fragment", "object", "in-start", "start-and-fragments"
    ] = "empty-first"
    start_input: Literal["empty", "absent", "null", "empty-text"] = "empty"
    text_at: Literal["delta", "start", "no-start"] = "delta"
    index: Literal["kept", "sparse", "zero", "absent"] = "kept"
    block_stop: bool = True
    start_twice: bool = False
    signature: Literal["own-delta", "in-start", "absent", "on-calls"] = "own-delta"
    server_tool: bool = False
    ping: Literal["after-start", "absent", "everywhere"] = "after-start"
    unknown: bool = False
    whole: Literal["no", "in-start", "document"] = "no"
    finish: Literal["once", "twice", "null-first"] = "once"
    message_stop: bool = True
    metrics: bool = False
    usage: Literal["split", "at-end", "twice"] = "split"
    done: bool = False
    event_line: Literal["type", "absent", "chunk"] = "type"
    framing: Literal["sse", "lines", "list"] = "sse"
    line_end: LineEnd = "lf"
    space: bool = True
    bom: bool = False
    comment: str = ""
    model: str = "claude-sonnet-4-5"
    message_id: str = "msg_1"


_IN_START: Final = frozenset(("in-start", "start-and-fragments"))
# An input that is written once, at the start of its block or at the end.
_ONCE: Final = frozenset(("in-start", "object", "one-fragment"))
_PLACEHOLDERS: Final[dict[str, Json]] = {
    "empty": {"input": {}},
    "absent": {},
    "null": {"input": None},
    "empty-text": {"input": ""},
}
# What the API has counted when a message starts; the count at the end includes it.
_OUTPUT_AT_START: Final = 1
_SERVER_TOOL: Final = "srvtoolu_1"
_SIGNATURE: Final = "RXhhbXBsZSBzaWduYXR1cmU="
_REDACTED: Final = "redacted_thinking"
_METRICS: Final = {"inputTokenCount": 1, "outputTokenCount": 1, "invocationLatency": 2}


class _Writer(Writer[WriterOptions]):
    """Base of the writers of a stream and of a complete message. Errors come last."""

    FINISH_WORDS: ClassVar = finish_words(
        stop="end_turn",
        tool_calls="tool_use",
        length="max_tokens",
        content_filter="refusal",
        other="pause_turn",
    )

    def begin(self) -> None:
        self._errors: list[Json] = []

    def events(self) -> tuple[bytes, ...]:
        self.write_message()
        self.values += self._errors
        return self._framed()

    @abstractmethod
    def write_message(self) -> None:
        """Write the complete message except for errors."""

    def fail(self, failure: StreamFailure) -> None:
        error = {"type": failure.code, "message": failure.message}
        self._errors.append({"type": "error", "error": error})

    def message(self, content: list[Json], word: str | None, *, at_start: bool) -> Json:
        """Return the message object with these content blocks and this stop reason.

        With `at_start`, it has the token counts that are known at the start of a stream.
        """
        return {
            "id": self.options.message_id,
            "type": "message",
            "role": "assistant",
            "model": self.options.model,
            "content": content,
            "stop_reason": word,
            "stop_sequence": None,
            **(self._usage_at_start() if at_start else _counts(self.total)),
        }

    def _usage_at_start(self) -> Json:
        if self.options.usage == "at-end":
            return {}
        if self.options.usage == "twice":
            return _counts(self.total)
        return _counts(Usage(self.total.input_tokens, _OUTPUT_AT_START))

    def _framed(self) -> tuple[bytes, ...]:
        options = self.options
        payloads = [encode_json(value) for value in self.values]
        if options.whole == "document" and len(payloads) == 1:
            return tuple(payloads)
        if options.framing == "lines":
            return json_lines(payloads)
        if options.framing == "list":
            *most, last = json_array(payloads, b", ", ended=False) or (b"[",)
            return (*most, last + b"]")
        names = [str(value["type"]) for value in self.values]
        if options.done and self.word is not None:
            payloads.append(DONE)  # the mark that gateways add
            names.append("data")
        shown = {"type": names, "absent": [], "chunk": ["chunk"] * len(names)}
        return sse_events(
            payloads,
            shown[options.event_line],
            line_end=options.line_end,
            space=options.space,
            comment=options.comment,
            bom=options.bom,
        )


class _StreamWriter(_Writer):
    """Writes a message as a stream of content blocks."""

    def begin(self) -> None:
        super().begin()
        self._blocks = 0
        self._prose: tuple[str, int] | None = None  # kind and index of the open text or thinking
        self._numbers: dict[int, int] = {}  # call -> index of its block

    def write_message(self) -> None:
        options = self.options
        if all(isinstance(delta, StreamFailure) for delta in self.deltas):
            self.take_all()
            return
        self._add("message_start", message=self.message([], None, at_start=True))
        if options.ping != "absent":
            self._add("ping")
        if options.server_tool:
            self._server_tool()
        if options.unknown:
            self._add("something_new", index=0, delta={"type": "text_delta", "text": "new"})
        self.take_all()
        self._close_prose()

    def text(self, text: str) -> None:
        self._prose_piece("text", text)

    def reasoning(self, text: str) -> None:
        self._prose_piece("thinking", text)

    def _prose_piece(self, kind: str, piece: str) -> None:
        options = self.options
        if self._prose is None or self._prose[0] != kind:
            self._close_prose()
            number = self._new_number()
            self._prose = (kind, number)
            in_start = options.text_at == "start"
            if not (kind == "text" and options.text_at == "no-start"):
                block = {"type": kind, kind: piece if in_start else ""}
                if kind == "thinking":
                    is_early = options.signature == "in-start" and not self.has_sealed
                    block["signature"] = _SIGNATURE if is_early else ""
                self._add("content_block_start", **self._at(number), content_block=block)
            if in_start:
                return
        self._delta(self._prose[1], {"type": f"{kind}_delta", kind: piece})

    def _close_prose(self) -> None:
        if self._prose is None:
            return
        kind, number = self._prose
        self._prose = None
        if kind == "thinking" and self.options.signature == "own-delta" and not self.has_sealed:
            self._delta(number, {"type": "signature_delta", "signature": _SIGNATURE})
        self._stop(number)

    def seal(self, delta: SealedDelta) -> None:
        if delta.kind == _REDACTED:
            self._close_prose()
            number = self._new_number()
            self._add("content_block_start", **self._at(number), content_block=_redacted(delta))
            self._stop(number)
        elif delta.kind == "signature" and delta.of == "reasoning":
            if self._prose is None or self._prose[0] != "thinking":
                self.reasoning("")  # a thought that is not shown
            assert self._prose is not None  # noqa: S101 - the line before opened it
            signature = {"type": "signature_delta", "signature": delta.value}
            self._delta(self._prose[1], signature)
            self._close_prose()
        else:
            super().seal(delta)

    def start_call(self, start: ToolCallStart) -> None:
        self._close_prose()
        options = self.options
        number = self._numbers[start.index] = self._new_number()
        block = _call(start, self._start_input(self.arguments[start.index]))
        for _ in range(1 + options.start_twice):
            self._add("content_block_start", **self._at(number), content_block=block)
        if options.input == "empty-first":
            self._partial(number, "")
        if options.signature == "on-calls":
            self._delta(number, {"type": "signature_delta", "signature": _SIGNATURE})

    def _start_input(self, arguments: str) -> Json:
        value = json_object(arguments) if self.options.input in _IN_START else None
        return _PLACEHOLDERS[self.options.start_input] if value is None else {"input": value}

    def continue_call(self, index: int, fragment: str) -> None:
        is_once = self.options.input in _ONCE and json_object(self.arguments[index]) is not None
        if not is_once:
            self._partial(self._numbers[index], fragment)

    def end_call(self, end: CallEnd) -> None:
        number, arguments = self._numbers[end.index], self.arguments[end.index]
        value = json_object(arguments)
        if value is not None and self.options.input == "object":
            self._partial(number, value)
        elif value is not None and self.options.input == "one-fragment":
            self._partial(number, arguments)
        self._stop(number)

    def _partial(self, number: int, fragment: object) -> None:
        self._delta(number, {"type": "input_json_delta", "partial_json": fragment})

    def finish(self, word: str) -> None:
        super().finish(word)
        self._close_prose()
        options = self.options
        reasons = {"once": (word,), "twice": (word, word), "null-first": (None, word)}
        for each in reasons[options.finish]:
            reason = {"stop_reason": each, "stop_sequence": None}
            self._add("message_delta", delta=reason, **self._usage_at_end())
        if options.message_stop:
            metrics = {"amazon-bedrock-invocationMetrics": _METRICS} if options.metrics else {}
            self._add("message_stop", **metrics)

    # Events

    def _server_tool(self) -> None:
        number = self._new_number()
        block = {"type": "server_tool_use", "id": _SERVER_TOOL, "name": "web_search", "input": {}}
        self._add("content_block_start", **self._at(number), content_block=block)
        self._partial(number, '{"query": "x"}')
        self._stop(number)
        number = self._new_number()
        block = {"type": "web_search_tool_result", "tool_use_id": _SERVER_TOOL, "content": []}
        self._add("content_block_start", **self._at(number), content_block=block)
        self._stop(number)

    def _usage_at_end(self) -> Json:
        if self.options.usage == "split":
            return {"usage": {"output_tokens": self.total.output_tokens or 0}}
        return _counts(self.total)

    def _new_number(self) -> int:
        self._blocks += 1
        return self._blocks - 1

    def _at(self, number: int) -> Json:
        numbers = {"kept": number, "sparse": 3 * number + 1, "zero": 0}
        index = numbers.get(self.options.index)
        return {} if index is None else {"index": index}

    def _delta(self, number: int, delta: Json) -> None:
        self._add("content_block_delta", **self._at(number), delta=delta)
        if self.options.unknown:
            self._add("content_block_delta", **self._at(number), delta={"type": "something_new"})

    def _stop(self, number: int) -> None:
        if self.options.block_stop:
            self._add("content_block_stop", **self._at(number))

    def _add(self, kind: str, **fields: object) -> None:
        if self.options.ping == "everywhere" and kind != "message_start":
            self.values.append({"type": "ping"})
        self.values.append({"type": kind, **fields})


class _MessageWriter(_Writer):
    """Writes a complete message: as a document, or within the start of a stream."""

    def begin(self) -> None:
        super().begin()
        self._content: list[Json] = []

    def write_message(self) -> None:
        self.take_all()
        message = self.message(self._content, self.word, at_start=False)
        if self.options.whole == "document":
            self.values.append(message)
            return
        self.values.append({"type": "message_start", "message": message})
        if self.word is not None:
            if self.options.ping == "everywhere":
                self.values.append({"type": "ping"})
            self.values.append({"type": "message_stop"})

    def text(self, text: str) -> None:
        self._content.append({"type": "text", "text": text})

    def reasoning(self, text: str) -> None:
        signature = "" if self.has_sealed else _SIGNATURE
        last = self._content[-1] if self._content else {}
        if last.get("signature") == signature:
            last["thinking"] += text
        else:
            self._content.append({"type": "thinking", "thinking": text, "signature": signature})

    def seal(self, delta: SealedDelta) -> None:
        if delta.kind == _REDACTED:
            self._content.append(_redacted(delta))
        elif delta.kind == "signature" and delta.of == "reasoning":
            last = self._content[-1] if self._content else {}
            if last.get("signature") != "":
                self.reasoning("")  # a thought that is not shown
            self._content[-1]["signature"] = delta.value
        else:
            super().seal(delta)

    def start_call(self, start: ToolCallStart) -> None:
        value = json_object(self.arguments[start.index])
        self._content.append(_call(start, {"input": {} if value is None else value}))


def _redacted(delta: SealedDelta) -> Json:
    return {"type": _REDACTED, "data": delta.value}


def _call(start: ToolCallStart, start_input: Json) -> Json:
    return {"type": "tool_use", "id": start.id, "name": start.name, **start_input}


def _counts(usage: Usage) -> Json:
    """Return the member `usage` with both counts, which the API requires; 0 for an unknown one."""
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {"usage": {name: count or 0 for name, count in counts.items()}}


def _writer(deltas: tuple[Delta, ...], options: WriterOptions) -> _Writer:
    return (_StreamWriter if options.whole == "no" else _MessageWriter)(deltas, options)


write = writes_with(_writer, WriterOptions)
