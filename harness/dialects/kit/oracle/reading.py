"""Collect what an oracle finds while it reads a body: text, calls and deviations."""

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from harness.dialects.kit.oracle.values import text_or_empty
from harness.turns.deltas import CallKind
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading, Deviation, Part


class Notes:
    """Collects the deviations of one body. It stores only the first of a kind, to bound memory.

    Fields:
        unknown: the ambiguous parts, each with its first reason.
        decisions: the answers of this reading, by question.
        questions: the admissible answers of each question that the body raised.
        other_output: as in `OracleReading`.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, bool], Deviation] = {}
        self.unknown: dict[Part, str] = {}
        self.decisions: dict[str, str] = {}
        self.questions: dict[str, tuple[str, ...]] = {}
        self.other_output = False

    @property
    def calls_known(self) -> bool:
        """Whether no deviation has made the calls ambiguous so far."""
        return "calls" not in self.unknown

    def harmless(self, quirk: str, offset: int) -> None:
        """Note a deviation that does not change the meaning."""
        self._first.setdefault((quirk, False), Deviation(quirk, offset, ambiguous=False))

    def server_tool(self, quirk: str, offset: int) -> None:
        """Note a call or a result of a tool that the provider executes."""
        self.other_output = True
        self.harmless(quirk, offset)

    def ambiguous(  # noqa: PLR0913 - a flag for each part
        self,
        quirk: str,
        offset: int,
        *,
        text: bool = False,
        reasoning: bool = False,
        calls: bool = False,
        end: bool = False,
    ) -> None:
        """Note a deviation that makes parts ambiguous; `text` also means the reasoning."""
        opened: dict[Part, bool] = {
            "text": text,
            "reasoning": text or reasoning,
            "calls": calls,
            "end": end,
        }
        for part, is_open in opened.items():
            if is_open:
                self.unknown.setdefault(part, quirk)
        ambiguous = calls or end
        self._first.setdefault((quirk, ambiguous), Deviation(quirk, offset, ambiguous))

    def doubtful(self, quirk: str, offset: int) -> None:
        """Note a deviation whose meanings are the readings that another question admits."""
        self._first.setdefault((quirk, True), Deviation(quirk, offset, ambiguous=True))

    def policy_choice(
        self, quirk: str, offset: int, *answers: str, question: str = "", ambiguous: bool = True
    ) -> str:
        """Note a deviation with several admissible meanings; return the meaning in this reading.

        Args:
            quirk: the id of the deviation.
            offset: the byte offset of the event.
            answers: the admissible meanings, the most likely first.
            question: the policy that decides between them; "" for the quirk. A question has one
                answer in a body.
            ambiguous: the contract does not define the meaning; False if it is the client's choice.
        """
        self._first.setdefault((quirk, ambiguous), Deviation(quirk, offset, ambiguous))
        return self.choice(question or quirk, *answers)

    def choice(self, question: str, *answers: str) -> str:
        """Return the meaning in this reading of a form that the API documents with several."""
        self.questions.setdefault(question, answers)
        return self.decisions.setdefault(question, answers[0])

    def unreadable(self, quirk: str, offset: int) -> None:
        """Note a deviation that makes text, reasoning, calls and end ambiguous."""
        self.ambiguous(quirk, offset, text=True, calls=True, end=True)

    def unread_call(self, path: str, offset: int) -> None:
        """Note a call at `path`, which the API does not have: calls and end are unknown."""
        self.unknown.setdefault("calls", f"a call in {path}, which the API does not have")
        self.ambiguous("CALL-IN-UNKNOWN-MEMBER", offset, calls=True, end=True)

    def failure(self, quirk: str, offset: int, *, ambiguous: object) -> None:
        """Note a provider's error; an ambiguous one makes all parts ambiguous."""
        if ambiguous:
            self.unreadable(quirk, offset)
        self.harmless(quirk, offset)

    def deviations(self) -> tuple[Deviation, ...]:
        """Return all deviations in the order of the body; one event has each quirk once."""
        doubtful = {it.quirk: it.offset for it in self._first.values() if it.ambiguous}
        found = (
            it
            for it in self._first.values()
            if it.ambiguous or it.offset < doubtful.get(it.quirk, it.offset + 1)
        )
        return tuple(sorted(found, key=lambda it: (it.offset, it.quirk)))


class GrowingText:
    """Joins text that arrives in parts, also if a surrogate pair is split between two parts."""

    def __init__(self) -> None:
        self._complete: list[str] = []
        self._half = ""
        self.length = 0

    def add(self, piece: str) -> None:
        """Append `piece`; hold back a first half of a surrogate pair at its end."""
        piece = self._half + piece
        half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        whole = join_surrogates(piece.removesuffix(half) if half else piece)
        self._complete.append(whole)
        self._half = half
        self.length += len(whole)

    def value(self) -> str:
        """Return the text so far; half of a surrogate pair becomes U+FFFD."""
        return "".join(self._complete) + join_surrogates(self._half)


class OpenCall:
    """Collects the id, name and arguments of one call while the oracle reads the body."""

    rejected = ""  # as in `CallReading`
    namespace = ""

    def __init__(self, offset: int, call_id: str = "", name: str = "") -> None:
        self.id = call_id
        self.name = name
        self.offset = offset
        self.fragments: list[str] = []

    @property
    def arguments(self) -> str:
        """The arguments so far as JSON text; "" if none came."""
        return "".join(self.fragments)

    @property
    def is_unopened(self) -> bool:
        """Whether only fragments of arguments came, and no event that begins the call."""
        return not self.id and not self.name and bool(self.fragments)

    def reading(self, kind: CallKind = "function", *, from_object: bool = False) -> CallReading:
        """Return the call as the oracle reports it."""
        return CallReading(
            join_surrogates(self.id),
            join_surrogates(self.name),
            join_surrogates(self.arguments),
            self.offset,
            kind,
            from_object,
            self.rejected,
            self.namespace,
        )


KeyT = TypeVar("KeyT", bound=Hashable)
CallT = TypeVar("CallT", bound=OpenCall)


class OpenCalls(Generic[KeyT, CallT]):
    """Collects the calls of one response, each under a key that no other call has."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: dict[KeyT, CallT] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return tuple(call.reading() for call in self._calls.values())

    def _unclear(self, offset: int) -> None:
        """Note an event that makes the calls ambiguous."""
        self._notes.ambiguous("EVENT-GLUED", offset, calls=True)

    def text(self, value: object, offset: int) -> str:
        """Return a member of a call as text; note that a value of another type is ambiguous."""
        if not isinstance(value, str | None):
            self._unclear(offset)
        return text_or_empty(value)

    def check_type(self, entry: dict[str, Any], offset: int, *, opening: bool = True) -> None:
        """Note a missing `type` of a new call, or a type other than `function`."""
        kind = entry.get("type", "function")
        if opening and "type" not in entry:
            self._notes.harmless("DELTA-TYPE-MISSING", offset)
        elif kind in (None, ""):
            self._notes.harmless("DELTA-TYPE-EMPTY-OR-NULL", offset)
        elif kind != "function":
            self._notes.ambiguous("DELTA-TYPE-EMPTY-OR-NULL", offset, calls=True)
