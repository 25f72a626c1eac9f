"""Read the frames of a Messages response as deltas: a stream, a complete message or an error.

The reader ignores what it does not know, as the API requires of its clients, but a turn ends well
only with a stop reason. No content of a stream raises an exception. A call is not executed if its
message failed or was truncated, or if the model was stopped inside the call.
Source: Anthropic API reference, "Streaming Messages", "Errors" and "Handling stop reasons".
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from harness.dialects.anthropic.blocks import BlockDelta, Blocks, piece_of
from harness.dialects.kit.reader import EventReader, exact_event, finish_reasons, quote, reads_with
from harness.turns.deltas import CUT_SHORT, FinishReason
from harness.turns.json_values import as_dict, as_text
from harness.wire.frames import Frame

Json = dict[str, Any]

_CODES = ("type", "status", "code")
# Next to an error that is not an object, whose `type` is only `error`.
_FLAT_CODES = ("code", "status", "__type", "error_type", "type")
_WORDS = ("message", "Message", "error_message", "detail")
# Any of these makes an object without a known type an error, wherever it comes.
_MARKS = ("error", "error_message", "error_type")


def names_an_error(value: Json, event: str, *, first: bool) -> bool:
    """Return whether an object without a known type is an error.

    Args:
        value: the object.
        event: the name of its event in the framing.
        first: True if no event of the API preceded it, so that it may be an error body.
    """
    if event == "error" or any(map(value.get, _MARKS)):
        return True
    return first and any(isinstance(value.get(word), str) for word in _WORDS)


def error_of(value: Json) -> tuple[str, str]:
    """Return code and message of the error in an error event or an error body."""
    error = value.get("error")
    if isinstance(error, dict) and error:
        return _code(error, _CODES), quote(_first(error, _WORDS) or error)
    return _code(value, _FLAT_CODES), quote(error or _first(value, _WORDS) or value)


def _code(holder: Json, fields: tuple[str, ...]) -> str:
    return quote(_first(holder, fields)) or "error"


def _first(holder: Json, fields: tuple[str, ...]) -> object:
    """Return the first of the members `fields` that is text or a number; None if none is."""
    values = (holder.get(field) for field in fields)
    return next((value for value in values if value and isinstance(value, str | int)), None)


_DELTA: Final = "content_block_delta"
# The API's words, and those of OpenAI, which gateways forget to translate. `pause_turn` and
# `compaction` are OTHER, like new words.
_FINISH: Final = finish_reasons(
    stop=("end_turn", "stop_sequence", "stop"),
    tool_calls=("tool_use", "tool_calls"),
    length=("max_tokens", "model_context_window_exceeded", "length"),
    content_filter=("refusal", "content_filter"),
)
# Words of gateways for a model that failed.
_FAILED: Final = frozenset(("error", "network_error", "abort", "timeout"))


class _Reader(EventReader):
    """Reads one response of the dialect `anthropic`."""

    INTERRUPTED: ClassVar = "the stream ended without a stop reason"

    def __init__(self) -> None:
        super().__init__()
        self._blocks = Blocks(self.turn)
        self.is_known = False
        self._started = False
        self._reason_at_start: object = None
        self._cut_short = ""

    def _take(self, frame: Frame) -> None:
        # Typed pieces only follow an event of this API that was read in full.
        if self.is_known and frame.event == _DELTA:
            piece = piece_of(frame.data)
            if piece and piece.type == _DELTA and type(piece.delta.partial_json) is not dict:
                self._blocks.delta(piece.index, piece.delta)
                return
        super()._take(frame)

    def event(self, value: Json, frame: Frame) -> None:
        """Process one event by its type. If it has no type, the name in the framing counts.

        An error without a type stays an error, even if it is in a frame with the name of another
        event.
        """
        kind = value.get("type")
        if type(kind) is not str:
            kind = "error" if names_an_error(value, "", first=False) else frame.event
        take = _EVENTS.get(kind)
        if take is not None:
            self.is_known = True
            take(self, value, frame)
        elif names_an_error(value, frame.event, first=not self.is_known):
            self.turn.fail(*error_of(value))

    def end_of_stream(self) -> None:
        """Close a message that has its stop reason; fail any other message."""
        if self.turn.finished:
            self._close()
        else:
            super().end_of_stream()

    # One method for each event

    def _message_start(self, value: Json, frame: Frame) -> None:
        # A stream has one message; deltas of a second one would be added to blocks of the first.
        if self._blocks.count:
            self.turn.fail("bad_event", f"byte {frame.offset}: a second message began in the first")
            return
        message = value.get("message")
        if type(message) is not dict:
            return
        self._started = True
        # Code that calls tools is answered so (quirk ANT-WHOLE-IN-START).
        if message.get("content"):
            message = exact_event(value, frame.data).get("message", message)
        # Null, unless the start has the complete message.
        self._reason_at_start = message.get("stop_reason")
        self._opening(message)

    def _opening(self, message: Json) -> None:
        self.turn.seed = as_text(message.get("id"))
        self._usage(message)
        self._blocks.complete(message.get("content"))

    def _block_start(self, value: Json, frame: Frame) -> None:
        content = value.get("content_block")
        if type(content) is not dict:
            return
        if content.get("input"):
            content = exact_event(value, frame.data).get("content_block", content)
        self._blocks.start(value.get("index"), content)

    def _block_delta(self, value: Json, frame: Frame) -> None:
        delta = value.get("delta")
        if type(delta) is not dict:
            return
        # A gateway that sends the object instead of its text would lose digits when decoded.
        if type(delta.get("partial_json")) is dict:
            delta = exact_event(value, frame.data).get("delta", delta)
        # Not `msgspec.convert`, which refuses half a surrogate pair in the name of any member.
        known = {name: delta.get(name) for name in BlockDelta.__struct_fields__}
        self._blocks.delta(value.get("index"), BlockDelta(**known))

    def _block_stop(self, value: Json, _: Frame) -> None:
        self._blocks.stop(value.get("index"))

    def _message_delta(self, value: Json, _: Frame) -> None:
        self._usage(value)
        self._stopped(as_dict(value.get("delta")).get("stop_reason"))

    def _message_stop(self, _value: Json, _frame: Frame) -> None:
        # Without message_delta, the reason in the start of the message counts.
        if not self.turn.finished:
            self._stopped(self._reason_at_start)
        if self.turn.finished:
            self._close()
        elif not self.turn.over:
            self.interrupted("the message stopped without a stop reason")

    def _message(self, value: Json, frame: Frame) -> None:
        """Process a complete message, unless it only repeats what was streamed."""
        # A complete message after a stream repeats it, and would double the turn.
        if self._started:
            return
        if type(value.get("content")) is not list:
            self.unknown(frame.data)
            return
        self._opening(exact_event(value, frame.data))
        self._stopped(value.get("stop_reason"))
        if not self.turn.over:
            self.end_of_stream()

    def _ping(self, _value: Json, _frame: Frame) -> None:
        """Ignore a `ping`, which only keeps the connection open."""

    def _error(self, value: Json, _: Frame) -> None:
        self.turn.fail(*error_of(value))

    # The end

    def _usage(self, holder: Json) -> None:
        self.turn.count(holder.get("usage"), "input_tokens", "output_tokens")

    def _stopped(self, word: object) -> None:
        if not word or not isinstance(word, str) or self._cut_short:  # nothing takes a limit back
            return
        known = word.lower()
        if known in _FAILED:
            self.turn.fail(word, f"the provider ended the message with {word!r}")
            return
        reason = _FINISH.get(known, FinishReason.OTHER)
        self._cut_short = word if reason in CUT_SHORT else ""
        self.turn.finish(reason, word)

    def _close(self) -> None:
        self._blocks.close(cut_short=self._cut_short)
        self.turn.close()


_EVENTS: Final[dict[str, Callable[[_Reader, Json, Frame], None]]] = {
    _DELTA: _Reader._block_delta,  # noqa: SLF001 - the table belongs to the class
    "content_block_start": _Reader._block_start,  # noqa: SLF001 - as above
    "content_block_stop": _Reader._block_stop,  # noqa: SLF001 - as above
    "error": _Reader._error,  # noqa: SLF001 - as above
    "message": _Reader._message,  # noqa: SLF001 - as above
    "message_delta": _Reader._message_delta,  # noqa: SLF001 - as above
    "message_start": _Reader._message_start,  # noqa: SLF001 - as above
    "message_stop": _Reader._message_stop,  # noqa: SLF001 - as above
    "ping": _Reader._ping,  # noqa: SLF001 - as above
}


read = reads_with(_Reader)
