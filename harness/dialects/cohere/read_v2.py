"""Read events of Cohere's chat API, version 2, as deltas.

Text, thinking, plan and arguments come in fragments. A call has a start, fragments and an end, and
its key is the `index` of its events. The plan for the tools is reasoning, not the answer.
Source: https://docs.cohere.com/docs/streaming and /docs/tool-use-streaming
"""

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Final, TypeAlias

import msgspec

from harness.dialects.cohere.ending import end, usage
from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import exact_event, quote
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_dict, as_text, dicts
from harness.wire.frames import Frame


class ContentPiece(msgspec.Struct, gc=False):
    """The member `content` of a message in an event: a part of the text or of the thinking."""

    text: str = ""
    thinking: str = ""


class FunctionPiece(msgspec.Struct, gc=False):
    """A fragment of arguments. An event with a name begins a call and does not fit this type."""

    arguments: str = ""
    name: str = ""


class CallPiece(msgspec.Struct, gc=False):
    """A fragment of a call. An event with an id begins a call and does not fit this type."""

    function: FunctionPiece | None = None
    id: str = ""


class MessagePiece(msgspec.Struct, gc=False):
    """The member `message` of an event: what the event adds to the message."""

    content: ContentPiece | None = None
    tool_plan: str = ""
    tool_calls: CallPiece | None = None


class EventDelta(msgspec.Struct, gc=False):
    """The member `delta` of an event, which contains a part of the message."""

    message: MessagePiece | None = None


class MessageEvent(msgspec.Struct, gc=False):
    """One event of version 2 that adds to the message."""

    type: str
    delta: EventDelta | None = None
    index: Any = None


piece_of = piece_decoder(MessageEvent)


Take: TypeAlias = Callable[["V2", dict[str, Any], Frame], None]

# Ends of what came in pieces; they are ignored, and need not be decoded in full.
BORDERS: Final = frozenset(("content-end", "tool-call-end"))


class V2:
    """Reads the events of one response of version 2, or its complete response."""

    __slots__ = ("_call_ids", "_keys", "_turn")

    def __init__(self, turn: Assembly) -> None:
        self._turn = turn
        self._keys: dict[Hashable, int] = {}  # index of events -> key of its latest call
        self._call_ids: dict[int, object] = {}

    def piece(self, piece: MessageEvent) -> bool:
        """Process an event that adds at most one fragment; return False for any other event."""
        message = piece.delta.message if piece.delta is not None else None
        if message is None:
            return piece.type in BORDERS
        match piece.type:
            case "content-delta" if message.content is not None:
                self._turn.reasoning(message.content.thinking)
                self._turn.text(message.content.text)
            case "tool-plan-delta":
                # The plan is reasoning about tools, not text for the user (COH-TOOL-EVENTS).
                self._turn.reasoning(message.tool_plan)
            case "tool-call-delta" if message.tool_calls is not None:
                return self._call_piece(piece.index, message.tool_calls)
            case _:
                return False
        return True

    def document(self, value: dict[str, Any], frame: Frame) -> None:
        """Process a complete response."""
        turn, message = self._turn, value["message"]
        turn.seed = as_text(value.get("id"))
        self._parts(message.get("content"))
        turn.reasoning(message.get("tool_plan"))
        calls = _exact_calls(value, frame, lambda value: as_dict(value.get("message")))
        for position, call in enumerate(calls):
            self._open(position, call)
        usage(turn, value.get("usage"))
        end(turn, value.get("finish_reason"), value.get("error"))

    # Events

    def _start(self, value: dict[str, Any], _frame: Frame) -> None:
        self._turn.seed = as_text(value.get("id"))

    def _content(self, value: dict[str, Any], _frame: Frame) -> None:
        content = as_dict(_message(value).get("content"))
        self._turn.reasoning(content.get("thinking"))
        self._turn.text(content.get("text"))

    def _plan(self, value: dict[str, Any], _frame: Frame) -> None:
        self._turn.reasoning(_message(value).get("tool_plan"))

    def _call_start(self, value: dict[str, Any], frame: Frame) -> None:
        index = _index(value.get("index"))
        for call in _exact_calls(value, frame, _message):
            self._open(index, call)

    def _call_piece(self, index: object, call: CallPiece) -> bool:
        key = self._keys.get(_index(index))
        function = call.function
        if key is None or function is None or function.name or call.id:
            return False
        self._turn.append(key, function.arguments)
        return True

    def _call_delta(self, value: dict[str, Any], frame: Frame) -> None:
        turn, index = self._turn, _index(value.get("index"))
        for call in _exact_calls(value, frame, _message):
            key = self._keys.setdefault(index, len(turn))
            function = _function(call)
            turn.open(key, call.get("id"), function.get("name"))
            turn.append(key, _arguments(function))

    def _end(self, value: dict[str, Any], _frame: Frame) -> None:
        fields = as_dict(value.get("delta"))
        usage(self._turn, fields.get("usage"))
        end(self._turn, fields.get("finish_reason"), fields.get("error"))

    # Their parts

    def _parts(self, content: object) -> None:
        """Process the content of a complete response: text, or a list of parts."""
        self._turn.text(content)
        for part in dicts(content):
            self._turn.reasoning(part.get("thinking"))
            self._turn.text(part.get("text"))

    def _open(self, index: Hashable, call: dict[str, Any]) -> None:
        """Begin a call. A used index with another id also begins a call."""
        turn, call_id = self._turn, call.get("id")
        key = self._keys.get(index)
        # An index that comes again with another id is another call. Fragments before the start
        # have no id.
        if key is None or self._call_ids.get(key, call_id) != call_id:
            key = self._keys[index] = len(turn)
            self._call_ids[key] = call_id
        function = _function(call)
        turn.open(key, call_id, function.get("name"))
        if call.get("type", "function") != "function":
            turn.reject(key, f"a call of type {quote(call['type'])!r}, not of a function")
        turn.append(key, _arguments(function))

    # Type of an event -> what takes it; ends of contents and calls, and citations, are ignored.
    TAKES: ClassVar[dict[str, Take]] = {
        "message-start": _start,
        "content-start": _content,
        "content-delta": _content,
        "tool-plan-delta": _plan,
        "tool-call-start": _call_start,
        "tool-call-delta": _call_delta,
        "message-end": _end,
    }


def _message(value: dict[str, Any]) -> dict[str, Any]:
    """Return what an event adds to the message."""
    return as_dict(as_dict(value.get("delta")).get("message"))


def _exact_calls(
    value: dict[str, Any], frame: Frame, message: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[dict[str, Any], ...]:
    """Return the calls of an event, with exact digits and keys if arguments are an object."""
    found = _listed(message(value).get("tool_calls"))
    if all(isinstance(_function(call).get("arguments"), str | None) for call in found):
        return found
    return _listed(message(exact_event(value, frame.data)).get("tool_calls"))


def _listed(calls: object) -> tuple[dict[str, Any], ...]:
    """Return the calls of an event, which has one call, or of a document, which has a list."""
    return (calls,) if isinstance(calls, dict) else tuple(dicts(calls))


def _index(index: object) -> Hashable:
    return index if isinstance(index, int | str) else None


def _function(call: dict[str, Any]) -> dict[str, Any]:
    return as_dict(call.get("function"))


def _arguments(function: dict[str, Any]) -> str:
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else write_exactly(arguments)
