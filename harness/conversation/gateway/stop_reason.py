"""A turn stops for tools exactly where it has a call that can be used."""

from msgspec.structs import replace

from harness.turns.deltas import DECIDED_BY_CALLS, Finish, FinishReason
from harness.turns.turn import Turn


def settle_stop_reason(turn: Turn) -> Turn:
    """Return `turn` with the reason that its calls show; one that was cut short keeps its own."""
    if turn.finish is None:
        return turn
    reason = turn.finish.reason
    if turn.tool_calls and reason in DECIDED_BY_CALLS:
        return replace(turn, finish=Finish(FinishReason.TOOL_CALLS, turn.finish.raw))
    if not turn.tool_calls and reason is FinishReason.TOOL_CALLS:
        return replace(turn, finish=Finish(FinishReason.STOP, turn.finish.raw))
    return turn
