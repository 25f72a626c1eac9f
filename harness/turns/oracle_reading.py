"""The meaning of a response body by the contract of its API: what an oracle returns.

The oracles of the dialects make these values, and the judge compares turns with them. No reader
may use this module.
"""

from typing import Literal, TypeAlias

import msgspec

from harness.turns.deltas import CallKind, FinishReason, SealedPlace

Part: TypeAlias = Literal["calls", "text", "reasoning", "end"]


class Deviation(msgspec.Struct, frozen=True):
    """An event that violates or stretches the contract of the API.

    Fields:
        quirk: id of the catalogue, groups A, B and C.
        offset: byte of the event.
        ambiguous: the contract does not say what the calls are or how the turn ended, so the
            oracle abstains; False if the meaning is clear.
    """

    quirk: str
    offset: int
    ambiguous: bool


class CallReading(msgspec.Struct, frozen=True):
    """One call as the deltas of its index add up to it.

    Fields:
        id: "" if none came.
        name: "" if none came.
        arguments: the fragments, appended; of a custom tool, its input.
        offset: byte of the event that opened it.
        from_object: the arguments came as an object and not as text, so a report of them may
            write them in another form.
        rejected: the reading is that a client cannot use the call, whatever its name and
            arguments are.
    """

    id: str
    name: str
    arguments: str
    offset: int
    kind: CallKind = "function"
    from_object: bool = False
    rejected: bool = False


class SealedReading(msgspec.Struct, frozen=True):
    """Data that only the provider can read.

    Fields:
        kind: the provider's name for it.
        of: what it belongs to.
        call: position of the call that it belongs to; of other data, how many calls came before.
        others: values that came for the same data, each as good: an encryption differs each time.
    """

    kind: str
    value: str
    of: SealedPlace
    call: int
    others: tuple[str, ...] = ()


class OracleReading(msgspec.Struct, frozen=True):
    """The meaning of one response body by contract.

    Fields:
        calls: in order of first appearance; None if ambiguous.
        finish: the last non-empty finish reason, raw; "" if none came.
        ended: a terminal signal was seen, a finish reason or `[DONE]`.
        error: code and message of a provider's error object.
        deviations: for each quirk the first place, and the first ambiguous place.
        text_marks: (bytes up to and including an event's blank line, characters of text that
            are complete by then), one for each event that added text.
        finishes: the distinct finish reasons, in order of first appearance.
        refusal: the model's refusal; "" if it did not refuse.
        meaning: the meaning of `finish` in the contract, STOP also for a turn that ended with
            calls; None if the contract does not have the word, or none came.
        model_failed: the error is the provider's way to say that the model's output could
            not be used, such as Gemini's MALFORMED_FUNCTION_CALL.
        text_markup: text, reasoning or calls hold what may be calls spelled in text, and tools
            were offered, so calls, text and reasoning are unknown; `text` is still what the
            bytes hold.
        damaged: the body ends inside text that is not valid JSON, so that it is unknown
            whether it was truncated or sent like this.
        unknown: the ambiguous parts, each with the reason: the id of a quirk, or a phrase.
        decisions: how this reading decides what the contract does not: a question, which is
            the name of a policy or the id of a quirk, and the answer.
        alternatives: the other readings that the bytes admit, each with other decisions; a
            result is wrong only if it matches none of them.
        loose_space: white space at the borders of text and reasoning is not certain.
        sealed: what only the provider can read, in the order of the bytes.
    """

    text: str
    reasoning: str
    calls: tuple[CallReading, ...] | None
    finish: str
    ended: bool
    error: tuple[str, str] | None
    deviations: tuple[Deviation, ...]
    text_marks: tuple[tuple[int, int], ...]
    finishes: tuple[str, ...] = ()
    refusal: str = ""
    meaning: FinishReason | None = None
    model_failed: bool = False
    text_markup: bool = False
    damaged: bool = False
    unknown: tuple[tuple[Part, str], ...] = ()
    decisions: tuple[tuple[str, str], ...] = ()
    alternatives: tuple["OracleReading", ...] = ()
    loose_space: bool = False
    sealed: tuple[SealedReading, ...] = ()

    def knows(self, part: Part) -> bool:
        """Return whether `part` has one meaning in this reading."""
        return all(part != unknown for unknown, _ in self.unknown)

    @property
    def quirks(self) -> frozenset[str]:
        """Return the ids of the quirks that the bytes show."""
        return frozenset(deviation.quirk for deviation in self.deviations)
