"""Frames of an Ollama stream -> deltas: the lines of `/api/chat` and of `/api/generate`.

A call comes complete in one line, its arguments as an object that is written again exactly as it
was written; the line with `done` ends the turn, and what follows it contains nothing. A complete,
non-streamed response is that one line. It never raises, whatever a stream contains.
Source: https://docs.ollama.com/api/chat, /api/generate and /api/errors
"""

from typing import Any, ClassVar, Final

import msgspec

from harness.dialects.kit.parse_request import as_dict, as_text
from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import EventReader, exact_event, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason, ReasoningDelta, TextDelta
from harness.turns.exact_json import write_exactly
from harness.wire.frames import Frame


class LineMessage(msgspec.Struct, gc=False):
    """The message of a line."""

    content: str = ""
    thinking: str = ""
    tool_calls: Any = None


class OllamaLine(msgspec.Struct, gc=False):
    """One line; the text of `/api/generate` is in the line itself."""

    message: LineMessage | None = None
    response: str = ""
    thinking: str = ""
    tool_calls: Any = None
    done: Any = None
    error: Any = None


class _Function(msgspec.Struct, gc=False):
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class _Entry(msgspec.Struct, gc=False):
    function: _Function


class _Calling(msgspec.Struct, gc=False):
    tool_calls: list[_Entry] = []


class _CallLine(_Calling, gc=False):
    message: _Calling | None = None


_decode = piece_decoder(OllamaLine)
_decode_calls = msgspec.json.Decoder(_CallLine).decode


def pieces_of(data: bytes) -> tuple[str, str] | None:
    """Return the thinking and the text that a line adds; None if it may say more."""
    line = _decode(data)
    if line is None or line.done is not False or line.error or line.tool_calls:
        return None
    message = line.message
    if message is None:
        return line.thinking, line.response
    return None if message.tool_calls else (message.thinking, message.content)


def arguments_of(data: bytes) -> list[str] | None:
    """Return the JSON text of each call's arguments; None if the calls have another shape."""
    try:
        line = _decode_calls(data)
    except (ValueError, RecursionError):
        return None
    entries = line.tool_calls if line.message is None else line.message.tool_calls
    return [str(entry.function.arguments, "utf-8", "replace") for entry in entries]


# `load` and `unload` end a request that only moved a model; they are OTHER, like new words.
_FINISH: Final = finish_reasons(
    # "": servers of 2024 had no `done_reason` yet
    stop=("", "stop"),
    tool_calls=("tool_calls",),
    length=("length",),
)
_FAILED: Final = frozenset(("error",))
_NOTHING: Final[dict[str, Any]] = {}


class _Reader(EventReader):
    """Reads one response."""

    INTERRUPTED: ClassVar = "the stream ended without a line that says `done`"

    def __init__(self) -> None:
        super().__init__()
        self._known_calls: set[tuple[str, str, str]] = set()

    def _take(self, frame: Frame) -> None:
        # The first line decides about the rest, so it is read in full.
        pieces = pieces_of(frame.data) if self.first else None
        if pieces is None:
            super()._take(frame)
            return
        thinking, text = pieces
        if thinking:
            self.turn.out.append(ReasoningDelta(thinking))
        if text:
            self.turn.out.append(TextDelta(text))

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one line."""
        if error := value.get("error"):
            self.provider_error(error)
            return
        message = _message_of(value)
        if message is None:
            self.unknown(frame.data)
            return
        turn = self.turn
        turn.seed = turn.seed or as_text(value.get("created_at"))
        if thinking := message.get("thinking"):
            turn.reasoning(thinking)
        turn.text(message.get("response" if message is value else "content"))
        if calls := message.get("tool_calls"):
            self._calls(calls, frame)
        if value.get("done") is True:
            self._done(value)

    # Calls

    def _calls(self, calls: object, frame: Frame) -> None:
        """Take the calls of a line; each entry of it is a separate call."""
        argument_texts = arguments_of(frame.data)
        if isinstance(calls, list) and argument_texts is not None:
            for entry, arguments in zip(calls, argument_texts, strict=True):
                self._call(entry, arguments)
            return
        entries = _calls_exactly(frame)
        if entries is None:
            self.turn.reject(len(self.turn), "its arguments cannot be read exactly")
            return
        for entry in entries:
            self._call(entry)

    def _call(self, entry: object, argument_texts: str = "") -> None:
        """Take one call, whose arguments are written again if it is not known how they were."""
        turn = self.turn
        key = len(turn)
        call = as_dict(entry)
        function = call.get("function")
        if not isinstance(function, dict):
            turn.reject(key, f"no call of a function: {quote(entry)}")
            return
        call_id, name = call.get("id"), function.get("name")
        arguments = _arguments(function, argument_texts)
        if isinstance(call_id, str) and call_id:
            identity = (call_id, str(name), arguments)
            if identity in self._known_calls:
                return  # the same call again
            self._known_calls.add(identity)
        turn.open(key, call_id, name)
        turn.append(key, arguments)

    # The end

    def _done(self, value: dict[str, Any]) -> None:
        turn = self.turn
        turn.usage(value.get("prompt_eval_count"), value.get("eval_count"))
        word = as_text(value.get("done_reason"))
        if word in _FAILED:
            turn.fail(word, f"the provider finished the turn with {word!r}")
            return
        turn.finish(_FINISH.get(word, FinishReason.OTHER), word)
        turn.close()


def _message_of(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return what of a line holds text and calls; None if it is not a line of this API."""
    message = value.get("message")
    if isinstance(message, dict):
        return message
    if isinstance(value.get("response", value.get("thinking")), str):
        return value
    return _NOTHING if isinstance(value.get("done"), bool) else None


def _calls_exactly(frame: Frame) -> list[Any] | None:
    """Return the calls of a line with every key and digit; None if it cannot be read exactly."""
    message = _message_of(exact_event({}, frame.data))
    calls = message.get("tool_calls") if message else None
    return calls if isinstance(calls, list) else None


def _arguments(function: dict[str, Any], argument_texts: str) -> str:
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else argument_texts or write_exactly(arguments)


read = reads_with(_Reader)
