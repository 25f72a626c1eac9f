"""Define the words of a report: each outcome with its symbol and definition, and each blame.

Symbols and words carry the meaning; colour only repeats it.
"""

from typing import Final, Literal, assert_never

import msgspec

from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)
from harness.verdicts.judged_shares import JudgedShare

Tone = Literal["bad", "warn", "info", "ok", "mute"]


class OutcomeWord(msgspec.Struct, frozen=True):
    """The symbol and colour of an outcome, and what the outcome means."""

    outcome: Outcome
    symbol: str
    tone: Tone
    meaning: str


_SIGNS: Final[dict[Outcome, tuple[str, Tone]]] = {
    Outcome.SILENT_WRONG: ("‼", "bad"),
    Outcome.LOST_CALL: ("∅", "bad"),
    Outcome.CRASH: ("✕", "bad"),
    Outcome.HANG: ("∞", "bad"),
    Outcome.LEAK: ("~", "warn"),
    Outcome.MISMATCH: ("≠", "warn"),
    Outcome.UNJUDGED: ("?", "mute"),
    Outcome.PARSE_ERROR: ("!", "info"),
    Outcome.PASS: ("✓", "ok"),
    Outcome.UNSUPPORTED: ("–", "mute"),  # noqa: RUF001 - the page shows an en dash
}
_MEANINGS: Final = {
    Outcome.SILENT_WRONG: "The normalizer altered, invented or duplicated a call, or emitted an "
    "executable call from a truncated stream, and reported no error.",
    Outcome.LOST_CALL: "The bytes contain a call that the normalizer did not emit.",
    Outcome.CRASH: "The normalizer raised an exception.",
    Outcome.HANG: "The normalizer neither emitted a delta nor ended within its limits.",
    Outcome.LEAK: "The normalizer emitted markup of a call as visible text.",
    Outcome.MISMATCH: "The turn differs from the expected turn, or between chunkings, but no "
    "outcome above applies.",
    Outcome.UNJUDGED: "The bytes are ambiguous about the calls of each turn, and no MUST rule is "
    "violated. The cell counts in no rate of conformance.",
    Outcome.PARSE_ERROR: "A call was unusable. The normalizer reported it and did not emit it as "
    "executable. The cell conforms.",
    Outcome.PASS: "Every replay passes every MUST rule.",
    Outcome.UNSUPPORTED: "The normalizer does not declare support for the cell, which counts in no "
    "rate.",
}

OUTCOME_WORDS = {each: OutcomeWord(each, *_SIGNS[each], _MEANINGS[each]) for each in Outcome}
FAILING: Final = tuple(outcome.value for outcome in Outcome if outcome.fails)
CONFORMING: Final = tuple(outcome.value for outcome in Outcome if outcome.conforms)
JUDGED: Final = tuple(outcome.value for outcome in Outcome if outcome.judged)
MEASURED: Final = ("recorded", "imported")
WORST_FIRST = tuple(OUTCOME_WORDS[outcome] for outcome in Outcome)

BLAMES = (
    ("model", "It wrote an unusable call, stopped early, or did not give the call or answer due."),
    ("provider", "The bytes violate the API contract."),
    ("model or provider", "Arguments are unusable, and the bytes do not show who made them so."),
    ("request", "The provider rejected the request. No ranking counts the turn."),
    ("normalizer", "The bytes were usable, and the normalizer dropped or changed them."),
    ("harness", "The suite cannot read or judge this turn. No ranking counts it."),
)


def unjudged_fields(result: Result) -> tuple[str, ...]:
    """Return a sorted text for each field of a turn of `result` that was not judged, with why."""
    found = {f"{field}: {why}" for turn in result.turns for field, why in turn.unjudged.items()}
    return tuple(sorted(found))


def reasons_text(share: JudgedShare, most: int = 4) -> str:
    """Return the most frequent reasons why turns were not judged, with their numbers."""
    shown = [f"{count} {why}" for why, count in share.reasons.items()]
    more = [f"{len(shown) - most} more reasons"] if len(shown) > most else []
    return "; ".join([*shown[:most], *more]) or "all judged"


def worst_first(result: Result) -> tuple[int, str]:
    """Return the key that sorts results by outcome, the worst first, and then by cell."""
    return result.outcome.badness, result.cell


def points(difference: float) -> str:
    """Return a difference of two rates in percentage points, with its sign."""
    return f"{difference * 100:+.1f}"


def describe_delta(delta: Delta) -> tuple[str, str]:  # noqa: C901, PLR0911 - one return for each kind of the closed union
    """Return the kind of `delta`, and its content as text ("" for none)."""
    match delta:
        case TextDelta():
            return "text", delta.text
        case ReasoningDelta():
            return "reasoning", delta.text
        case SealedDelta():
            return "sealed", f"{delta.kind} of {delta.of}: {delta.value}"
        case ToolCallStart():
            custom = "" if delta.kind == "function" else f"  {delta.kind}"
            return f"call {delta.index} starts", f"{delta.name}  id {delta.id or '(empty)'}{custom}"
        case ArgumentsDelta():
            return f"call {delta.index} arguments", delta.fragment
        case ToolCallEnd():
            return f"call {delta.index} ends", ""
        case ToolCallRejected():
            error = delta.error
            return f"call {delta.index} rejected", f"{error.mode}: {error.error}  {error.snippet}"
        case UsageDelta():
            return "usage", f"{delta.usage.input_tokens} in, {delta.usage.output_tokens} out"
        case Finish():
            return "finish", f"{delta.reason}  raw {delta.raw or '(empty)'}"
        case StreamFailure():
            return "failure", f"{delta.code}  {delta.message}"
        case _:
            assert_never(delta)
