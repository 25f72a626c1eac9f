"""Read the frames of an Interactions stream as deltas, as promptly as the bytes allow.

An interaction is a list of steps (`content` in the first version of the API). A function call
is a step. Its arguments come complete with its start, as one object, or as fragments of their
text. The status of the interaction is the finish reason. The reader never invents a call or an
argument.
Source: Gemini API reference, "Interactions", `InteractionSseEvent`.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final, Literal

import msgspec

from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import EventReader, exact_event, finish_reasons, quote, reads_with
from harness.turns.arguments import same_value
from harness.turns.deltas import CUT_SHORT, FinishReason, ReasoningDelta, TextDelta
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_dict, as_text, dicts
from harness.wire.frames import Frame


class StepPiece(msgspec.Struct, gc=False):
    """The member `delta` of an event: what the event adds to its step.

    Fields:
        text: a part of the answer, or of a thought if the step is one.
        arguments: a fragment of the text of a call's arguments.
    """

    type: Literal["text", "arguments_delta"]
    text: str = ""
    arguments: str = ""


class StepDeltaEvent(msgspec.Struct, gc=False):
    """An event that adds text or arguments to the step `index`."""

    event_type: Literal["step.delta", "content.delta"]
    delta: StepPiece
    index: int | None = None


_piece_of = piece_decoder(StepDeltaEvent)
# The framing may not name an event.
_DELTA_NAMES: Final = frozenset(("", "step.delta", "content.delta"))

_FINISHES: Final = finish_reasons(
    stop=("completed",), tool_calls=("requires_action",), length=("incomplete", "budget_exceeded")
)
_FAILED = frozenset(("failed", "cancelled"))
_GOES_ON = frozenset(("", "in_progress", "queued", "unspecified"))
_DOCUMENT_KEYS = ("steps", "outputs")


class _Reader(EventReader):
    """Reads one response of the dialect `google-interactions`."""

    INTERRUPTED: ClassVar = "the stream ended before the interaction did"

    _data: bytes  # the event at hand

    def __init__(self) -> None:
        super().__init__()
        self.is_known = False
        self._calls: dict[object, int] = {}  # index of a step -> its call
        self._ids: dict[int, str] = {}
        self._at_start: dict[int, str] = {}  # arguments that came with the start of a call
        # The last call, if its start has an empty object in place of the arguments that follow.
        self._placeholder: int | None = None
        self._is_cut = False
        self._thoughts: set[object] = set()  # steps that are not part of the answer

    def _take(self, frame: Frame) -> None:
        # An attempt to decode another event would be slow.
        may_be_piece = self.is_known and frame.event in _DELTA_NAMES
        event = _piece_of(frame.data) if may_be_piece else None
        if event is None:
            super()._take(frame)
            return
        index, delta = event.index, event.delta
        if delta.type == "arguments_delta":
            self._fragment(index, delta.arguments)
        elif delta.text:
            is_thought = index in self._thoughts
            self.turn.out.append((ReasoningDelta if is_thought else TextDelta)(delta.text))

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one event, or a complete interaction."""
        if frame.event == "error":
            self._error(value if value.get("error") else {"error": value})
            return
        self._data = frame.data
        kind = value.get("event_type")
        if kind is None and not value.get("error") and frame.event in self._TAKE:
            kind = frame.event  # quirk SSE-TYPE-IN-NAME-ONLY
        take = self._TAKE.get(kind) if isinstance(kind, str) else None
        if take is not None:
            self.is_known = True
            take(self, value)
        elif kind is None and value.get("error"):
            self._error(value)
        elif kind is None and any(key in value for key in (*_DOCUMENT_KEYS, "status")):
            self._document(exact_event(value, frame.data))

    def end_of_stream(self) -> None:
        """End the turn; the status of the interaction is its finish reason."""
        for call in self._at_start:
            # If the model was stopped before its arguments began, they are not known.
            if not (self._is_cut and call == self._placeholder):
                self._complete_call(call)
        super().end_of_stream()

    # Events

    def _interaction(self, value: dict[str, Any]) -> None:
        interaction = value.get("interaction")
        if not isinstance(interaction, dict):
            return
        self._identify(interaction)
        usage = interaction.get("usage")
        if isinstance(usage, dict):
            spent = (usage.get("total_output_tokens"), usage.get("total_thought_tokens"))
            counts = [count for count in spent if type(count) is int]
            self.turn.usage(usage.get("total_input_tokens"), sum(counts) if counts else None)
        self._status(interaction)

    def _identify(self, interaction: dict[str, Any]) -> None:
        self.turn.seed = as_text(interaction.get("id"))

    def _status(self, value: dict[str, Any]) -> None:
        word = as_text(value.get("status"))
        if word in _GOES_ON:
            return
        if word in _FAILED:
            self._error(value, word)
        else:
            reason = _FINISHES.get(word, FinishReason.OTHER)
            self._is_cut = reason in CUT_SHORT
            self.turn.finish(reason, word)

    def _start(self, value: dict[str, Any]) -> None:
        step = value.get("step") or value.get("content")
        if isinstance(step, dict):
            arguments = step.get("arguments")
            if isinstance(arguments, dict) and arguments:
                exact = exact_event(value, self._data)
                step = exact.get("step") or exact["content"]
            self._step(_index(value), step)
            self._placeholder = self._calls.get(_index(value)) if arguments == {} else None

    def _delta(self, value: dict[str, Any]) -> None:
        index, delta = _index(value), as_dict(value.get("delta"))
        kind = delta.get("type")
        if kind == "arguments_delta":
            self._fragment(index, delta.get("arguments"))
        elif kind == "text":
            turn = self.turn
            (turn.reasoning if index in self._thoughts else turn.text)(delta.get("text"))
        elif kind == "thought_summary":
            self._texts([delta.get("content")], self.turn.reasoning)
        elif kind == "function_call":
            self._call(index, exact_event(value, self._data)["delta"])

    def _stop(self, value: dict[str, Any]) -> None:
        call = self._calls.get(_index(value))
        if call is not None and call != self._placeholder:
            self._complete_call(call)

    def _document(self, value: dict[str, Any]) -> None:
        """Process a complete interaction, which was not streamed."""
        self.is_known = True
        self._identify(value)  # before its calls, whose ids may depend on it
        for key in _DOCUMENT_KEYS:
            for index, step in enumerate(dicts(value.get(key))):
                self._step(index, step)
        self._interaction({"interaction": value})

    def _error(self, value: dict[str, Any], word: str = "error") -> None:
        error = value.get("error")
        if isinstance(error, dict):
            self.provider_error(error, ("status", "code"), word)
        else:
            self.turn.fail(word, quote(error) or f"the interaction ended as {word!r}")

    # Steps

    def _step(self, index: object, step: dict[str, Any]) -> None:
        """Process the content of a step at its start. Steps of the provider's tools are ignored."""
        kind = step.get("type")
        if kind == "function_call":
            self._call(index, step)
        elif kind == "thought":
            self._thoughts.add(index)
            self._texts(step.get("summary"), self.turn.reasoning)
        elif kind == "model_output":
            self._texts(step.get("content"), self.turn.text)
        elif kind == "text":
            self.turn.text(step.get("text"))

    def _texts(self, contents: object, emit: Callable[[object], None]) -> None:
        for content in dicts(contents):
            if content.get("type", "text") == "text":
                emit(content.get("text"))

    def _call(self, index: object, call: dict[str, Any]) -> None:
        """Begin the call of this step, or add data to a call that has begun."""
        call_id, arguments = as_text(call.get("id")), call.get("arguments")
        key = self._calls.get(index)
        if key is None or (call_id and self._ids.get(key, "") not in ("", call_id)):
            key = self._calls[index] = len(self.turn)
            self._ids[key] = call_id
        # In the first version a call may start with its id alone.
        self.turn.open(key, call_id, call.get("name"))
        if arguments is None:
            return
        text = arguments if isinstance(arguments, str) else write_exactly(arguments)
        if self._at_start.get(key) not in (None, "{}", text):
            self.turn.reject(key, "its arguments came twice and differ")
        self._at_start[key] = text

    def _fragment(self, index: object, fragment: object) -> None:
        self.turn.append(self._calls.setdefault(index, len(self.turn)), fragment)

    def _complete_call(self, call: int) -> None:
        """Choose between the arguments in the start of a call and their fragments."""
        at_once, turn = self._at_start.get(call, ""), self.turn
        fragments = turn.arguments(call)
        if not fragments:
            turn.append(call, at_once)
        elif at_once not in ("", "{}") and not same_value(at_once, fragments):
            turn.reject(call, "its arguments came twice and differ")

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


read = reads_with(_Reader)
