"""Define the oracle of the dialect `openai-chat`, which adds up the deltas of choice 0.

The `message` of a complete response is one delta with everything. The oracle reads what the
contract defines and notes the rest.
Source: OpenAI API reference, "The chat completion chunk object" and "The chat completion
object"; errors inside a stream as gateways document them.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, TypeGuard

from harness.dialects.kit.oracle.dispatch import DONE, Json, Oracle
from harness.dialects.kit.oracle.endings import FINISH_WITH_CALLS
from harness.dialects.kit.oracle.events import Event, has_unframed_json, split_events
from harness.dialects.kit.oracle.reading import GrowingText
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    UNREADABLE,
    dict_or_empty,
    error_of,
    event_value,
    meanings,
    text_or_empty,
)
from harness.dialects.openai_chat.oracle import members
from harness.dialects.openai_chat.oracle.calls import (
    CALL_MEMBERS,
    CallTable,
    CopiedCalls,
    has_piece,
    with_indexes,
)
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading, OracleReading
from harness.wire.interaction import Interaction

# Keys under which private envelopes and other dialects carry what belongs into `choices`.
_ENVELOPES = frozenset((
    "data", "output", "outputs", "result", "response", "message", "delta", "content",
    "tool_calls", "candidates", "code",
))  # fmt: skip
_CALL_FIELDS = ("tool_calls", "function_call")

_OTHER_OUTPUT = ("images", "audio")  # of gateways, and of the API
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_TOOLS_THEN_STOP = frozenset({"tool_calls", "stop"})
_TAKEN_BACK = "FINISH-TOOLCALLS-THEN-STOP"
_PROMISES_CALLS = frozenset({"tool_calls", "function_call"})
_MAY_PROMISE_CALLS = _PROMISES_CALLS | {"tool_use", "tool_call"}
_CHUNK = "chat.completion.chunk"


class OpenAIChatOracle(Oracle):
    """Reads one response body of the chat completions API by its contract."""

    READ: ClassVar = CALL_MEMBERS
    USAGE: ClassVar = counts_at(
        ("usage",), ("x_groq", "usage"), ("choices", 0, "usage"),
        read="prompt_tokens", written="completion_tokens",
    )  # fmt: skip
    MEANINGS: ClassVar = meanings(
        stop=("stop", "tool_calls", "function_call"),
        length=("length",),
        content_filter=("content_filter",),
    )
    LIST_DATA: ClassVar[str] = "SSE-DATA-NULL"

    def __init__(self) -> None:
        super().__init__()
        self.table = self._calls = CallTable(self.notes)
        self._copies = CopiedCalls(self.notes)
        self._refusal: list[str] = []
        self._message = ""  # of the last chunk that had one next to its delta
        self._asked_for_functions = False
        self._finish_was_early = False
        self._reopened = False
        self._has_deltas = False

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`."""
        asked = event_value(interaction.request.body.decode("utf-8", "replace"))
        self._asked_for_functions = bool(dict_or_empty(asked).get("functions"))
        return super().read(interaction)

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`; process a body without events as one document."""
        events = tuple(split_events(body))
        yield from events
        if not events:
            self._document(body)
        elif has_unframed_json(body):
            self.notes.unreadable("ERR-UNFRAMED", 0)

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return self._calls.calls() or self._copies.found

    @property
    def refusal(self) -> str:
        """The refusal so far."""
        return join_surrogates("".join(self._refusal))

    def after_end(self, data: str, event: Event) -> None:
        """Process an event after the end, where only a usage object may come."""
        value = event_value(data)
        harmless = data in ("", DONE) or (isinstance(value, dict) and not value.get("choices"))
        if harmless and not (isinstance(value, dict) and error_of(value, event.name)):
            self.notes.harmless("SSE-AFTER-DONE", event.offset)
        else:
            self.notes.unreadable("SSE-AFTER-DONE", event.offset)

    def unfinished(self, data: str, event: Event) -> None:
        """Process an event that is incomplete because the body ends inside it.

        Its lines are read one by one. If the last blank line is missing, an earlier one may be
        missing too, and then the event contains several chunks.
        """
        value = event_value(data)
        lines = [event_value(line) for line in data.split("\n")]
        chunks = [line for line in lines if _matters(line, event)]
        if _matters(value, event):
            if self._uses_unfinished(event):
                self.take_value(value, event)
        elif chunks and len(chunks) == len(lines):
            # A client that needs no blank line takes those that have an end.
            answers = {"use": len(lines), "lines": len(lines) - 1, "drop": 0}
            answer = self.notes.policy_choice("SSE-NO-FINAL-BLANK", event.offset, *answers)
            for chunk in chunks[: answers[answer]]:
                self.take_value(chunk, event)
        elif chunks:
            self.notes.unreadable("SSE-NO-FINAL-BLANK", event.offset)
        elif data == DONE and not self.finishes:
            self.over = self._uses_unfinished(event)
        elif DONE.startswith(data) or value is not UNREADABLE:
            self.notes.harmless("SSE-NO-FINAL-BLANK", event.offset)
        elif self.finishes:
            self.notes.ambiguous("SSE-EOF-MIDCALL", event.offset, end=True)

    def _uses_unfinished(self, event: Event) -> bool:
        """Return whether this reading uses an event without its blank line; a policy decides it."""
        answer = self.notes.policy_choice(
            "SSE-NO-FINAL-BLANK", event.offset, "use", "drop", question="unfinished_event"
        )
        return answer == "use"

    def take(self, chunk: Json, event: Event) -> None:
        """Process one chunk."""
        if (error := error_of(chunk, event.name)) is not None:
            self.take_error(error, event.offset)
            self._check_generation(chunk)
        choices = chunk.get("choices")
        if isinstance(choices, list):
            if error is None and self.error is not None and any(map(members.has_content, choices)):
                self.notes.unreadable("ERR-IN-200", event.offset)
            if (
                error is None
                and chunk.get("object") != _CHUNK
                and any(map(members.has_delta, choices))
            ):
                self.notes.harmless("CHUNK-OBJECT-OTHER", event.offset)
            self._choices(choices, event, usage=bool(chunk.get("usage")))
        elif choices is not None:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
        elif "choices" in chunk:
            self.notes.harmless("CHUNK-CHOICES-NULL", event.offset)
        elif error is None and _ENVELOPES.isdisjoint(chunk):
            self.notes.harmless("CHUNK-CHOICES-ABSENT", event.offset)
        elif error is None:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _choices(self, choices: list[Any], event: Event, *, usage: bool) -> None:
        if not choices and not usage:
            self.notes.harmless("CHUNK-CHOICES-EMPTY", event.offset)
        for choice in choices:
            self._one_choice(choice, event.offset)

    def _one_choice(self, choice: object, offset: int) -> None:
        if not isinstance(choice, dict):
            self.notes.unreadable("EVENT-GLUED", offset)
            return
        if not self.is_answer(choice.get("index"), offset):
            return
        if "error" in choice and (error := error_of({"error": choice["error"]})) is not None:
            self.take_error(error, offset)
        native = text_or_empty(choice.get("native_finish_reason")).casefold()
        self.model_failed |= native == members.MALFORMED
        self.cut_upstream |= native in members.CUT
        if native in members.FAILED:
            self.later_errors.append(members.UPSTREAM_FAILED)
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._add_delta(delta, choice.get("finish_reason"), offset)
        elif delta is None:
            self.notes.harmless("DELTA-NULL", offset)
        else:
            self.notes.unreadable("EVENT-GLUED", offset)
        message = choice.get("message")
        if members.repeats(message, delta):  # as in the chunks of Writer
            self.notes.harmless("MESSAGE-NOT-DELTA", offset)
        elif message:
            self._check_message(message, offset)
            self._copies.add(dict_or_empty(message), offset)
        self._finish_reason(choice.get("finish_reason"), offset)

    def _check_generation(self, failed: Json) -> None:
        """Note an error of Groq that quotes unusable output of the model."""
        self.model_failed |= "failed_generation" in dict_or_empty(failed.get("error"))

    def _check_message(self, message: object, offset: int) -> None:
        """Note a message. Next to deltas, the message of Perplexity contains their text so far."""
        calls = not isinstance(message, dict) or any(map(message.get, _CALL_FIELDS))
        so_far = dict_or_empty(message).get("content")
        if calls or not isinstance(so_far, str) or len(so_far) != self.text.length:
            quirk = "MESSAGE-WITH-CALL" if calls else "MESSAGE-NOT-DELTA"
            self.notes.ambiguous(quirk, offset, text=True, calls=calls)
        else:
            self.notes.harmless("MESSAGE-NOT-DELTA", offset)
            self._message = so_far

    def _document(self, body: bytes) -> None:
        """Process a body without events."""
        text = body.decode("utf-8-sig", "replace").strip()
        value = event_value(text)
        if isinstance(value, dict):
            self._completion(value, len(body))
        elif text.startswith(("<", "{", "[")) or b"\0" in body:
            # A page, lines of JSON or another framing: it may contain an answer of another API.
            self.not_an_answer(text)

    def _completion(self, value: Json, end: int) -> None:
        self.values += 1
        self.counts.take(value, "usage")
        error, choices = error_of(value), value.get("choices")
        if error is not None:
            self.notes.harmless("ERR-UNFRAMED", 0)
            self.error = error
            self._check_generation(value)
            return
        choice = dict_or_empty(choices[0] if isinstance(choices, list) and choices else None)
        message = choice.get("message")
        if not isinstance(message, dict):
            self.notes.unreadable("ENVELOPE-WRAPPED", 0)
            return
        self.notes.harmless("JSON-FOR-STREAM", 0)
        if isinstance(choices, list) and len(choices) > 1:
            self.notes.harmless("N-CHOICES", 0)
        self._add_delta(with_indexes(message), None, 0)
        self._finish_reason(choice.get("finish_reason"), 0)
        if not self.finishes:
            self.notes.ambiguous("JSON-FOR-STREAM", 0, end=True)
        self.marks.append((end, self.text.length))

    # The choice

    def _add_delta(self, delta: Json, finish: object, offset: int) -> None:
        """Process one delta; `finish` is the finish reason that came with it."""
        if "role" in delta and not delta["role"]:
            self.notes.harmless("DELTA-ROLE-NULL", offset)
        elif "role" not in delta and not self._has_deltas:
            self.notes.harmless("DELTA-ROLE-MISSING", offset)
        self._has_deltas = True
        self._add_text(delta.get("content"), offset)
        self._add_reasoning(delta, offset)
        self._add_refusal(delta.get("refusal"), offset)
        self.notes.other_output |= any(map(delta.get, _OTHER_OUTPUT))
        if "tool_calls" in delta:
            self._add_calls(delta["tool_calls"], finish, offset)
        self._add_legacy_call(delta.get("function_call"), offset)
        self._copies.add(delta, offset)

    def _add_calls(self, entries: object, finish: object, offset: int) -> None:
        # Some servers send each of several calls in a separate chunk with a finish reason.
        late = entries if self.finishes and isinstance(entries, list) else ()
        if any(map(has_piece, late)):
            if [finish] == self.finishes and self._calls.are_new(late):
                self.notes.harmless("CONTENT-AFTER-FINISH", offset)
            elif not self.uses_late_content(offset):
                return
        self._calls.add(entries, offset)

    def _finish_reason(self, reason: object, offset: int) -> None:
        """Process one finish reason; null and "" do not count."""
        if reason is None:
            return
        if not isinstance(reason, str):
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
        elif not reason:
            self.notes.harmless("FINISH-EMPTY-STRING", offset)
        else:
            self._finish(join_surrogates(reason), offset)

    def _finish(self, reason: str, offset: int) -> None:
        if not self.check_failure_word(reason, offset) and reason not in self.MEANINGS:
            self.notes.harmless("FINISH-UNKNOWN", offset)
        if not self.finishes:
            size = self.text.length + self.reasoning.length + len(self._refusal) + len(self._calls)
            self._finish_was_early = not size
        elif reason == self.finishes[-1]:
            self.notes.harmless("FINISH-DUPLICATE", offset)
        elif {reason, *self.finishes} <= _TOOLS_THEN_STOP:
            self.notes.harmless("FINISH-TOOLCALLS-THEN-STOP", offset)
        elif self.notes.policy_choice("FINISH-DUPLICATE", offset, "last", "first") == "first":
            return
        self._reopened = False
        self.add_finish(reason)

    def _add_text(self, content: object, offset: int) -> None:
        if isinstance(content, str):
            self._add_piece(self.text, content, offset)
        elif content is not None:
            self.notes.ambiguous("EVENT-GLUED", offset, text=True)

    def _add_reasoning(self, delta: Json, offset: int) -> None:
        values = [value for field in _REASONING_FIELDS if (value := delta.get(field))]
        if values and values.count(values[0]) == len(values) and isinstance(values[0], str):
            self._add_piece(self.reasoning, values[0], offset)
        elif values or members.may_have_words(delta.get("reasoning_details")):
            self.notes.ambiguous("REASONING-FIELD-NAMES", offset, reasoning=True)

    def _add_piece(self, text: GrowingText, piece: str, offset: int) -> None:
        if piece and self.finishes:
            self._reopened = True
            if self._finish_was_early:
                self.notes.harmless("FINISH-STOP-TOO-EARLY", offset)
            elif not self.uses_late_content(offset):
                return
        text.add(piece)

    def _add_refusal(self, refusal: object, offset: int) -> None:
        if isinstance(refusal, str) and refusal:
            self.notes.harmless(
                "REFUSAL-BESIDE-CALL" if len(self._calls) else "REFUSAL-DELTA", offset
            )
            self._refusal.append(refusal)
        elif refusal:
            self.notes.ambiguous("REFUSAL-DELTA", offset, calls=True, end=True)

    def _add_legacy_call(self, call: object, offset: int) -> None:
        if isinstance(call, dict) and not any(call.values()):
            self.notes.harmless("LEGACY-FC-STUB", offset)
        elif isinstance(call, dict) and self._asked_for_functions:
            self._calls.add_legacy(call, offset)
        elif isinstance(call, dict):
            if self.notes.policy_choice("LEGACY-FUNCTION-CALL", offset, "use", "ignore") == "use":
                self._calls.add_legacy(call, offset)
        elif call is not None:
            self.notes.ambiguous("LEGACY-FUNCTION-CALL", offset, calls=True)

    # The end

    def conclude(self) -> None:
        """Note deviations that can be seen only in the complete body."""
        self.ended = bool(self.finishes) or self.over
        if not self.text.value().startswith(self._message):
            self.notes.ambiguous("MESSAGE-NOT-DELTA", 0, text=True)
        self._copies.compare(self._calls.calls())
        if not self.values:
            self.notes.harmless("STREAM-NO-EVENTS", 0)
        elif not self.error:
            self._check_end(len(self.calls()))

    def _check_end(self, calls: int) -> None:
        finishes = self.finishes
        if not finishes and not self.over:
            self.notes.harmless("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if self.over and self.choice is None:
            # An end of nothing: an empty turn, or an answer in an unknown form.
            self.notes.ambiguous("CHUNK-CHOICES-ABSENT", 0, end=True)
        if self._reopened and not self.over:
            ends = self.notes.policy_choice("FINISH-STOP-TOO-EARLY", 0, "finished", "interrupted")
            self.ended = ends == "finished"
        if finishes and not self.over:
            self.notes.harmless("SSE-DONE-MISSING", 0)
        if not calls and self.notes.calls_known:
            self._check_promise(finishes)
        if finishes and calls and (quirk := FINISH_WITH_CALLS.get(finishes[-1])):
            self.notes.harmless(quirk, 0)

    def _check_promise(self, finishes: list[str]) -> None:
        """Note it if a finish word announces calls but there are none."""
        promised = not _PROMISES_CALLS.isdisjoint(finishes)
        if promised and finishes[-1] not in _PROMISES_CALLS:
            # The last word may take the promise back.
            promised = (
                self.notes.policy_choice(_TAKEN_BACK, 0, "promised", "taken back") == "promised"
            )
        if promised:
            self.notes.harmless("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)
        elif finishes and finishes[-1].casefold() in _MAY_PROMISE_CALLS:
            self.notes.ambiguous("FINISH-TOOLCALLS-WITHOUT-CALLS", 0, end=True)


def _matters(chunk: object, event: Event) -> TypeGuard[Json]:
    """Return whether `chunk` is an object that may contain more than usage."""
    if not isinstance(chunk, dict):
        return False
    return bool(chunk.get("choices")) or error_of(chunk, event.name) is not None
