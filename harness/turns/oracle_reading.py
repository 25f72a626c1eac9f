"""Define what an oracle returns: the meaning of a response body by the contract of its API.

The oracles of the dialects make these values, and the judge compares turns with them. The readers
of the dialects must not use this module.
"""

from typing import Literal, TypeAlias

import msgspec

from harness.turns.deltas import CallKind, FinishReason, SealedPlace, Usage

Part: TypeAlias = Literal["calls", "text", "reasoning", "end"]


class Deviation(msgspec.Struct, frozen=True):
    """An event that violates the contract of the API, or that the contract barely allows.

    Fields:
        quirk: the id of the quirk in the catalogue.
        offset: the offset of the event in the body.
        ambiguous: True if the contract does not say what the calls are or how the turn ended, so
            that the oracle does not decide. False if the meaning is clear.
    """

    quirk: str
    offset: int
    ambiguous: bool


class CallReading(msgspec.Struct, frozen=True):
    """One call as the oracle understands it.

    Fields:
        id: "" if the provider sent none.
        name: "" if the provider sent none.
        arguments: the joined fragments; for a custom tool, its input.
        offset: the offset in the body of the event that began the call.
        from_object: the provider sent the arguments as an object instead of text, so a client
            may write them as another text with the same value.
        rejected: why a client cannot use the call, whatever its name and arguments are; "" if it
            can.
        namespace: the namespace of the tool; "" if it has none.
    """

    id: str
    name: str
    arguments: str
    offset: int
    kind: CallKind = "function"
    from_object: bool = False
    rejected: str = ""
    namespace: str = ""


class SealedReading(msgspec.Struct, frozen=True):
    """Data that only the provider can read, such as a signature, as the oracle found it.

    Fields:
        kind: the provider's name for the data.
        of: what the data belongs to: `reasoning`, `text` or `call`.
        call: the position of the call that the data belongs to; for other data, the number of
            calls before it.
        others: other values of the same data that are equally valid, because a provider's
            encryption gives another value each time.
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
        finish: the last finish reason that is not empty, as the provider wrote it; "" if none.
        ended: whether the body contains an end signal, a finish reason or `[DONE]`.
        error: code and message of a provider's error object.
        deviations: for each quirk the first event, and the first event at which it is ambiguous.
        text_marks: pairs (bytes up to and including an event's blank line, characters of text that
            are complete by then), one for each event that added text.
        finishes: the distinct finish reasons, in order of first appearance.
        refusal: the model's refusal; "" if it did not refuse.
        meaning: what `finish` means by the contract, STOP also for a turn that ended with calls;
            None if the contract does not define the word, or there is none.
        model_failed: the `error` says that the model's output is unusable, such as Gemini's
            MALFORMED_FUNCTION_CALL.
        text_markup: text, reasoning or calls contain markup that may be text calls, and the
            request offered tools. Calls, text and reasoning are then unknown. `text` is still the
            text in the bytes.
        damaged: the body ends inside text that is not valid JSON, so it is unknown whether it was
            truncated or sent like this.
        unknown: the ambiguous parts, each with the reason: the id of a quirk, or a phrase.
        decisions: the answers of this reading to questions that the contract leaves to the client.
            A question is the name of a policy or the id of a quirk.
        alternatives: the other valid readings of the bytes, each with other decisions. A turn is
            wrong only if it matches none of them.
        loose_space: white space at the start and end of text and reasoning is not certain.
        sealed: the data that only the provider can read, in the order of the bytes.
        usages: the admissible numbers of tokens, the preferred ones first; () if the body has none,
            None if they are unknown.
        later_errors: the codes of further errors that the provider sent after `error`, or of the
            error of an upstream server, of which the turn shows nothing else.
        other_output: the turn has output that is neither text nor a call, such as an image or the
            results of a tool that the provider executes.
        cut_upstream: a gateway forwards the finish value of the model's own API, and it says that
            the model was stopped before its output was complete, whatever `finish` says.
        resumed: the stream continues an earlier one of the same response.
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
    usages: tuple[Usage, ...] | None = None
    later_errors: tuple[str, ...] = ()
    other_output: bool = False
    cut_upstream: bool = False
    resumed: bool = False

    def knows(self, part: Part) -> bool:
        """Return whether `part` has only one meaning in this reading."""
        return all(part != unknown for unknown, _ in self.unknown)

    @property
    def quirks(self) -> frozenset[str]:
        """The ids of the quirks that the bytes show."""
        return frozenset(deviation.quirk for deviation in self.deviations)
