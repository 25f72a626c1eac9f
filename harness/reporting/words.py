"""The words of a report: each outcome with a symbol and its definition, and each blame.

Symbols and words carry the meaning; colour only repeats it.
"""

from typing import Literal, assert_never

import msgspec

from harness.judging.results import Outcome, Result
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)

Tone = Literal["bad", "warn", "ok", "mute"]


class OutcomeWord(msgspec.Struct, frozen=True):
    """How an outcome is shown and what it means."""

    outcome: Outcome
    symbol: str
    tone: Tone
    meaning: str


_WORDS = (
    OutcomeWord(
        Outcome.SILENT_WRONG,
        "‼",
        "bad",
        "A call came out altered, invented, duplicated or executable from a truncated stream, "
        "and nothing said so.",
    ),
    OutcomeWord(Outcome.LOST_CALL, "∅", "bad", "A call that the bytes hold did not come out."),
    OutcomeWord(Outcome.CRASH, "✕", "bad", "The normalizer raised an exception."),
    OutcomeWord(
        Outcome.HANG, "∞", "bad", "It neither yielded a delta nor ended within its limits."
    ),
    OutcomeWord(Outcome.LEAK, "~", "warn", "Markup of a call came out as visible text."),
    OutcomeWord(
        Outcome.MISMATCH,
        "≠",
        "warn",
        "The turn differs from the expected one, or between chunkings, in a way that is none "
        "of the above.",
    ),
    OutcomeWord(
        Outcome.PARSE_ERROR,
        "!",
        "ok",
        "A call could not be used; the normalizer reported it and nothing was executed. "
        "It conforms.",
    ),
    OutcomeWord(Outcome.PASS, "✓", "ok", "Every MUST rule holds in every replay."),
    OutcomeWord(
        Outcome.UNSUPPORTED,
        "–",  # noqa: RUF001 - an en dash is what is shown
        "mute",
        "The normalizer does not declare this dialect; the cell counts in no rate.",
    ),
)

OUTCOME_WORDS = {word.outcome: word for word in _WORDS}
WORST_FIRST = tuple(OUTCOME_WORDS[outcome] for outcome in Outcome)

BLAMES = (
    ("model", "The bytes really hold arguments that cannot be used."),
    ("provider", "The bytes break the API's own contract."),
    ("normalizer", "The bytes were usable and the normalizer lost or spoiled them."),
    ("harness", "The harness could not judge; a defect of ours."),
)


def fails(result: Result) -> bool:
    """Whether a cell is a failure of conformance (unsupported cells are not)."""
    return not result.outcome.conforms and result.outcome is not Outcome.UNSUPPORTED


def worst_first(result: Result) -> tuple[int, str]:
    """Return what sorts results: the worst outcome first, then by cell."""
    return result.outcome.badness, result.cell


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage with one decimal."""
    return f"{share * 100:.1f} %"


def describe_delta(delta: Delta) -> tuple[str, str]:  # noqa: PLR0911 - one return for each kind of the closed union
    """Return the kind of `delta`, and its content as text ("" where it has none)."""
    match delta:
        case TextDelta():
            return "text", delta.text
        case ReasoningDelta():
            return "reasoning", delta.text
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
