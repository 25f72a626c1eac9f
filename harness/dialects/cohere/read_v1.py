"""Read events of Cohere's chat API, version 1, as deltas.

Calls come in fragments under an `index`, and again in a list, which decides. In the list the
parameters are an object, and the fragments must have the same content. The last event repeats the
complete response, which the reader emits only once. Text next to calls is the model's plan, and is
reasoning.
Source: https://docs.cohere.com/v1/docs/streaming and /reference/chat-stream-v1
"""

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from harness.dialects.cohere.ending import end, usage
from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.reader import exact_event
from harness.turns.arguments import same_value
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_dict, as_text, dicts
from harness.wire.frames import Frame

Take: TypeAlias = Callable[["V1", dict[str, Any], Frame], None]


class V1:
    """Reads the events of one response of version 1, or its complete response."""

    __slots__ = ("_planned", "_spoke", "_turn")

    def __init__(self, turn: Assembly) -> None:
        self._turn = turn
        self._spoke = False  # a piece of the answer came
        self._planned = False  # a piece of the plan came

    def document(self, value: dict[str, Any], frame: Frame) -> None:
        """Process a complete response."""
        self._turn.seed = as_text(value.get("generation_id"))
        self._complete(exact_event(value, frame.data))
        end(self._turn, value.get("finish_reason"), value.get("error"))

    # Events

    def _start(self, value: dict[str, Any], _frame: Frame) -> None:
        self._turn.seed = as_text(value.get("generation_id"))

    def _text(self, value: dict[str, Any], _frame: Frame) -> None:
        if text := value.get("text"):
            self._spoke = True
            self._turn.text(text)

    def _chunk(self, value: dict[str, Any], _frame: Frame) -> None:
        """Process a part of the plan, or of a call."""
        self._plan(value.get("text"))
        delta = value.get("tool_call_delta")
        if not isinstance(delta, dict):
            return
        turn = self._turn
        index = delta.get("index")
        key = index if isinstance(index, int) else max(0, len(turn) - 1)
        turn.open(key, delta.get("id"), delta.get("name"))
        turn.append(key, delta.get("parameters"))

    def _generation(self, value: dict[str, Any], frame: Frame) -> None:
        """Process the list of all calls, and the complete plan."""
        if not self._planned:
            self._plan(value.get("text"))
        self._calls(exact_event(value, frame.data).get("tool_calls"))

    def _end(self, value: dict[str, Any], frame: Frame) -> None:
        answer = as_dict(exact_event(value, frame.data).get("response"))
        self._complete(answer)
        word = value.get("finish_reason") or answer.get("finish_reason")
        end(self._turn, word, value.get("error"))

    # Their parts

    def _plan(self, text: object) -> None:
        if text:
            self._planned = True
            self._turn.reasoning(text)

    def _complete(self, value: dict[str, Any]) -> None:
        """Process the parts of a complete response that no event contained before."""
        self._calls(value.get("tool_calls"))
        if not (self._spoke or self._planned):
            emit = self._plan if len(self._turn) else self._turn.text
            emit(value.get("text"))
        usage(self._turn, value.get("meta"))

    def _calls(self, calls: object) -> None:
        """Process the list of all calls. Numbers in parameters keep all their digits."""
        turn = self._turn
        for position, call in enumerate(dicts(calls)):
            so_far = turn.arguments(position)
            turn.open(position, call.get("id"), call.get("name"))
            parameters = call.get("parameters")
            if parameters is None:
                continue
            text = parameters if isinstance(parameters, str) else write_exactly(parameters)
            if not so_far:
                turn.append(position, text)
            elif not same_value(so_far, text):
                turn.reject(position, "its parameters came twice and differ")

    # Type of an event -> what takes it; those for the provider's own searches are ignored.
    TAKES: ClassVar[dict[str, Take]] = {
        "stream-start": _start,
        "text-generation": _text,
        "tool-calls-chunk": _chunk,
        "tool-calls-generation": _generation,
        "stream-end": _end,
    }
