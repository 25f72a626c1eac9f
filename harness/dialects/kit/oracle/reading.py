"""What a strict reading of a body says, and where it abstains."""

import msgspec

from harness.turns.deltas import CallKind, FinishReason


class Deviation(msgspec.Struct, frozen=True):
    """A place where the bytes break or stretch the API's contract.

    Fields:
        quirk: id of the catalogue, groups A, B and C.
        offset: byte of the event.
        ambiguous: the contract leaves open what the calls are or how the turn ended, so the
            strict reading abstains; False where the meaning is kept.
    """

    quirk: str
    offset: int
    ambiguous: bool


class CallReading(msgspec.Struct, frozen=True):
    """One call as the deltas of its index add up to it.

    Fields:
        id: "" where none came.
        name: "" where none came.
        arguments: the fragments, appended; of a custom tool, its input.
        offset: byte of the event that opened it.
        from_object: the arguments came as an object and not as text, so a report of them may
            spell them in another way.
    """

    id: str
    name: str
    arguments: str
    offset: int
    kind: CallKind = "function"
    from_object: bool = False


class OracleReading(msgspec.Struct, frozen=True):
    """The meaning of one response body by contract.

    Fields:
        calls: in order of first appearance; None where ambiguous.
        text_known: False where text or reasoning is ambiguous.
        finish: the last non-empty finish reason, raw; "" where none came.
        ended: a terminal signal was seen, a finish reason or `[DONE]`.
        error: code and message of a provider's error object.
        deviations: for each quirk the first place, and the first ambiguous place.
        text_marks: (bytes up to and including an event's blank line, characters of text that
            are complete by then), one for each event that added text.
        end_known: False where it is ambiguous how the turn ended.
        finishes: the distinct finish reasons, in order of first appearance.
        refusal: the model's refusal; "" where it did not refuse.
        meaning: what the contract says that `finish` means, STOP also for a turn that ended
            with calls; None where it has no such word, or none came.
        model_failed: the error is the provider's way to say that the model's output could
            not be used, such as Gemini's MALFORMED_FUNCTION_CALL.
        text_markup: text, reasoning or calls hold what may be calls spelled in text, and tools
            were offered, so `calls` is None and `text_known` False; `text` is still what
            the bytes hold.
        damaged: the body breaks off inside what is no JSON any more, so that it is not told
            whether it was cut or badly sent.
    """

    text: str
    reasoning: str
    calls: tuple[CallReading, ...] | None
    text_known: bool
    finish: str
    ended: bool
    error: tuple[str, str] | None
    deviations: tuple[Deviation, ...]
    text_marks: tuple[tuple[int, int], ...]
    end_known: bool = True
    finishes: tuple[str, ...] = ()
    refusal: str = ""
    meaning: FinishReason | None = None
    model_failed: bool = False
    text_markup: bool = False
    damaged: bool = False

    @property
    def quirks(self) -> frozenset[str]:
        """Return the ids of the quirks that the bytes show."""
        return frozenset(deviation.quirk for deviation in self.deviations)
