"""Split a body into events and process them in order; shared by the oracles of all dialects.

Each event is one JSON object, and so is a complete response. The oracle notes anything else, and
abstains if it may have had content. An oracle never raises, whatever the bytes. It never repairs
and never guesses.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol, TypeAlias, get_args

import msgspec

from harness.dialects.kit.oracle.doubtful_calls import settle_calls
from harness.dialects.kit.oracle.events import Event, json_events
from harness.dialects.kit.oracle.reading import GrowingText, Notes
from harness.dialects.kit.oracle.unread import unread_calls
from harness.dialects.kit.oracle.usage import CountNames, TokenCounts
from harness.dialects.kit.oracle.values import UNREADABLE, error_of, event_value
from harness.turns.deltas import FinishReason
from harness.turns.oracle_reading import CallReading, OracleReading, Part, SealedReading
from harness.wire.interaction import Interaction

Json: TypeAlias = dict[str, Any]
TakeEvent: TypeAlias = Callable[[Json, Event], None]

_MOST_READINGS: Final = 16

DONE: Final = "[DONE]"
# Words of gateways for a failure of the provider, in no contract; a reader may fail the turn.
FAILURE_WORDS: Final = frozenset(
    ("error", "network_error", "insufficient_system_resource", "abort", "timeout")
)
# What may come in a stream without any content.
NOISE_QUIRKS: Final = frozenset(("SSE-COMMENT-AS-DATA", "SSE-DATA-NULL", "SSE-EMPTY-DATA"))


class CallTable(Protocol):
    """Base of the classes that collect the calls of one response."""

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""


class Oracle(ABC):
    """Reads one body by the contract of its API; make a new one for each.

    Fields:
        error: code and message of the provider's first error.
        later_errors: as in `OracleReading`.
        finishes: the distinct finish words, in order of their last appearance.
        values: the number of JSON objects so far.
        over: no event may follow.
        stopped: the turn failed, whatever follows.
        ended: the turn has its end.
        model_failed, cut_upstream, damaged: as in `OracleReading`.
        choice: the number of the choice that is the answer; None until one arrives.
        table: the collector of calls; None in an API without calls, or if the oracle lists them
            itself.
    """

    # The contract's finish words; STOP also for a turn that ends with calls.
    MEANINGS: ClassVar[Mapping[str, FinishReason]] = {}
    # The members of events in which the oracle reads calls, or ignores those of the server.
    READ: ClassVar[frozenset[str]] = frozenset()
    # The objects of events that the oracle reads as calls, if they are of that type.
    ITEMS: ClassVar[frozenset[str]] = frozenset()
    # Where events have the numbers of tokens.
    USAGE: ClassVar[tuple[CountNames, ...]] = ()
    # The quirk of data that is a JSON list, or empty.
    LIST_DATA: ClassVar[str] = "EVENT-GLUED"
    # The member with the type of an event, in an API whose framing repeats the type; else "".
    TYPE_MEMBER: ClassVar[str] = ""
    EMPTY_DATA: ClassVar[str] = "SSE-EMPTY-DATA"

    def __init__(self) -> None:
        self.notes = Notes()
        self.counts = TokenCounts(self.USAGE)
        self._unread: dict[str, tuple[str, int]] = {}  # name of a call -> path, offset
        self.text = GrowingText()
        self.reasoning = GrowingText()
        self.error: tuple[str, str] | None = None
        self.finishes: list[str] = []
        self.values = 0
        self.over = False
        self.stopped = False
        self.ended = False
        self.model_failed = False
        self.cut_upstream = False
        self.later_errors: list[str] = []
        self.damaged = False
        self.error_quirk = "ERR-IN-200"
        self.marks: list[tuple[int, int]] = []
        self.table: CallTable | None = None
        self.choice: int | None = None

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`."""
        return json_events(body, self.notes)

    @abstractmethod
    def take(self, value: Json, event: Event) -> None:
        """Process one JSON object."""

    @abstractmethod
    def unfinished(self, data: str, event: Event) -> None:
        """Process an event that is incomplete because the body ends inside it.

        The WHATWG algorithm drops such an event, but a client may have used its content.
        """

    @property
    def word(self) -> str:
        """The last finish word; "" if there is none."""
        return self.finishes[-1] if self.finishes else ""

    def sealed(self) -> tuple[SealedReading, ...]:
        """Return the data that only the provider can read, in the order of the bytes."""
        return ()

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return () if self.table is None else self.table.calls()

    @abstractmethod
    def conclude(self) -> None:
        """Note deviations that only the complete body shows."""

    @property
    def refusal(self) -> str:
        """The model's refusal; "" if it did not refuse."""
        return ""

    @property
    def resumed(self) -> bool:
        """Whether the stream continues an earlier one of the same response."""
        return False

    @property
    def meaning(self) -> FinishReason | None:
        """What the contract defines for the last finish word; None if it does not define it."""
        return self.MEANINGS.get(self.word)

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`, by the contract of the API."""
        for event in self.events(interaction.body):
            self.event(event)
        return self.reading()

    def event(self, event: Event) -> None:
        """Process one event, whatever it contains."""
        data = event.data.strip()
        if self.stopped:
            return
        if self.over:
            self.after_end(data, event)
        elif not event.complete:
            self.unfinished(data, event)
        elif event.damaged:
            self.notes.unreadable("SSE-UTF8-SPLIT", event.offset)
        elif data == DONE:
            self.sentinel(event)
        elif not data:
            self.notes.harmless(self.EMPTY_DATA, event.offset)
        else:
            self._payload(data, event)

    def after_end(self, data: str, event: Event) -> None:  # noqa: ARG002 - some APIs allow events that contain nothing
        """Process an event after the end of the stream."""
        self.notes.unreadable("SSE-AFTER-DONE", event.offset)

    def sentinel(self, event: Event) -> None:  # noqa: ARG002 - in some APIs it is an end without a finish word
        """Process the end mark `[DONE]`."""
        self.over = True

    def _payload(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self.take_value(value, event)
        elif value is UNREADABLE and data.startswith(":"):
            self.notes.harmless("SSE-COMMENT-AS-DATA", event.offset)
        elif value is UNREADABLE and "{" in data:
            self.notes.unreadable("EVENT-GLUED", event.offset)
        elif value is UNREADABLE:  # no part of it is an object, so a client ignores it or fails
            answer = self.notes.policy_choice("EVENT-GLUED", event.offset, "fail", "ignore")
            if answer == "fail":
                self.error = self.error or ("", "")
                self.stopped = True
        else:
            quirk = self.LIST_DATA if isinstance(value, list) else "SSE-DATA-NULL"
            note = self.notes.harmless if quirk in NOISE_QUIRKS else self.notes.unreadable
            note(quirk, event.offset)

    def take_value(self, value: Json, event: Event) -> None:
        """Process one JSON object, and note how much of the text is complete after it."""
        self.values += 1
        self.counts.take(value, event.data)
        for path, name in unread_calls(value, self.READ, self.ITEMS):
            self._unread.setdefault(name, (path, event.offset))
        before = self.text.length
        self.take(self._with_type(value, event), event)
        if self.text.length > before:
            self.marks.append((event.end, self.text.length))

    def is_event_name(self, name: str) -> bool:  # noqa: ARG002 - for APIs whose framing names the events
        """Return whether the API has an event of this type, and it is not an error."""
        return False

    def _with_type(self, value: Json, event: Event) -> Json:
        """Return the event with its type, if only its name in the framing contains it."""
        member = self.TYPE_MEMBER
        if not member or member in value or not self.is_event_name(event.name):
            return value
        if error_of(value) is not None:
            return value
        self.notes.harmless("SSE-TYPE-IN-NAME-ONLY", event.offset)
        return {member: event.name, **value}

    def take_unfinished(self, value: Json, event: Event) -> None:
        """Process a complete JSON object in an event without its blank line.

        An editor may have removed the last blank line. A client uses the event, or drops it as the
        WHATWG algorithm does.
        """
        if self.notes.policy_choice("SSE-NO-FINAL-BLANK", event.offset, "use", "drop") == "use":
            self.take_value(value, event)
        else:
            self.values += 1

    def not_an_answer(self, text: str) -> None:
        """Note a body that is not a response of this API."""
        if text.startswith("<"):
            self.notes.harmless("HTTP-HTML-BODY", 0)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", 0)

    def is_answer(self, choice: object, offset: int, quirk: str = "N-CHOICES") -> bool:
        """Return whether the choice with this number is the answer to the request.

        The answer is the first choice that arrived, or the one with the number 0. Others are
        alternative answers.
        """
        number = choice if isinstance(choice, int) else 0
        if self.choice is None:
            self.choice = 0 if self.notes.decisions.get(quirk) == "zero" else number
        if number != self.choice and self.choice:
            self.notes.policy_choice(quirk, offset, "first", "zero")
        elif number != self.choice:
            self.notes.harmless(quirk, offset)
        return number == self.choice

    def take_error(self, error: tuple[str, str], offset: int) -> None:
        """End the turn with the provider's error."""
        quirk = self.error_quirk or "ERR-IN-200"
        if self.finishes and not self.calls():
            # The turn had ended well before the error came, and nothing is executed.
            if self.notes.policy_choice(quirk, offset, "fail", "ignore") == "ignore":
                return
        elif self.error_quirk:
            self.notes.harmless(quirk, offset)
        self.error = self.error or error

    def check_failure_word(self, word: str, offset: int) -> bool:
        """Return whether a finish word may mean a failure, such as `error`.

        Clients may end the turn or fail it.
        """
        if word.casefold() not in FAILURE_WORDS:
            return False
        if self.notes.policy_choice("FINISH-UNKNOWN", offset, "failed", "finished") == "failed":
            self.error = self.error or (word, "")
        return True

    def uses_late_content(self, offset: int) -> bool:
        """Return whether content after the finish word is part of the turn."""
        return self.notes.policy_choice("CONTENT-AFTER-FINISH", offset, "use", "drop") == "use"

    def take_error_event(self, value: Json, event: Event) -> None:
        """End the turn with the error that the provider sent as a separate event."""
        self.take_error(error_of(value, "error") or ("", ""), event.offset)

    def add_text(self, text: GrowingText, piece: object, offset: int) -> None:
        """Append to text or reasoning. A part that is not a string makes it ambiguous."""
        if isinstance(piece, str):
            text.add(piece)
        elif piece is not None:
            self.notes.ambiguous("EVENT-GLUED", offset, text=True)

    def add_finish(self, word: str) -> None:
        """Store a finish word as the last one."""
        self.finishes = [*(one for one in self.finishes if one != word), word]
        self.ended = True

    def _note_unread(self) -> None:
        """Note calls in members that the API does not have, unless they came in its own, too."""
        known = {call.name for call in self.calls()}
        for name, (path, offset) in self._unread.items():
            if name not in known:
                self.notes.unread_call(path, offset)

    def reading(self) -> OracleReading:
        """Return the meaning of the events so far."""
        self.conclude()
        notes = self.notes
        self._note_unread()
        calls = self.calls()
        if notes.calls_known:
            calls = settle_calls(calls, notes, due=self.ended and self.error is None)
        return OracleReading(
            text=self.text.value(),
            reasoning=self.reasoning.value(),
            calls=calls if notes.calls_known else None,
            finish=self.word,
            ended=self.ended,
            error=self.error,
            deviations=notes.deviations(),
            text_marks=tuple(self.marks),
            finishes=tuple(self.finishes),
            refusal=self.refusal,
            meaning=self.meaning,
            model_failed=self.model_failed,
            damaged=self.damaged,
            unknown=tuple(notes.unknown.items()),
            decisions=tuple(notes.decisions.items()),
            sealed=self.sealed(),
            usages=self.counts.usages(),
            later_errors=tuple(self.later_errors),
            other_output=notes.other_output,
            cut_upstream=self.cut_upstream,
            resumed=self.resumed,
        )


def admissible_readings(
    make: Callable[[], Oracle], interaction: Interaction
) -> list[OracleReading]:
    """Return the readings that the body of `interaction` admits, the most likely first.

    The function reads the body once for each combination of answers to the questions that it
    raises. If there are too many, it returns one reading in which everything is unknown.

    Args:
        make: creates the oracle of the dialect, which reads one body.
        interaction: the interaction with the body.
    """
    readings: list[OracleReading] = []
    waiting: list[dict[str, str]] = [{}]
    while waiting:
        decided = waiting.pop(0)
        oracle = make()
        oracle.notes.decisions.update(decided)
        readings.append(oracle.read(interaction))
        for question, answers in oracle.notes.questions.items():
            if question not in decided:
                waiting += [{**decided, question: answer} for answer in answers[1:]]
                decided[question] = answers[0]
        if len(readings) + len(waiting) > _MOST_READINGS:
            return [_unknown(readings[0])]
    return readings


def _unknown(reading: OracleReading) -> OracleReading:
    reason = f"more than {_MOST_READINGS} readings"
    unknown = tuple((part, reason) for part in get_args(Part))
    return msgspec.structs.replace(reading, calls=None, unknown=unknown, decisions=())
