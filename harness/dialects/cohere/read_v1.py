"""Events of the chat API, version 1 -> what they say.

Calls come in pieces under an `index`, and once more in a list that has authority: their
parameters are an object there, and the pieces must say the same. The last event repeats the
whole answer, which is said once. A text beside calls is the plan for them: it is reasoning.
Source: https://docs.cohere.com/v1/docs/streaming and /reference/chat-stream-v1
"""

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from harness.dialects.cohere.ending import end, usage
from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.parse_request import as_text, dicts
from harness.turns.arguments import same_value
from harness.turns.exact_json import decode_exactly, write_exactly
from harness.wire.frames import Frame

Take: TypeAlias = Callable[["V1", dict[str, Any], Frame], None]


class V1:
    """Reads the events of one response, and the complete response."""

    __slots__ = ("_planned", "_says", "_spoke")

    def __init__(self, says: Assembly) -> None:
        self._says = says
        self._spoke = False  # a piece of the answer came
        self._planned = False  # a piece of the plan came

    def document(self, value: dict[str, Any], frame: Frame) -> None:
        """Take a complete response."""
        self._says.seed = as_text(value.get("generation_id"))
        self._whole(value, _exactly(frame))
        end(self._says, value.get("finish_reason"), value.get("error"))

    # Events

    def _start(self, value: dict[str, Any], _frame: Frame) -> None:
        self._says.seed = as_text(value.get("generation_id"))

    def _text(self, value: dict[str, Any], _frame: Frame) -> None:
        if text := value.get("text"):
            self._spoke = True
            self._says.text(text)

    def _chunk(self, value: dict[str, Any], _frame: Frame) -> None:
        """Take a piece of the plan, or of a call."""
        self._plan(value.get("text"))
        delta = value.get("tool_call_delta")
        if not isinstance(delta, dict):
            return
        says = self._says
        index = delta.get("index")
        key = index if isinstance(index, int) else max(0, len(says) - 1)
        says.open(key, delta.get("id"), delta.get("name"))
        says.append(key, delta.get("parameters"))

    def _generation(self, value: dict[str, Any], frame: Frame) -> None:
        """Take the list of all calls, and the whole plan."""
        if not self._planned:
            self._plan(value.get("text"))
        self._calls(value.get("tool_calls"), _exactly(frame).get("tool_calls"))

    def _end(self, value: dict[str, Any], frame: Frame) -> None:
        response = value.get("response")
        told = response if isinstance(response, dict) else {}
        exact = _exactly(frame).get("response") if told.get("tool_calls") else None
        self._whole(told, exact if isinstance(exact, dict) else {})
        word = value.get("finish_reason") or told.get("finish_reason")
        end(self._says, word, value.get("error"))

    def _nothing(self, _value: dict[str, Any], _frame: Frame) -> None:
        """Take an event of what the provider itself searched or cites."""

    # Their parts

    def _plan(self, text: object) -> None:
        if text:
            self._planned = True
            self._says.reasoning(text)

    def _whole(self, value: dict[str, Any], exact: dict[str, Any]) -> None:
        """Take what a complete response says and no event said before."""
        self._calls(value.get("tool_calls"), exact.get("tool_calls"))
        if not (self._spoke or self._planned):
            say = self._plan if len(self._says) else self._says.text
            say(value.get("text"))
        usage(self._says, value.get("meta"))

    def _calls(self, calls: object, exact: object) -> None:
        """Take the list of all calls; `exact` is the same list with every digit."""
        found = tuple(dicts(calls))
        again = tuple(dicts(exact))
        for place, call in enumerate(found):
            self._call(place, call, again[place] if len(again) == len(found) else None)

    def _call(self, place: int, call: dict[str, Any], exact: dict[str, Any] | None) -> None:
        says = self._says
        so_far = says.arguments(place)
        says.open(place, call.get("id"), call.get("name"))
        parameters = (exact or call).get("parameters")
        if parameters is None:
            return
        text = parameters if isinstance(parameters, str) else write_exactly(parameters)
        if exact is None and not isinstance(parameters, str):
            says.reject(place, "its parameters cannot be read exactly")
        elif not so_far:
            says.append(place, text)
        elif not same_value(so_far, text):
            says.reject(place, "its parameters came twice and differ")

    # Type of an event -> what takes it.
    TAKES: ClassVar[dict[str, Take]] = {
        "stream-start": _start,
        "text-generation": _text,
        "tool-calls-chunk": _chunk,
        "tool-calls-generation": _generation,
        "citation-generation": _nothing,
        "search-queries-generation": _nothing,
        "search-results": _nothing,
        "stream-end": _end,
    }


def _exactly(frame: Frame) -> dict[str, Any]:
    """Return the object of a frame, whose numbers keep their digits; empty where it has none."""
    try:
        value = decode_exactly(frame.data)
    except ValueError:  # an integer of thousands of digits
        return {}
    return value if isinstance(value, dict) else {}
