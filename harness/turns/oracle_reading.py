"""The meaning of a response body by the contract of its API: what an oracle returns.

The oracles of the dialects make these values, and the judge compares turns with them. No reader
may use this module.
"""

from typing import Literal, TypeAlias

import msgspec

from harness.turns.deltas import CallKind, FinishReason, SealedPlace

Part: TypeAlias = Literal["calls", "text", "reasoning", "end"]


class Deviation(msgspec.Struct, frozen=True):
    """An event that violates the contract of the API, or that the contract barely allows.

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
    """One call, made of the deltas of its index.

    Fields:
        id: "" if none came.
        name: "" if none came.
        arguments: the fragments, appended; for a custom tool, its input.
        offset: byte of the event that opened it.
        from_object: the arguments came as an object and not as text, so a report of them may
            write them in another form.
        rejected: in this reading a client cannot use the call, whatever its name and
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
        call: position of the call that it belongs to; for other data, how many calls came before.
        others: other values of the same data, equally valid, because an encryption differs each
            time.
    """

    kind: str
    value: str
    of: SealedPlace
    call: int
    others: tuple[str, ...] = ()


class OracleReading(msgspec.Struct, frozen=True):
    """The meaning of one response body by the contract of its API.

    Fields:
        calls: in order of first appearance; None if ambiguous.
        finish: the last non-empty finish reason, raw; "" if none came.
        ended: a terminal signal was seen, a finish reason or `[DONE]`.
        error: code and message of a provider's error object.
        deviations: for each quirk the first event, and the first event at which it is ambiguous.
        text_marks: pairs (bytes up to and including an event's blank line, characters of text that
            are complete by then), one for each event that added text.
        finishes: the distinct finish reasons, in order of first appearance.
        refusal: the model's refusal; "" if it did not refuse.
        meaning: the meaning of `finish` in the contract, STOP also for a turn that ended with
            calls; None if the contract does not have the word, or none came.
        model_failed: with this error the provider reports that the model's output could
            not be used, such as Gemini's MALFORMED_FUNCTION_CALL.
        text_markup: text, reasoning or calls contain markup that may be text calls, and tools
            were offered, so calls, text and reasoning are unknown; `text` is still the text in the
            bytes.
        damaged: the body ends inside text that is not valid JSON, so that it is unknown
            whether it was truncated or sent like this.
        unknown: the ambiguous parts, each with the reason: the id of a quirk, or a phrase.
        decisions: the answers of this reading to questions that the contract leaves to the client.
            A question is the name of a policy or the id of a quirk.
        alternatives: the other readings that the bytes admit, each with other decisions; a
            result is wrong only if it matches none of them.
        loose_space: white space at the borders of text and reasoning is not certain.
        sealed: the data that only the provider can read, in the order of the bytes.
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
        """Return whether `part` has only one meaning in this reading."""
        return all(part != unknown for unknown, _ in self.unknown)

    @property
    def quirks(self) -> frozenset[str]:
        """Return the ids of the quirks that the bytes show."""
        return frozenset(deviation.quirk for deviation in self.deviations)
