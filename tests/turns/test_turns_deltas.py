"""Deltas as JSON: the tag tells them apart, and what is written reads back."""

import msgspec

from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from tests.tables import each_row

EXAMPLES: dict[str, Delta] = {
    "text": TextDelta("x"),
    "reasoning": ReasoningDelta("x"),
    "sealed": SealedDelta("thoughtSignature", "Zm9v", "call", 0),
    "tool_call_start": ToolCallStart(0, "id", "tool"),
    "arguments": ArgumentsDelta(0, "{"),
    "tool_call_end": ToolCallEnd(0),
    "tool_call_rejected": ToolCallRejected(0, ParseError("tool_use", "cut")),
    "usage": UsageDelta(Usage(1, None)),
    "finish": Finish(FinishReason.OTHER, "eos"),
    "failure": StreamFailure("interrupted"),
}


@each_row("tag", EXAMPLES)
def test_a_delta_reads_back_as_itself(tag: str) -> None:
    written = msgspec.json.encode(EXAMPLES[tag])
    read: Delta = msgspec.json.decode(written, type=Delta)
    assert read == EXAMPLES[tag]
    assert msgspec.json.decode(written)["type"] == tag
