"""A delta -> what it is and what it says, in words."""

from typing import assert_never

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


def words(delta: Delta) -> tuple[str, str]:  # noqa: PLR0911 - one return for each kind of the closed union
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
