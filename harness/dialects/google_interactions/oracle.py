"""Define the oracle of the dialect `google-interactions`, which adds up the steps.

Source: Gemini API reference, "Interactions", `InteractionSseEvent`, `Step`; for the events of the
first version, `InteractionStreamingEvent` of Vertex AI (`v1beta1`).
"""

from typing import ClassVar, Final

from harness.dialects.kit.oracle.dispatch import Json, TakeEvent
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.google import GoogleOracle
from harness.dialects.kit.oracle.reading import GrowingText, OpenCall
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import error_of, meanings, member_text, text_or_empty
from harness.turns.deltas import CUT_SHORT, CallKind
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading

_FAILED: Final = frozenset(("failed", "cancelled"))
_LASTS: Final = ("interaction.completed", "interaction.status_update", "interaction.complete")
_FIRST_VERSION: Final = "GINT-FIRST-VERSION"
_FIRST_KINDS: Final = frozenset(("function_call", "text", "thought"))
_OTHER_OUTPUT: Final = frozenset(("image", "audio", "video", "document"))
_GOES_ON: Final = frozenset(("in_progress", "queued"))


class _Call(OpenCall):
    """Collects the arguments of one function call.

    Fields:
        is_placeholder: its start has an empty object, and its arguments follow. If the model was
            stopped before the first of them, it is not known whether the call has arguments.
    """

    is_placeholder = False

    def __init__(self, step: Json, at_start: str, offset: int) -> None:
        super().__init__(offset, text_or_empty(step.get("id")), text_or_empty(step.get("name")))
        self.at_start = at_start
        self.over = False

    @property
    def arguments(self) -> str:
        """The arguments so far as JSON text; "" if none came."""
        return "".join(self.fragments) or ("" if self.is_placeholder else self.at_start)

    def reading(self, kind: CallKind = "function", *, from_object: bool = False) -> CallReading:
        """Return the call as the oracle reports it; a placeholder is not an object."""
        sent_object = bool(self.arguments) and not self.fragments
        return super().reading(kind, from_object=from_object or sent_object)


