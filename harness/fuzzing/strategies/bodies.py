"""The body of a turn, as the writer of a dialect spells it, with or without quirks."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.dialects.table import DIALECTS
from harness.fuzzing.strategies.spellings import SPELLINGS, spellings
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)
from harness.turns.turn import Turn


def bodies(
    dialect: str,
    turn: Turn,
    quirks: dict[str, object] | bool = False,  # noqa: FBT001, FBT002 - none, all, or which
) -> SearchStrategy[bytes]:
    """Return bodies that say `turn` in `dialect`.

    Combinations of switches may leave a turn that no reader could tell from another (no index,
    no id, the same name); what reads it back must know the switches. A turn that the dialect
    cannot say gives no body.

    Args:
        dialect: such as `openai-chat`.
        turn: to be said; what was rejected or failed is not.
        quirks: False for the contract's own spelling, True for any, or the switches that are
            fixed, such as `{"line_end": "crlf"}`.
    """
    if isinstance(quirks, dict):
        spelled: SearchStrategy[Any] = st.just(SPELLINGS[dialect](**quirks))
    else:
        spelled = spellings(dialect) if quirks else st.just(SPELLINGS[dialect]())
    said = tuple(told(turn))
    written = spelled.map(lambda spelling: _written(dialect, said, spelling))
    return written.filter(lambda body: body is not None)


def told(turn: Turn) -> Iterator[Delta]:
    """Yield deltas that fold to `turn`, as far as it did not fail and its calls were good."""
    if turn.reasoning:
        yield ReasoningDelta(turn.reasoning)
    if turn.text:
        yield TextDelta(turn.text)
    for index, call in enumerate(turn.tool_calls):
        yield ToolCallStart(index, call.id, call.name, call.kind)
        if call.arguments:
            yield ArgumentsDelta(index, call.arguments)
        yield ToolCallEnd(index)
    if turn.usage is not None:
        yield UsageDelta(turn.usage)
    yield turn.finish or Finish(FinishReason.STOP)


def _written(dialect: str, said: tuple[Delta, ...], spelling: Any) -> Any:  # noqa: ANN401 - bytes or None, of a dialect's own spelling
    try:
        return b"".join(DIALECTS[dialect].write(said, spelling))
    except ValueError:  # the API has no way to say it
        return None
