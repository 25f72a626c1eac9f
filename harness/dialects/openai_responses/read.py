"""Read the frames of a Responses stream as deltas, as promptly as the bytes allow.

Deltas are emitted as they arrive. Complete texts, complete items and the terminal event repeat
them, and only add what no delta contained. Without the terminal event the turn is not complete, and
no call is executed. The Realtime API writes the same events, some under other names, which are in
the same tables. The reader never raises, whatever a stream contains, and invents no call, argument
or end.
Source: OpenAI API reference, "Responses: streaming events" and "Realtime: server events".
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final

import msgspec

from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import EventReader, finish_reasons, quote
from harness.dialects.openai_responses.calls import Path, ResponsesCalls
from harness.dialects.openai_responses.items import (
    TEXT_DELTA_EVENTS,
    TEXT_DONE_EVENTS,
    Item,
    Items,
    custom_tools,
    is_call,
    texts_of,
)
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
)
from harness.turns.json_values import as_dict, as_text
from harness.wire.frames import Frame


class TextDeltaEvent(msgspec.Struct, gc=False):
    """An event with the member `delta`, which adds text or arguments to an item."""

    type: str
    delta: Any = None
    item_id: Any = None
    output_index: Any = None


piece_of = piece_decoder(TextDeltaEvent)


_FAILED: Final = frozenset(("failed", "cancelled", "canceled"))
_OVER: Final = _FAILED | {"completed", "incomplete"}
# The terminal event, such as `response.failed` -> its status if the response has none.
TERMINAL_EVENTS: Final = {f"response.{status}": status for status in _OVER} | {
    "response.done": "completed"
}
_ERROR_TYPES: Final = ("error", "response.error")
_REASONS: Final = finish_reasons(
    length=("", "max_output_tokens", "max_tokens", "length"), content_filter=("content_filter",)
)


def end_of(response: dict[str, Any], status: str) -> Finish | StreamFailure:
    """Return how `response` ended.

    Args:
        response: a complete response object.
        status: the status that its event means; "" for a document without an event.
    """
    given = as_text(response.get("status"))
    status = given if given in _OVER else status
    details = as_dict(response.get("incomplete_details") or response.get("status_details"))
    reason = as_text(details.get("reason"))
    error = response.get("error") or details.get("error")
    if status in _FAILED or error:
        code = status if status in _FAILED else ""
        return failure_of({"error": error, "code": code, "message": reason})
    if status == "completed":
        return Finish(FinishReason.STOP, status)
    if status == "incomplete":
        return Finish(_REASONS.get(reason, FinishReason.OTHER), reason or status)
    return StreamFailure("interrupted", f"the response came while it was {given!r}")


def failure_of(value: dict[str, Any]) -> StreamFailure:
    """Return the error in `value`, or in its member `error`."""
    error = value.get("error")
    if isinstance(error, dict) and error:
        value, error = error, None
    kind = value.get("type")
    code = value.get("code") or ("" if kind in _ERROR_TYPES else kind) or value.get("status")
    message = error or value.get("message") or value.get("detail") or value.get("error_message")
    return StreamFailure(quote(code or "error"), quote(message))


def is_error(value: dict[str, Any]) -> bool:
    """Return whether a value without a known type is an error of a gateway or of HTTP."""
    if value.get("error") or value.get("object") == "error":
        return True
    return isinstance(value.get("detail"), str) or (
        isinstance(value.get("message"), str) and value.get("code") is not None
    )


_ARGUMENTS: Final = "response.function_call_arguments.delta"
# Names of frames that hold a piece, or repeat a text that came in pieces, as a rule.
_OF_PIECES: Final = frozenset((*TEXT_DELTA_EVENTS, _ARGUMENTS, *TEXT_DONE_EVENTS))
_SPEAKING: Final = frozenset(("message", "reasoning"))
_FIELDS: Final = ("summary", "reasoning", "text", "refusal")
# Beginnings of types that only these two APIs have; unknown events of them are ignored.
_OURS: Final = ("response.", "session.", "conversation.", "input_audio_buffer.", "rate_limits.")


def read(frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:
    """Yield the deltas of one response.

    Args:
        frames: the frames of the response's body, in order.
        tools: the names of the tools that the request declared.
    """
    return _Reader(tools).read(frames)


class _Reader(EventReader):
    """Reads one response of the dialect `openai-responses`."""

    def __init__(self, tools: tuple[str, ...]) -> None:
        super().__init__()
        self._tools = frozenset(tools)
        self._custom: frozenset[str] | None = self._tools or None
        self._items = Items()
        self._calls = ResponsesCalls(self.turn, self._items)
        self._refusal: list[str] = []
        self.is_known = False
        self._error: StreamFailure | None = None  # of a session, which may go on after it

    def _take(self, frame: Frame) -> None:
        # Typed pieces only follow an event of this API that was read in full.
        if self.is_known and frame.event in _OF_PIECES:
            piece = piece_of(frame.data)
            if piece is not None and self._takes_piece(piece):
                return
        super()._take(frame)

    def _takes_piece(self, piece: TextDeltaEvent) -> bool:
        """Process an event that adds at most one fragment; return False for any other event."""
        kind = piece.type
        if kind == _ARGUMENTS:
            item = self._items.at(piece.item_id, piece.output_index)
            # Fragments follow arguments that came early, or repeat them: then they wait.
            if item.kind and item.pending is None:
                self.turn.append(item.key, piece.delta)
            else:
                self._calls.fragment(item, piece.delta, "function_call")
        elif (field := TEXT_DELTA_EVENTS.get(kind)) is not None:
            self._piece(field, piece.delta, piece.item_id, piece.output_index)
        elif complete := TEXT_DONE_EVENTS.get(kind):
            return complete[0] in self._items.at(piece.item_id, piece.output_index).texts
        else:
            return False
        return True

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one event, or a complete response as a document.

        If it has no type, the name in the framing counts. But an error stays an error, even if it
        is in a frame with the name of another event.
        """
        kind = value.get("type") or (None if is_error(value) else frame.event)
        if type(kind) is not str:
            self._untyped(value, frame)
            return
        field = TEXT_DELTA_EVENTS.get(kind)
        if field is not None:
            self.is_known = True
            self._piece(field, value.get("delta"), value.get("item_id"), value.get("output_index"))
            return
        take = self._TAKE.get(kind)
        if take is not None:
            self.is_known = True
            take(self, value, frame)
        elif kind.startswith(_OURS):
            self.is_known = True
            if complete := TEXT_DONE_EVENTS.get(kind):
                self._part_over(*complete, value)
        else:
            self._untyped(value, frame)

    def end_of_stream(self) -> None:
        """Fail the turn, because it is not complete without a terminal event."""
        if self._error is not None:
            self._calls.finish()
            self.turn.fail(self._error.code, self._error.message)
        elif self.is_known:
            self.interrupted("the stream ended without a terminal event of its response")
        else:
            self.unknown(self.first)

    def interrupted(self, message: str = "") -> None:
        """Fail the turn, because its stream ended too early."""
        self._calls.finish()
        super().interrupted(message)

    # Texts

    def _piece(self, field: str, piece: object, item_id: object, index: object) -> None:
        if piece and type(piece) is str:
            self._emit(self._items.at(item_id, index), field, piece)

    def _part_over(self, field: str, position: str, event: dict[str, Any]) -> None:
        """Process a complete part if its item had no delta."""
        item = self._items.at(event.get("item_id"), event.get("output_index"))
        # `done` repeats the deltas, or replaces them (quirk RESP-NO-TEXT-DELTAS).
        if field not in item.texts:
            self._emit(item, field, as_text(event.get(position)))

    def _item_over(self, item: Item, value: dict[str, Any]) -> None:
        """Emit the part of a complete message or reasoning item that no delta contained."""
        kind = value.get("type")
        if item.compared or type(kind) is not str or kind not in _SPEAKING:
            return
        item.compared = True
        complete = texts_of(value)
        for field in _FIELDS:
            if pieces := complete.get(field):
                so_far = "".join(item.texts.get(field, ()))
                all_of_it = "".join(pieces)
                # Deltas that were emitted cannot be taken back, so only a continuation is added.
                if all_of_it.startswith(so_far):
                    self._emit(item, field, all_of_it[len(so_far) :])
        if kind == "reasoning":
            self.turn.seal(kind, value.get("encrypted_content"), item_id=value.get("id"))

    def _emit(self, item: Item, field: str, piece: str) -> None:
        if not piece:
            return
        so_far = item.texts.get(field)
        if so_far is None:
            so_far = item.texts[field] = []
        so_far.append(piece)
        if field == "refusal":
            self._refusal.append(piece)  # it is emitted at the end, as a failure
        else:
            delta = TextDelta if field == "text" else ReasoningDelta
            self.turn.out.append(delta(piece))

    def _transcript(self, event: dict[str, Any], _: Frame) -> None:
        self.turn.text(event.get("delta"))

    # Items and calls

    def _item_added(self, event: dict[str, Any], frame: Frame) -> None:
        value = event.get("item")
        if not isinstance(value, dict):
            return
        item = self._items.announced(value, event.get("output_index"), done=False)
        if self._is_call(item, value):
            arguments = self._calls.arguments_of(value, frame, ("item",))
            self._calls.announced(item, value, arguments)

    def _item_done(self, event: dict[str, Any], frame: Frame) -> None:
        value = event.get("item")
        if isinstance(value, dict):
            item = self._items.announced(value, event.get("output_index"), done=True)
            self._complete_item(item, value, frame, ("item",))

    def _complete_item(self, item: Item, value: dict[str, Any], frame: Frame, path: Path) -> None:
        if self._is_call(item, value):
            self._calls.complete(item, value, self._calls.arguments_of(value, frame, path))
        else:
            self._item_over(item, value)

    def _is_call(self, item: Item, value: dict[str, Any]) -> bool:
        """Return whether an item is a call or an action for the client."""
        if is_call(value, self._custom):
            return True
        item.by_provider = True
        return False

    def _arguments(self, event: dict[str, Any], _: Frame) -> None:
        item = self._items.at(event.get("item_id"), event.get("output_index"))
        self._calls.fragment(item, event.get("delta"), "function_call")

    def _arguments_over(self, event: dict[str, Any], frame: Frame) -> None:
        item = self._items.at(event.get("item_id"), event.get("output_index"))
        self._calls.named(item, event)
        self._calls.complete_arguments(item, self._calls.arguments_of(event, frame, ()))

    def _input(self, event: dict[str, Any], _: Frame) -> None:
        item = self._items.at(event.get("item_id"), event.get("output_index"))
        # The provider's own tools use the same events, such as `x_keyword_search` of xAI.
        if not item.by_provider:
            self._calls.fragment(item, event.get("delta"), "custom_tool_call")

    def _input_over(self, event: dict[str, Any], _: Frame) -> None:
        item = self._items.at(event.get("item_id"), event.get("output_index"))
        if item.kind == "custom_tool_call" and not item.by_provider:
            self._calls.complete_arguments(item, as_text(event.get("input")))

    # The response as a whole

    def _created(self, event: dict[str, Any], _: Frame) -> None:
        response = event.get("response")
        if isinstance(response, dict):
            self._about(response)

    def _about(self, response: dict[str, Any]) -> None:
        """Process the id of the response and the tools that it repeats."""
        self.turn.seed = self.turn.seed or as_text(response.get("id"))
        custom = custom_tools(response.get("tools"))
        if custom is not None:
            self._custom = custom | self._tools

    def _terminal(self, event: dict[str, Any], frame: Frame) -> None:
        status = TERMINAL_EVENTS[str(event.get("type") or frame.event)]
        self._over(as_dict(event.get("response")), status, frame, ("response",))

    def _over(self, response: dict[str, Any], status: str, frame: Frame, path: Path) -> None:
        self._about(response)
        output = response.get("output")
        if isinstance(output, list):
            self._take_output(output, frame, (*path, "output"))
        self.turn.count(response.get("usage"), "input_tokens", "output_tokens")
        self._close(end_of(response, status))

    def _take_output(self, output: list[Any], frame: Frame, path: Path) -> None:
        spoke = {field for item in self._items for field in item.texts}
        for item, value, position in self._items.paired(output):
            # An item without an event has the texts of others, under a new id.
            if item.has_event or spoke.isdisjoint(texts_of(value)):
                self._complete_item(item, value, frame, (*path, position))

    def _close(self, end: Finish | StreamFailure) -> None:
        self._calls.finish()
        if isinstance(end, StreamFailure):
            self.turn.fail(end.code, end.message)
        elif self._refusal:
            self.turn.fail("refusal", "".join(self._refusal))
        else:
            self.turn.finish(end.reason, end.raw)
            self.turn.close()

    def _session_closed(self, _event: dict[str, Any], _: Frame) -> None:
        """End a translation session. It has no other terminal event."""
        if not len(self._items):
            self.turn.finish(FinishReason.STOP, "session.closed")
            self.turn.close()

    # Errors, and what is not an event of this API

    def _failed(self, event: dict[str, Any], _: Frame) -> None:
        failure = failure_of(event)
        if "event_id" in event:  # a Realtime session survives most errors
            self._error = self._error or failure
        else:
            self._calls.finish()
            self.turn.fail(failure.code, failure.message)

    def _untyped(self, value: dict[str, Any], frame: Frame) -> None:
        is_response = value.get("object") == "response" or isinstance(value.get("output"), list)
        if is_response and isinstance(value.get("status"), str):
            self._over(value, "", frame, ())
        elif frame.event == "error" or is_error(value):
            self._failed(value, frame)

    _TAKE: ClassVar[dict[str, Callable[["_Reader", dict[str, Any], Frame], None]]] = {
        _ARGUMENTS: _arguments,
        "response.function_call_arguments.done": _arguments_over,
        "response.custom_tool_call_input.delta": _input,
        "response.custom_tool_call_input.done": _input_over,
        "response.output_item.added": _item_added,
        "response.output_item.done": _item_done,
        "response.created": _created,
        "response.in_progress": _created,
        "session.output_transcript.delta": _transcript,
        "session.closed": _session_closed,
        "error": _failed,
        "response.error": _failed,
        **dict.fromkeys(TERMINAL_EVENTS, _terminal),
    }
