"""Define the oracle of the dialect `openai-responses`, which adds up the output items.

Source: OpenAI API reference, "Responses: streaming events", "The response object" and
"Realtime: server events".
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from harness.dialects.kit.oracle.dispatch import DONE, Json, Oracle
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    error_of,
    event_value,
    is_index,
    meanings,
    text_or_empty,
)
from harness.dialects.openai_responses.oracle.items import ItemTable
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading, OracleReading, SealedReading
from harness.wire.interaction import Interaction

_STOPPED: Final = frozenset(("failed", "cancelled", "canceled"))
_OVER: Final = frozenset(("completed", "incomplete")) | _STOPPED
# The terminal event, such as `response.failed` -> the status that it means.
_STATUS: Final = {f"response.{status}": status for status in _OVER} | {"response.done": "completed"}
# Name of the events of a text -> the kind of text, and its member in the last of them.
_TEXTS: Final = {
    "response.output_text": ("text", "text"),
    "response.text": ("text", "text"),
    "response.audio_transcript": ("text", "transcript"),
    "response.output_audio_transcript": ("text", "transcript"),
    "response.refusal": ("refusal", "refusal"),
    "response.reasoning_summary_text": ("summary", "text"),
    "response.reasoning_text": ("reasoning", "text"),
}
# Beginnings of types of these APIs; of those that no table names, a reading takes no notice.
_OURS: Final = ("response.", "session.", "conversation.", "input_audio_buffer.", "rate_limits.")
# What a gateway reports of the tools that it executes.
_SERVER_TOOLS: Final = ("response.mcp_call", "response.mcp_list_tools", "response.web_search_call")
_SERVER_ITEMS: Final = ("mcp_call", "mcp_list_tools", "web_search_call")
# Drafts of events, which another reader may know.
_DRAFTS: Final = ("response.reasoning.", "response.reasoning_summary.", "response.error")


class OpenAIResponsesOracle(Oracle):
    """Reads one response body of the Responses API, or events of the Realtime API."""

    ITEMS: ClassVar = frozenset(("item", "response.output", "output"))
    USAGE: ClassVar = counts_at(
        ("response", "usage"), ("usage",), read="input_tokens", written="output_tokens"
    )
    MEANINGS: ClassVar = meanings(
        stop=("completed",), length=("max_output_tokens",), content_filter=("content_filter",)
    )

    TYPE_MEMBER: ClassVar[str] = "type"

    _reads_later = False

    def __init__(self, custom: frozenset[str] | None = None) -> None:
        super().__init__()
        items = self.table = self._items = ItemTable(self.notes, self.text, self.reasoning)
        items.custom = custom
        self._has_sentinel = False
        self._in_session = False
        self._created = 0
        self._id = ""  # of the response
        self._later: OpenAIResponsesOracle | None = None  # reads a second response
        self._takes: dict[str, Callable[[Json, int], None]] = {
            "error": self._error_event,
            "response.created": self._begin,
            "response.in_progress": self._begin,
            "response.function_call_arguments.delta": partial(items.fragment, "function_call"),
            "response.function_call_arguments.done": partial(items.arguments_over, "function_call"),
            "response.custom_tool_call_input.delta": partial(items.fragment, "custom_tool_call"),
            "response.custom_tool_call_input.done": partial(
                items.arguments_over, "custom_tool_call"
            ),
            "response.output_item.added": items.added,
            "response.output_item.done": items.done,
            "session.output_transcript.delta": self._transcript,
            "session.closed": self._closed,
            **dict.fromkeys(_STATUS, self._terminal),
        }

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`, by the contract of the API."""
        asked = dict_or_empty(event_value(interaction.request.body.decode("utf-8", "replace")))
        names = frozenset(_tool_names(asked.get("tools")))
        self._items.custom = names or None
        self._in_session = interaction.in_session
        return super().read(interaction)

    @property
    def refusal(self) -> str:
        """The refusal so far."""
        return join_surrogates("".join(self._items.refusal))

    def event(self, event: Event) -> None:
        """Process one event; after `[DONE]`, no other may follow."""
        if self._has_sentinel and event.data.strip() not in ("", DONE):
            self.notes.unreadable("SSE-AFTER-DONE", event.offset)
        else:
            super().event(event)

    def sentinel(self, event: Event) -> None:
        """Process `[DONE]`, which the API does not send."""
        self._has_sentinel = True
        self.notes.harmless("RESP-DONE-SENTINEL", event.offset)
        if self.values and not self.ended and self.error is None:
            # Whether it ends a response that has no terminal event is nowhere written.
            self.notes.ambiguous("RESP-NO-TERMINAL", event.offset, end=True)

    def unfinished(self, data: str, event: Event) -> None:
        """Process an event that is incomplete because the body ends inside it."""
        values = [event_value(data), *map(event_value, data.split("\n"))]
        if self.ended or DONE.startswith(data):
            self.notes.harmless("SSE-NO-FINAL-BLANK", event.offset)
        elif isinstance(values[0], dict):
            self.take_unfinished(values[0], event)
        elif any(isinstance(value, dict) for value in values):
            self.notes.unreadable("SSE-NO-FINAL-BLANK", event.offset)
        else:
            self.values += 1

    @property
    def resumed(self) -> bool:
        """Whether the stream continues an earlier one of the same response."""
        return self._items.resumed

    # Events

    def is_event_name(self, name: str) -> bool:
        """Return whether the API has an event of this type, and it is not an error."""
        return name.startswith("response.")

    def take(self, value: Json, event: Event) -> None:
        """Process one event, or the complete response."""
        kind = value.get("type")
        if not isinstance(kind, str):
            self._untyped(value, event)
            return
        if self.ended or self.error is not None:
            self._after_end(kind, value, event.offset)
            return
        self._check_envelope(value, kind, event)
        if self.values == 1 and kind.startswith("response.") and kind != "response.created":
            number = value.get("sequence_number")
            self._items.resumed = is_index(number) and number > 0
        name, _, part = kind.rpartition(".")
        if part == "delta" and name in _TEXTS:
            self._items.piece(_TEXTS[name][0], value, event.offset)
        elif part == "done" and name in _TEXTS:
            self._items.text_over(*_TEXTS[name], value, event.offset)
        elif (take := self._takes.get(kind)) is not None:
            take(value, event.offset)
        elif kind.startswith(_DRAFTS):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
        elif not kind.startswith(_OURS):
            self._untyped(value, event)

    def _check_envelope(self, value: Json, kind: str, event: Event) -> None:
        if not event.name and not event.is_wrapped and not self._in_session:
            self.notes.harmless("RESP-NO-EVENT-LINE", event.offset)
        if "obfuscation" in value:
            self.notes.harmless("RESP-OBFUSCATION", event.offset)
        number = value.get("sequence_number", 0)
        if not isinstance(number, int) or number < 0:
            self.notes.harmless("RESP-SEQUENCE-NEGATIVE", event.offset)
        if "event_id" in value or kind == "response.done":
            self.notes.harmless("RESP-REALTIME-EVENTS", event.offset)

    def _after_end(self, kind: str, value: Json, offset: int) -> None:
        """Process an event after the end. Only the failed response may follow, after an error."""
        if self.error is None and self._is_of_later(kind, value, offset):
            return
        if self.error is None or kind not in ("response.failed", "error"):
            self.notes.unreadable("SSE-AFTER-DONE", offset)
        elif (error := error_of(dict_or_empty(value.get("response")))) is not None:
            self.later_errors.append(error[0])

    def _is_of_later(self, kind: str, value: Json, offset: int) -> bool:
        """Process an event of a second response, which a gateway put into the same stream.

        The first response is complete. A client stops after it, or reads on and adds the second.
        """
        if self._later is None:
            response = dict_or_empty(value.get("response"))
            if kind != "response.created" or text_or_empty(response.get("id")) in ("", self._id):
                return kind.startswith(_SERVER_TOOLS) or self._is_server_item(kind, value)
            answers = ("first", "both")
            self._later = OpenAIResponsesOracle(self._items.custom)
            self._reads_later = (
                self.notes.policy_choice("RESP-SECOND-LIFECYCLE", offset, *answers) == "both"
            )
        self._later.values += 1
        self._later.take(value, Event("", offset, offset, kind))
        return True

    def _is_server_item(self, kind: str, value: Json) -> bool:
        item = dict_or_empty(value.get("item")).get("type")
        return kind.startswith("response.output_item.") and item in _SERVER_ITEMS

    def _add_later(self, later: "OpenAIResponsesOracle") -> None:
        """Add the content of the second response, unless it is ambiguous itself."""
        later.conclude()
        self.notes.unknown.update(later.notes.unknown)
        self.text.add(later.text.value())
        self.reasoning.add(later.reasoning.value())
        self.error = self.error or later.error
        if later.finishes:
            self.add_finish(later.word)

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far; those of a second response follow, if it counts."""
        later = self._later.calls() if self._later is not None and self._reads_later else ()
        return (*super().calls(), *later)

    def _untyped(self, value: Json, event: Event) -> None:
        error = error_of(value, event.name)
        if self.ended:
            self.notes.unreadable("SSE-AFTER-DONE", event.offset)
        elif value.get("object") == "response" and isinstance(value.get("status"), str):
            self._document(value, event.offset)
        elif error is not None:
            if value.get("output"):  # a response without the mark of one
                self.notes.ambiguous("ENVELOPE-WRAPPED", event.offset, text=True, calls=True)
            self.take_error(error, event.offset)
        elif isinstance(value.get("type"), str) and self._created:
            self.notes.harmless("RESP-UNKNOWN-EVENT", event.offset)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _document(self, value: Json, offset: int) -> None:
        """Process the complete response that the API returns to a request without a stream."""
        if self.values > 1:
            self.notes.unreadable("EVENT-GLUED", offset)
            return
        self.notes.harmless("JSON-FOR-STREAM", offset)
        self._learn_tools(value)
        self._items.output(value.get("output"), offset, streamed=False)
        self._end(value, "", offset)

    def _begin(self, value: Json, offset: int) -> None:
        response = value.get("response")
        self._created += value.get("type") == "response.created"
        if self._created > 1:
            self.notes.unreadable("EVENT-GLUED", offset)
        if isinstance(response, dict):
            self._id = self._id or text_or_empty(response.get("id"))
            self._learn_tools(response)

    def _learn_tools(self, response: Json) -> None:
        tools = response.get("tools")
        if isinstance(tools, list) and tools:
            dicts = [tool for tool in tools if isinstance(tool, dict)]
            names = (tool.get("name") for tool in dicts if tool.get("type") == "custom")
            self._items.custom = frozenset(name for name in names if isinstance(name, str))

    def _terminal(self, value: Json, offset: int) -> None:
        response = value.get("response")
        if not isinstance(response, dict):
            self.notes.unreadable("EVENT-GLUED", offset)
            return
        self._items.output(response.get("output"), offset, streamed=True)
        self._end(response, _STATUS[value["type"]], offset)

    def _end(self, response: Json, status: str, offset: int) -> None:
        own_status = response.get("status")
        if isinstance(own_status, str) and own_status in _OVER:
            if status and own_status != status and status != _STATUS["response.done"]:
                self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
            status = own_status
        details = dict_or_empty(
            response.get("incomplete_details") or response.get("status_details")
        )
        error = response.get("error") or details.get("error")
        if status in _STOPPED or error:
            message = text_or_empty(details.get("reason"))
            self.take_error(error_of({"error": error}) or (status, message), offset)
        elif status:
            self._finished(status, details.get("reason"), offset)

    def _finished(self, status: str, reason: object, offset: int) -> None:
        word = status
        if status == "incomplete":
            self.notes.harmless("RESP-INCOMPLETE", offset)
            if isinstance(reason, str) and reason:
                word = join_surrogates(reason)
            else:
                self.notes.ambiguous("RESP-INCOMPLETE", offset, calls=True, end=True)
        self.add_finish(word)

    def _error_event(self, value: Json, offset: int) -> None:
        if "event_id" in value:
            # A Realtime session may go on after an error.
            self.notes.ambiguous("RESP-REALTIME-EVENTS", offset, calls=True, end=True)
            return
        self.take_error(error_of(value, "error") or ("", ""), offset)

    def _transcript(self, value: Json, offset: int) -> None:
        self.notes.harmless("RESP-REALTIME-EVENTS", offset)
        self.text.add(text_or_empty(value.get("delta")))

    def _closed(self, _: Json, offset: int) -> None:
        """Process the end of a translation session, which has no finish reason."""
        self.ended = True
        if len(self._items):
            self.notes.unreadable("RESP-REALTIME-EVENTS", offset)

    # The end

    def sealed(self) -> tuple[SealedReading, ...]:
        """Return the encrypted reasoning."""
        return tuple(self._items.sealed())

    def conclude(self) -> None:
        """Note deviations that can be seen only in the complete body."""
        if self._later is not None and self._reads_later:
            self._add_later(self._later)
        self._items.conclude(0, completed=self.word == "completed")
        calls = self._items.calls()
        if not self.values:
            if not self.notes.deviations() or "end" not in self.notes.unknown:
                self.notes.harmless("STREAM-NO-EVENTS", 0)
        elif not self.ended and self.error is None:
            self.notes.harmless("RESP-NO-TERMINAL", 0)
        elif self.word and self.word not in self.MEANINGS and calls:
            # Cut short for another reason: the API does not specify which calls are complete.
            self.notes.ambiguous("RESP-INCOMPLETE", 0, calls=True)


def _tool_names(tools: object) -> Iterator[str]:
    """Yield the names of the tools of a request, also of those in a namespace."""
    for tool in map(dict_or_empty, tools if isinstance(tools, list) else ()):
        if isinstance(tool.get("tools"), list):
            yield from _tool_names(tool["tools"])
        elif name := text_or_empty(tool.get("name")):
            yield name
