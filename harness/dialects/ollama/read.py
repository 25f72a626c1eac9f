"""Read the frames of an Ollama stream as deltas: the lines of `/api/chat` and of `/api/generate`.

A call comes complete in one line. Its arguments are an object, whose JSON text the reader preserves
exactly. The line with `done` ends the turn, and lines after it are ignored. A complete response
without a stream is that one line. The reader never raises, whatever a stream contains.
Source: https://docs.ollama.com/api/chat, /api/generate and /api/errors
"""

from typing import Any, ClassVar, Final

import msgspec

from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import EventReader, exact_event, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason, ReasoningDelta, TextDelta
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_dict, as_text
from harness.wire.frames import Frame
from harness.wire.payload import json_or_none


class _Function(msgspec.Struct, gc=False):
    name: Any = ""
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class _Entry(msgspec.Struct, gc=False):
    function: _Function
    id: Any = ""


class _Message(msgspec.Struct, gc=False):
    content: str | None = ""
    thinking: str | None = ""
    tool_calls: list[_Entry] | None = None


class _Line(msgspec.Struct, gc=False):
    """A line of this API. The text of `/api/generate` is a member of the line itself."""

    done: bool
    message: _Message | None = None
    response: str = ""
    thinking: str = ""
    tool_calls: Any = None
    error: Any = None
    created_at: Any = ""
    done_reason: Any = ""
    prompt_eval_count: Any = None
    eval_count: Any = None


_decode = piece_decoder(_Line)


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
    """Reads one response of the dialect `ollama`."""

    INTERRUPTED: ClassVar = "the stream ended without a line that says `done`"

    def __init__(self) -> None:
        super().__init__()
        self._known_calls: set[tuple[str, str, str]] = set()

    def _take(self, frame: Frame) -> None:
        line = _decode(frame.data)
        if line is None or line.error or line.tool_calls:
            super()._take(frame)
            return
        if not self.first:
            self.first = frame.data
            # A response has no id, so `created_at` distinguishes it from others.
            self.turn.seed = as_text(line.created_at)
        message, add = line.message or _Message(line.response, line.thinking), self.turn.out.append
        if thinking := message.thinking:
            add(ReasoningDelta(thinking))
        if text := message.content:
            add(TextDelta(text))
        for entry in message.tool_calls or ():
            function = entry.function
            self._call(entry.id, function.name, _text_of(function.arguments))
        if line.done:
            self._done(line.done_reason, line.prompt_eval_count, line.eval_count)

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process a line that does not fit the typed struct."""
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
        if message.get("tool_calls"):
            self._calls(frame)
        if value.get("done") is True:
            counts = value.get("prompt_eval_count"), value.get("eval_count")
            self._done(value.get("done_reason"), *counts)

    # Calls

    def _calls(self, frame: Frame) -> None:
        """Process the calls of a line, each of which is complete."""
        message = _message_of(exact_event({}, frame.data))
        entries = message.get("tool_calls") if message else None
        if not isinstance(entries, list):
            self.turn.reject(len(self.turn), "its arguments cannot be read exactly")
            return
        for entry in entries:
            call = as_dict(entry)
            function = call.get("function")
            if isinstance(function, dict):
                arguments = _arguments_text(function.get("arguments"))
                self._call(call.get("id"), function.get("name"), arguments)
            else:
                self.turn.reject(len(self.turn), f"no call of a function: {quote(entry)}")

    def _call(self, call_id: object, name: object, arguments: str) -> None:
        # Without an id, as older servers send it, each entry is a call (OLL-ARGS-OBJECT).
        if isinstance(call_id, str) and call_id:
            identity = (call_id, str(name), arguments)
            if identity in self._known_calls:
                return  # the same call again
            self._known_calls.add(identity)
        key = len(self.turn)
        self.turn.open(key, call_id, name)
        self.turn.append(key, arguments)

    # The end

    def _done(self, reason: object, read: object, written: object) -> None:
        turn = self.turn
        turn.usage(read, written)
        word = as_text(reason)
        if word in _FAILED:
            turn.fail(word, f"the provider finished the turn with {word!r}")
            return
        # A turn with calls ends with `stop`, too (quirk OLL-DONE-STOP).
        turn.finish(_FINISH.get(word, FinishReason.OTHER), word)
        turn.close()


def _message_of(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the part of a line with text and calls; None if it is not a line of this API."""
    message = value.get("message")
    if isinstance(message, dict):
        return message
    if isinstance(value.get("response", value.get("thinking")), str):
        return value
    return _NOTHING if isinstance(value.get("done"), bool) else None


def _text_of(arguments: msgspec.Raw) -> str:
    """Return the JSON text of arguments; the text of an object stays as it was received."""
    text = str(arguments, "utf-8", "replace")
    # Some servers send the arguments as text (quirk OLL-ARGS-TEXT), or null (OLL-ARGS-NULL).
    if text.startswith('"'):
        return as_text(json_or_none(bytes(arguments)))
    return "" if text == "null" else text


def _arguments_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else write_exactly(arguments)


read = reads_with(_Reader)
