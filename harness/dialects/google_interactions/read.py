"""Frames of an Interactions stream -> deltas, as prompt as the bytes allow.

An interaction is a list of steps (`content` in the first version of the API); a function call
is a step whose arguments come whole with its start, as one object, or as fragments of their
text. How the interaction stands is its end. Never makes up a call or an argument.
Source: Gemini API reference, "Interactions", `InteractionSseEvent`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Literal

import msgspec

from harness.dialects.kit.parse_request import as_text, dicts
from harness.dialects.kit.reader import EventReader, quote
from harness.turns.arguments import same_value
from harness.turns.deltas import Delta, FinishReason, ReasoningDelta, TextDelta
from harness.turns.exact_json import decode_exactly, write_exactly
from harness.wire.frames import Frame
from harness.wire.payload import NEVER_DEEP_BYTES


class StepPiece(msgspec.Struct, gc=False):
    """What an event adds to its step.

    Fields:
        text: of the answer, or of a thought, where the step is one.
        arguments: a fragment of the text of a call's arguments.
    """

    type: Literal["text", "arguments_delta"]
    text: str = ""
    arguments: str = ""


class StepDeltaEvent(msgspec.Struct, gc=False):
    """An event that adds one piece to step `index`."""

    event_type: Literal["step.delta", "content.delta"]
    delta: StepPiece
    index: int | None = None


_decode = msgspec.json.Decoder(StepDeltaEvent).decode


def piece_event(data: bytes) -> StepDeltaEvent | None:
    """Return the event that `data` is; None where it may be another one."""
    if len(data) > NEVER_DEEP_BYTES:
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None


_FINISHES = {
    "completed": FinishReason.STOP,
    "requires_action": FinishReason.TOOL_CALLS,
    "incomplete": FinishReason.LENGTH,
    "budget_exceeded": FinishReason.LENGTH,
}
_FAILED = frozenset(("failed", "cancelled"))
_GOES_ON = frozenset(("", "in_progress", "queued", "unspecified"))
_DOCUMENT_KEYS = ("steps", "outputs")


def read(frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:  # noqa: ARG001 - every dialect is given the declared tools
    """Yield the deltas of one response."""
    return _Reader().read(frames)


class _Reader(EventReader):
    """Reads one response."""

    def __init__(self) -> None:
        super().__init__()
        self._ours = False  # an event of this API came
        self._data = b""  # the event at hand
        self._calls: dict[object, int] = {}  # index of a step -> its call
        self._ids: dict[int, str] = {}
        self._at_start: dict[int, str] = {}  # arguments that came with the start of a call
        self._thoughts: set[object] = set()  # steps that are no part of the answer

    def _take(self, frame: Frame) -> None:
        event = piece_event(frame.data) if self._ours and not frame.failure else None
        if event is None:
            super()._take(frame)
            return
        index, delta = event.index, event.delta
        if delta.type == "arguments_delta":
            self._fragment(index, delta.arguments)
        elif delta.text:
            is_thought = index in self._thoughts
            self.says.out.append((ReasoningDelta if is_thought else TextDelta)(delta.text))

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one event, or a whole interaction."""
        if frame.event == "error" and "event_type" not in value:
            self._error(value if value.get("error") else {"error": value})
            return
        self._data = frame.data
        kind = value.get("event_type")
        take = self._TAKE.get(kind) if isinstance(kind, str) else None
        if take is not None:
            self._ours = True
            take(self, value)
        elif kind is None and value.get("error"):
            self._error(value)
        elif kind is None and any(key in value for key in (*_DOCUMENT_KEYS, "status")):
            self._document(_exactly(value, frame.data))

    def conclude(self) -> None:
        """End the turn; the state of the interaction is its finish reason."""
        for call in self._at_start:
            self._settle(call)
        if self.says.finished:
            self.says.close()
        elif self._ours:
            self.interrupted("the stream ended before the interaction did")
        else:
            self.unknown(self.first)

    # Events

    def _interaction(self, value: dict[str, Any]) -> None:
        interaction = value.get("interaction")
        if not isinstance(interaction, dict):
            return
        says = self.says
        says.seed = says.seed or as_text(interaction.get("id"))
        usage = interaction.get("usage")
        if isinstance(usage, dict):
            spent = (usage.get("total_output_tokens"), usage.get("total_thought_tokens"))
            counts = [count for count in spent if type(count) is int]
            says.usage(usage.get("total_input_tokens"), sum(counts) if counts else None)
        self._status(interaction)

    def _status(self, value: dict[str, Any]) -> None:
        word = as_text(value.get("status"))
        if word in _GOES_ON:
            return
        if word in _FAILED:
            self._error(value, word)
        else:
            self.says.finish(_FINISHES.get(word, FinishReason.OTHER), word)

    def _start(self, value: dict[str, Any]) -> None:
        step = value.get("step") or value.get("content")
        if isinstance(step, dict):
            if isinstance(step.get("arguments"), dict) and step["arguments"]:
                exact = _exactly(value, self._data)
                step = exact.get("step") or exact["content"]
            self._step(_index(value), step)

    def _delta(self, value: dict[str, Any]) -> None:
        index, delta = _index(value), value.get("delta")
        if not isinstance(delta, dict):
            return
        kind = delta.get("type")
        if kind == "arguments_delta":
            self._fragment(index, delta.get("arguments"))
        elif kind == "text":
            says = self.says
            (says.reasoning if index in self._thoughts else says.text)(delta.get("text"))
        elif kind == "thought_summary":
            self._texts([delta.get("content")], self.says.reasoning)
        elif kind == "function_call":
            self._call(index, _exactly(value, self._data)["delta"])

    def _stop(self, value: dict[str, Any]) -> None:
        call = self._calls.get(_index(value))
        if call is not None:
            self._settle(call)

    def _document(self, value: dict[str, Any]) -> None:
        """Take an interaction that was not streamed."""
        self._ours = True
        for key in _DOCUMENT_KEYS:
            for index, step in enumerate(dicts(value.get(key))):
                self._step(index, step)
        self._interaction({"interaction": value})

    def _error(self, value: dict[str, Any], word: str = "error") -> None:
        error = value.get("error")
        if isinstance(error, dict):
            code = error.get("status") or error.get("code") or word
            self.says.fail(quote(code), quote(error.get("message") or error))
        else:
            self.says.fail(word, quote(error) or f"the interaction ended as {word!r}")

    # Steps

    def _step(self, index: object, step: dict[str, Any]) -> None:
        """Take what a step holds when it starts; the provider's own tools say nothing."""
        kind = step.get("type")
        if kind == "function_call":
            self._call(index, step)
        elif kind == "thought":
            self._thoughts.add(index)
            self._texts(step.get("summary"), self.says.reasoning)
        elif kind == "model_output":
            self._texts(step.get("content"), self.says.text)
        elif kind == "text":
            self.says.text(step.get("text"))

    def _texts(self, contents: object, say: Callable[[object], None]) -> None:
        for content in dicts(contents):
            if content.get("type", "text") == "text":
                say(content.get("text"))

    def _call(self, index: object, call: dict[str, Any]) -> None:
        """Open a call, or learn more of the one of this step."""
        call_id, arguments = as_text(call.get("id")), call.get("arguments")
        key = self._calls.get(index)
        if key is None or (call_id and self._ids[key] not in ("", call_id)):
            key = self._calls[index] = len(self.says)
            self._ids[key] = call_id
        # In the first version a call may start with its id alone.
        self.says.open(key, call_id, call.get("name"))
        if arguments is not None:
            self._whole(key, arguments if isinstance(arguments, str) else write_exactly(arguments))

    def _whole(self, key: int, arguments: str) -> None:
        before = self._at_start.get(key)
        if before not in (None, "{}", arguments):
            self.says.reject(key, "its arguments came twice and differ")
        self._at_start[key] = arguments

    def _fragment(self, index: object, fragment: object) -> None:
        key = self._calls.get(index)
        if key is None:
            key = self._calls[index] = len(self.says)
            self._ids[key] = ""
        self.says.append(key, fragment)

    def _settle(self, call: int) -> None:
        """Decide between the arguments that came at once and their fragments."""
        whole, says = self._at_start.get(call, ""), self.says
        fragments = says.arguments(call)
        if not fragments:
            says.append(call, whole)
        elif whole not in ("", "{}") and not same_value(whole, fragments):
            says.reject(call, "its arguments came twice and differ")

    _TAKE: ClassVar[dict[str, Callable[["_Reader", dict[str, Any]], None]]] = {
        "interaction.created": _interaction,
        "interaction.start": _interaction,
        "interaction.status_update": _status,
        "step.start": _start,
        "content.start": _start,
        "step.delta": _delta,
        "content.delta": _delta,
        "step.stop": _stop,
        "content.stop": _stop,
        "interaction.completed": _interaction,
        "interaction.complete": _interaction,
        "error": _error,
    }


def _index(value: dict[str, Any]) -> object:
    index = value.get("index")
    return index if type(index) is int else None


def _exactly(value: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Return `value` with the digits and repeated keys of its arguments kept."""
    try:
        exact = decode_exactly(data)
    except ValueError:
        return value
    return exact if isinstance(exact, dict) else value