class GoogleInteractionsOracle(GoogleOracle):
    """Reads one response body of Google's Interactions API by its contract."""

    READ: ClassVar = frozenset(("input", "interaction.input"))  # what the request contained
    ITEMS: ClassVar = frozenset((
        "step", "steps", "delta", "outputs", "content", "interaction.steps", "interaction.outputs",
    ))  # fmt: skip
    USAGE: ClassVar = counts_at(
        ("interaction", "usage"), ("usage",), read="total_input_tokens",
        written="total_output_tokens", read_parts="total_tool_use_tokens",
        written_parts="total_thought_tokens",
    )  # fmt: skip
    MEANINGS: ClassVar = meanings(
        stop=("completed", "requires_action"), length=("incomplete", "budget_exceeded")
    )
    EMPTY_DATA: ClassVar[str] = "SSE-COMMENT-AS-DATA"
    ANY_VALUE_COUNTS: ClassVar[bool] = True

    TYPE_MEMBER: ClassVar[str] = "event_type"

    def __init__(self) -> None:
        super().__init__()
        self._steps: dict[int, _Call | None] = {}  # None for a step that is not a call
        self._first_kinds: dict[int, object] = {}
        self._thoughts: set[int] = set()
        self._early: dict[int, list[tuple[Json, Event]]] = {}  # deltas of steps that have no start
        self._takes: dict[str, TakeEvent] = {
            "interaction.created": self._interaction,
            "interaction.status_update": self._status,
            "interaction.completed": self._interaction,
            "step.start": self._start,
            "step.delta": self._delta,
            "step.stop": self._stop,
            "error": self.take_error_event,
            "interaction.start": self._first_interaction,
            "interaction.complete": self._first_interaction,
            "content.start": self._first_start,
            "content.delta": self._first_delta,
            "content.stop": self._stop,
        }

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        calls = (call for call in self._steps.values() if call is not None)
        return tuple(call.reading() for call in calls)

    # Events

    def is_event_name(self, name: str) -> bool:
        """Return whether the API has an event of this type, and it is not an error."""
        return name in self._takes and name != "error"

    def take(self, value: Json, event: Event) -> None:
        """Process one event, or the complete interaction."""
        kind = value.get("event_type")
        if self.error is not None or (self.finishes and kind not in ("error", *_LASTS)):
            self.notes.unreadable("CONTENT-AFTER-FINISH", event.offset)
        if isinstance(kind, str) and kind in self._takes:
            self._takes[kind](value, event)
        elif "event_type" not in value and value.get("object") == "interaction":
            self._document(value, event)
        elif (error := error_of(value, event.name)) is not None:
            self.take_error(error, event.offset)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _interaction(self, value: Json, event: Event) -> None:
        interaction = value.get("interaction")
        if isinstance(interaction, dict):
            self._status(interaction, event)
        else:
            self.notes.unreadable("EVENT-GLUED", event.offset)

    def _status(self, value: Json, event: Event) -> None:
        word = join_surrogates(text_or_empty(value.get("status")))
        if word in _GOES_ON:
            return
        if word in _FAILED:
            self.take_error(error_of(value) or (word, ""), event.offset)
            return
        if word not in self.MEANINGS:
            self.notes.ambiguous("FINISH-UNKNOWN", event.offset, end=True)
        if self.finishes and word != self.finishes[-1]:
            self.notes.ambiguous("FINISH-DUPLICATE", event.offset, end=True)
        self.add_finish(word)

    # Events of the first version of the API, in which a step is a content, and a call comes whole

    def _first_interaction(self, value: Json, event: Event) -> None:
        self.notes.harmless(_FIRST_VERSION, event.offset)
        interaction = value.get("interaction")
        if isinstance(interaction, dict) and interaction.get("outputs"):
            self._open_first(event)
        self._interaction(value, event)

    def _first_start(self, value: Json, event: Event) -> None:
        index, content = value.get("index"), value.get("content")
        if type(index) is not int or index in self._steps or not isinstance(content, dict):
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        given = content.get("type")
        kind = given if isinstance(given, str) else ""
        self._steps[index] = _Call(content, "", event.offset) if kind == "function_call" else None
        self._first_kinds[index] = kind
        if kind not in _FIRST_KINDS or not content.keys() <= {"type", "id"}:
            self._open_first(event)

    def _first_delta(self, value: Json, event: Event) -> None:
        index, delta = value.get("index"), value.get("delta")
        if type(index) is not int or index not in self._first_kinds or not isinstance(delta, dict):
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        kind, call = delta.get("type"), self._steps[index]
        expected = self._first_kinds[index]
        if kind == expected == "text":
            self._contents([delta], self.text, event.offset)
        elif kind == "thought_summary" and expected == "thought":
            self._contents([delta.get("content")], self.reasoning, event.offset)
        elif kind == "function_call" and call is not None:
            self._first_call(call, delta, event)
        elif kind != "thought_signature":
            self._open_first(event)

    def _first_call(self, call: _Call, delta: Json, event: Event) -> None:
        own, name = text_or_empty(delta.get("id")), text_or_empty(delta.get("name"))
        repeated = call.name or call.over or (own and call.id not in ("", own))
        if repeated or not name or not isinstance(delta.get("arguments"), dict):
            self._open_first(event)
        call.id, call.name = call.id or own, name
        call.at_start = member_text(event.data, "delta", "arguments")

    def _open_first(self, event: Event) -> None:
        self.notes.ambiguous(_FIRST_VERSION, event.offset, text=True, calls=True)

    # Events of the current version

    def _start(self, value: Json, event: Event) -> None:
        index, step = value.get("index"), value.get("step")
        if type(index) is not int or not isinstance(step, dict):
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        early = self._steps.pop(index) if self._is_unopened(index, step) else None
        if index in self._steps:
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        self._step(index, step, member_text(event.data, "step", "arguments"), event.offset)
        call = self._steps[index]
        if call is not None:
            call.is_placeholder = call.at_start == "{}"
            call.fragments = early.fragments if early is not None else []
        for delta, sent in self._early.pop(index, ()):
            self._delta(delta, sent)

    def _is_unopened(self, index: int, step: Json) -> bool:
        """Return whether fragments of the call that begins now came before its start."""
        early = self._steps.get(index)
        is_call = step.get("type") == "function_call"
        if early is None or not is_call or not early.is_unopened or early.over:
            return False
        self.notes.harmless("DELTA-NAME-LATE", early.offset)
        return True

    def _step(self, index: int, step: Json, at_start: str, offset: int) -> None:
        kind = step.get("type")
        self._steps[index] = None
        if kind == "function_call":
            if not isinstance(step.get("arguments", {}), dict) or not text_or_empty(
                step.get("name")
            ):
                self.notes.ambiguous("EVENT-GLUED", offset, calls=True)
            self._steps[index] = _Call(step, at_start, offset)
        elif kind == "thought":
            self._thoughts.add(index)
            self._contents(step.get("summary"), self.reasoning, offset)
        elif kind == "model_output":
            self._contents(step.get("content"), self.text, offset)
        elif kind == "text" or not isinstance(kind, str):
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)
        elif kind.endswith(("_call", "_result")):
            self.notes.server_tool("GEM-SERVER-TOOLS", offset)

    def _contents(self, contents: object, into: GrowingText, offset: int) -> None:
        for content in contents if isinstance(contents, list) else ():
            text = content.get("text") if isinstance(content, dict) else None
            if isinstance(text, str) and content.get("type") == "text":
                into.add(text)
            elif text is not None or not isinstance(content, dict):
                self.notes.ambiguous("EVENT-GLUED", offset, text=True)
            else:
                self.notes.other_output |= content.get("type") in _OTHER_OUTPUT
        if contents is not None and not isinstance(contents, list):
            self.notes.ambiguous("EVENT-GLUED", offset, text=True)

    def _delta(self, value: Json, event: Event) -> None:
        index, delta = value.get("index"), value.get("delta")
        kind = delta.get("type") if isinstance(delta, dict) else None
        if kind == "arguments_delta" and type(index) is int:
            self._steps.setdefault(index, _Call({}, "", event.offset))
        if type(index) is not int or not isinstance(delta, dict):
            self.notes.unreadable("EVENT-GLUED", event.offset)
            return
        if index not in self._steps:
            self._early.setdefault(index, []).append((value, event))
            return
        call = self._steps[index]
        if kind == "arguments_delta":
            self._fragment(call, delta.get("arguments"), event.offset)
        elif kind == "text" and call is None:
            into = self.reasoning if index in self._thoughts else self.text
            self._contents([delta], into, event.offset)
        elif kind == "thought_summary" and call is None:
            self._contents([delta.get("content")], self.reasoning, event.offset)
        elif kind in ("text", "thought_summary", "function_call"):
            self.notes.unreadable("EVENT-GLUED", event.offset)
        else:
            self.notes.other_output |= kind in _OTHER_OUTPUT

    def _fragment(self, call: _Call | None, fragment: object, offset: int) -> None:
        if call is None or call.over or not isinstance(fragment, str):
            self.notes.ambiguous("EVENT-GLUED", offset, calls=True)
            return
        if call.at_start == "{}" and not call.fragments:
            self.notes.harmless("GINT-ARGS-PLACEHOLDER", offset)
        elif call.at_start and not call.fragments:
            self.notes.ambiguous("GINT-ARGS-PLACEHOLDER", offset, calls=True)
        call.fragments.append(fragment)

    def _stop(self, value: Json, event: Event) -> None:
        index = value.get("index")
        if type(index) is not int or index not in self._steps:
            self.notes.unreadable("EVENT-GLUED", event.offset)
        elif (call := self._steps[index]) is not None:
            call.over = True
            if (
                not call.name and not call.fragments
            ):  # only in the first version, where a start need not have one
                self._open_first(event)

    def _document(self, value: Json, event: Event) -> None:
        """Process a complete interaction, which was not streamed."""
        steps = value.get("steps")
        if self.values > 1 or not isinstance(steps, list):
            self.notes.unreadable(_FIRST_VERSION, event.offset)
            return
        for index, step in enumerate(steps):
            if not isinstance(step, dict):
                self.notes.unreadable("EVENT-GLUED", event.offset)
                return
            # The texts of a list are looked up one by one: few steps, and only for calls.
            wanted = step.get("type") == "function_call"
            path = ("steps", index, "arguments")
            self._step(index, step, member_text(event.data, *path) if wanted else "", event.offset)
        self.marks.append((event.end, self.text.length))
        self._status(value, event)

    # The end

    def conclude(self) -> None:
        """Note deviations that can be seen only in the complete body."""
        for _, event in (early[0] for early in self._early.values()):
            self.notes.unreadable("EVENT-GLUED", event.offset)
        if self.meaning in CUT_SHORT:
            for call in filter(None, list(self._steps.values())[:-1]):
                call.is_placeholder = False  # it is complete, because another step follows
        calls = self.calls()
        if self._first_kinds and not all(call.name for call in calls):
            self.notes.ambiguous(_FIRST_VERSION, 0, calls=True)
        if not self.values:
            self.notes.harmless("STREAM-NO-EVENTS", 0)
        elif not self.finishes and self.error is None:
            self.notes.harmless("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if "requires_action" in self.finishes and not calls and self.notes.calls_known:
            self.notes.harmless("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)
