"""Read the frames of a ConverseStream response as deltas: stream, recorded events or document.

The framing names each event. In recordings that lost the framing, the name is the only key of an
object around the event. A call is a separate block, keyed by its index, whose input comes in
fragments. Tools that the provider executes are not calls. The reader never raises.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, ClassVar, Final, TypeAlias

import msgspec

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import EventReader, exact_event, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_dict, as_text, dicts
from harness.wire.frames import Frame

FINISH: Final = finish_reasons(
    stop=("end_turn", "stop_sequence"),
    tool_calls=("tool_use",),
    length=("max_tokens", "model_context_window_exceeded"),
    content_filter=("guardrail_intervened", "content_filtered"),
)
# The model's output could not be used: what there is of it must not be.
FAILED: Final = frozenset(("malformed_model_output", "malformed_tool_use"))
# The type of a block whose tool the provider runs itself; its result is a block as well.
SERVER_TOOL: Final = "server_tool_use"

_MESSAGE_KEYS: Final = ("message", "Message", "errorMessage")
_TYPE_KEYS: Final = ("__type", "code", "Code", "type")


def error_of(value: dict[str, Any]) -> tuple[str, str] | None:
    """Return code and message of the error in a body; None if it is not an error."""
    output = value.get("Output")
    if type(output) is dict and "__type" in output:
        value = output
    message = next((value[key] for key in _MESSAGE_KEYS if value.get(key)), None)
    if type(message) is not str and "__type" not in value:
        return None
    code = next((value[key] for key in _TYPE_KEYS if type(value.get(key)) is str), "")
    return code.rpartition("#")[2] or "error", quote(message)


class InputPiece(msgspec.Struct, gc=False):
    """The member `toolUse` of a delta: a fragment of a call's input."""

    input: str | None = None


class ReasoningPiece(msgspec.Struct, gc=False):
    """The member `reasoningContent` of a delta: a part of the reasoning, or its signature."""

    text: Any = None


class BlockDelta(msgspec.Struct, gc=False, rename="camel"):
    """The member `delta` of an event: what the event adds to its content block."""

    text: Any = None
    tool_use: InputPiece | None = None
    reasoning_content: ReasoningPiece | None = None


class BlockDeltaEvent(msgspec.Struct, gc=False, rename="camel"):
    """An event that adds text, reasoning or input to one content block."""

    delta: BlockDelta
    content_block_index: Any = None


piece_of = piece_decoder(BlockDeltaEvent)


def read_document(value: dict[str, Any], frame: Frame, turn: Assembly) -> None:
    """Add the blocks of the message in `value` to `turn`.

    Args:
        value: the complete response.
        frame: the frame whose payload is `value`.
        turn: receives the text, reasoning and calls.
    """
    if any("toolUse" in block for block in _blocks(value)):
        value = exact_event(value, frame.data)
    for block in _blocks(value):
        turn.text(block.get("text"))
        thought = as_dict(as_dict(block.get("reasoningContent")).get("reasoningText"))
        turn.reasoning(thought.get("text"))
        for piece in dicts(as_dict(block.get("citationsContent")).get("content")):
            turn.text(piece.get("text"))  # a text that comes with its sources
        _call(block.get("toolUse"), turn)


