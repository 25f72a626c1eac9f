"""Write deltas as the events of a ConverseStream response, controlled by options.

Each run of text or reasoning and each call is a separate block; calls may be interleaved.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from typing import ClassVar, Final, Literal

from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import CallEnd, Json, Writer, finish_words, writes_with
from harness.turns.deltas import StreamFailure, ToolCallStart, Usage
from harness.turns.exact_json import encode_json
from harness.wire.aws import encode_event, encode_exception


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `bedrock-converse` writes a stream.

    The default of each option is what the API documents.

    Fields:
        framing: AWS messages, or the JSON lines as which older recordings store them.
        padding: whether each event is padded, so that its length reveals nothing.
        tool_type: whether a call's block has the type for tools that the client runs (Nova does).
        input: how a call's input comes: in its fragments, in one fragment, or after an empty
            fragment (`BED-EMPTY-INPUT` if there is only the empty one).
        block_starts: which blocks have a start. Bedrock starts only calls; some gateways start all.
        block_stops: whether blocks have an end.
        first_index: the index of the first block; hidden reasoning takes an index too.
        gaps: how many indexes stay unused between two blocks.
        metadata: whether usage has a separate event at the end.
        model: the model in the address of the request; no event contains it.
    """

    framing: Literal["messages", "lines"] = "messages"
    padding: bool = True
    tool_type: Literal["absent", "given"] = "absent"
    input: Literal["fragments", "whole", "empty-first"] = "fragments"
    block_starts: Literal["calls", "all"] = "calls"
    block_stops: bool = True
    first_index: int = 0
    gaps: int = 0
    metadata: bool = True
    model: str = "any"


_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_LATENCY: Final = {"latencyMs": 412}


class _Writer(Writer[WriterOptions]):
    """Writes one stream of the dialect `bedrock-converse`."""

    USAGE_AFTER_FINISH: ClassVar = True
    FINISH_WORDS: ClassVar = finish_words(
        stop="end_turn",
        tool_calls="tool_use",
        length="max_tokens",
        content_filter="content_filtered",
    )

    def begin(self) -> None:
        self._events: list[bytes] = []
        self._next = self.options.first_index
        self._open_run: tuple[str, int] | None = None  # kind and block of the text at hand
        self._blocks: dict[int, int] = {}  # of open calls

    def events(self) -> tuple[bytes, ...]:
        if self.deltas and not isinstance(self.deltas[0], StreamFailure):
            self._event("messageStart", {"role": "assistant"})
        self.take_all()
        return tuple(self._events)

    def text(self, text: str) -> None:
        self._piece("text", {"text": text})

    def reasoning(self, text: str) -> None:
        self._piece("reasoning", {"reasoningContent": {"text": text}})

    def _piece(self, kind: str, delta: Json) -> None:
        if self._open_run is None or self._open_run[0] != kind:
            self._close_run()
            self._open_run = (kind, self._new_block())
            if self.options.block_starts == "all":
                self._block("contentBlockStart", self._open_run[1], {"start": {}})
        self._block("contentBlockDelta", self._open_run[1], {"delta": delta})

    # Calls

    def start_call(self, start: ToolCallStart) -> None:
        self._close_run()
        block = self._blocks[start.index] = self._new_block()
        use = {"toolUseId": start.id, "name": start.name}
        if self.options.tool_type == "given":
            use["type"] = "tool_use"
        self._block("contentBlockStart", block, {"start": {"toolUse": use}})
        if self.options.input == "empty-first":
            self._input(start.index, "")

    def continue_call(self, index: int, fragment: str) -> None:
        if self.options.input != "whole":
            self._input(index, fragment)

    def _input(self, index: int, fragment: str) -> None:
        delta = {"toolUse": {"input": fragment}}
        self._block("contentBlockDelta", self._blocks[index], {"delta": delta})

    def end_call(self, end: CallEnd) -> None:
        self._end(end.index)

    def _end(self, index: int) -> None:
        if self.options.input == "whole" and self.arguments[index]:
            self._input(index, self.arguments[index])
        self._stop(self._blocks.pop(index))

    # Blocks

    def _new_block(self) -> int:
        block = self._next
        self._next += 1 + self.options.gaps
        return block

    def _block(self, event: str, index: int, fields: Json) -> None:
        self._event(event, {**fields, "contentBlockIndex": index})

    def _stop(self, index: int) -> None:
        if self.options.block_stops:
            self._block("contentBlockStop", index, {})

    def _close_run(self) -> None:
        if self._open_run is not None:
            self._stop(self._open_run[1])
        self._open_run = None

    def _close(self) -> None:
        self._close_run()
        for index in tuple(self._blocks):
            self._end(index)

    # The end of the turn, and events

    def finish(self, word: str) -> None:
        self._close()
        self._event("messageStop", {"stopReason": word})

    def count(self, usage: Usage) -> None:
        if not self.options.metadata:
            return
        counts = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
        total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._event("metadata", {"usage": {**counts, "totalTokens": total}, "metrics": _LATENCY})

    def fail(self, failure: StreamFailure) -> None:
        payload = {"message": failure.message}
        if self.options.framing == "lines":
            self._events.append(encode_json({failure.code: payload}) + b"\n")
        else:
            self._events.append(encode_exception(encode_json(payload), failure.code))

    def _event(self, name: str, value: Json) -> None:
        if self.options.padding:
            value["p"] = _ALPHABET[: 1 + len(self._events) * 7 % len(_ALPHABET)]
        if self.options.framing == "lines":
            self._events.append(encode_json({name: value}) + b"\n")
        else:
            self._events.append(encode_event(encode_json(value), name))


write = writes_with(_Writer, WriterOptions)