def _blocks(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return dicts(value["output"]["message"].get("content"))


def _call(use: object, turn: Assembly) -> None:
    if not isinstance(use, dict) or use.get("type") == SERVER_TOOL:
        return
    key = len(turn)
    turn.open(key, use.get("toolUseId"), use.get("name"))
    given = use.get("input")
    if given is not None:
        turn.append(key, given if isinstance(given, str) else write_exactly(given))


Json: TypeAlias = dict[str, Any]

_DELTA = "contentBlockDelta"


class _Reader(EventReader):
    """Reads one response of the dialect `bedrock-converse`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_known = False
        self._keys: dict[Hashable, int] = {}  # index of a block -> key of its latest call
        self._ids: list[str] = []  # by key
        self._server_tools: set[Hashable] = set()  # blocks of tools that run at the provider

    def _take(self, frame: Frame) -> None:
        # Typed pieces only follow an event of this API that was read in full.
        if self.is_known and frame.event == _DELTA:
            piece = piece_of(frame.data)
            if piece is not None:
                turn, delta = self.turn, piece.delta
                if delta.text:
                    turn.text(delta.text)
                if delta.tool_use is not None:
                    self._fragment(delta.tool_use.input, _index(piece.content_block_index), frame)
                if delta.reasoning_content is not None:
                    turn.reasoning(delta.reasoning_content.text)
                return
        super()._take(frame)

    def event(self, value: Json, frame: Frame) -> None:
        """Process one event, or a complete document."""
        take = self._TAKE.get(frame.event)
        if take is not None:
            self.is_known = True
            take(self, value, frame)
        elif not self._keyed(value, frame) and not frame.event:
            self._other(value, frame)

    def end_of_stream(self) -> None:
        """Close the turn if `messageStop` came; otherwise fail it."""
        if self.failed:
            self.turn.fail(self.failed, f"the model stopped with {self.failed!r}")
        else:
            super().end_of_stream()

    def _keyed(self, value: Json, frame: Frame) -> bool:
        """Process an event inside an object whose key is its name; return whether there is one."""
        found = False
        for name, inner in value.items():
            if type(inner) is not dict or self.turn.over:
                continue
            take = self._TAKE.get(name)
            if take is not None:
                self.is_known = found = True
                take(self, inner, frame)
            # A recorder without framing keeps the name of an exception as the key (BED-EXCEPTION).
            elif name.endswith("Exception"):
                found = True
                self.turn.fail(name, quote(inner.get("message") or inner))
        return found

    def _other(self, value: Json, frame: Frame) -> None:
        """Process an object that is not an event: a complete response or an error.

        Any other object is ignored, but a stream of nothing else is not a stream of this API.
        """
        output = value.get("output")
        if type(output) is dict and type(output.get("message")) is dict:
            self.is_known = True
            read_document(value, frame, self.turn)
            self._stop(value, frame)
            self._metadata(value, frame)
            return
        error = error_of(value)
        if error is not None:
            self.turn.fail(*error)

    # Events

    def _nothing(self, value: Json, frame: Frame) -> None:
        """Ignore an event that does not concern the turn."""

    def _start(self, value: Json, _frame: Frame) -> None:
        use = as_dict(value.get("start")).get("toolUse")
        if type(use) is not dict:
            return
        index = _index(value.get("contentBlockIndex"))
        # The provider executes this tool itself (quirk BED-SERVER-TOOL).
        if use.get("type") == SERVER_TOOL:
            self._server_tools.add(index)
            return
        self._server_tools.discard(index)
        call_id = as_text(use.get("toolUseId"))
        key = self._keys.get(index)
        if key is None or (call_id and self._ids[key] and call_id != self._ids[key]):
            key = self._new_key(index)  # an index that comes again with another id
        self._ids[key] = self._ids[key] or call_id
        self.turn.open(key, call_id, use.get("name"))

    def _delta(self, value: Json, frame: Frame) -> None:
        delta = value.get("delta")
        if type(delta) is not dict:
            return
        self.turn.text(delta.get("text"))
        if type(use := delta.get("toolUse")) is dict:
            self._fragment(use.get("input"), _index(value.get("contentBlockIndex")), frame)
        self.turn.reasoning(as_dict(delta.get("reasoningContent")).get("text"))

    def _fragment(self, fragment: object, index: Hashable, frame: Frame) -> None:
        if index in self._server_tools:
            return
        if type(fragment) is dict:
            fragment = _exact_input(fragment, frame)
        key = self._keys.get(index)
        self.turn.append(self._new_key(index) if key is None else key, fragment)

    def _stop(self, value: Json, _frame: Frame) -> None:
        word = value.get("stopReason")
        if type(word) is not str or not word:
            return
        self.failed = word if word in FAILED else ""
        self.turn.finish(FINISH.get(word, FinishReason.OTHER), word)

    def _metadata(self, value: Json, _frame: Frame) -> None:
        self.turn.count(value.get("usage"), "inputTokens", "outputTokens")

    def _new_key(self, index: Hashable) -> int:
        key = self._keys[index] = len(self._ids)
        self._ids.append("")
        return key

    _TAKE: ClassVar[dict[str, Callable[["_Reader", Json, Frame], None]]] = {
        "messageStart": _nothing,
        "contentBlockStart": _start,
        _DELTA: _delta,
        "contentBlockStop": _nothing,
        "messageStop": _stop,
        "metadata": _metadata,
    }


def _index(index: object) -> Hashable:
    return index if type(index) is int else None


def _exact_input(value: Json, frame: Frame) -> str:
    """Return the JSON text of an input that came as an object, with its exact digits and keys."""
    event = exact_event({}, frame.data)
    delta = as_dict(as_dict(event.get(_DELTA, event)).get("delta"))
    return write_exactly(as_dict(delta.get("toolUse")).get("input", value))


read = reads_with(_Reader)
