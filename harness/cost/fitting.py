"""Change deltas so that the writer of a dialect makes one event for each delta.

Some APIs have no calls, and others send all arguments in one event. For these dialects, the parts
of arguments become text.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from harness.dialects.kit.dialect import Dialect
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)

FitDeltas: TypeAlias = Callable[[Iterable[Delta]], Iterator[Delta]]

_CALL_IN_PIECES: Final[tuple[Delta, ...]] = (
    ToolCallStart(0, "call_1", "writing"),
    *(ArgumentsDelta(0, piece) for piece in ('{"content": "', *"snow is", '"}')),
    ToolCallEnd(0),
    Finish(FinishReason.TOOL_CALLS),
)


def deltas_fitter(dialect: Dialect) -> FitDeltas:
    """Return the function that changes deltas for the writer of `dialect`.

    It tests how the writer sends a call whose arguments come in several deltas.
    """
    try:
        events = dialect.write(_CALL_IN_PIECES)
    except ValueError:
        return _as_text
    return _own_finish if len(events) >= len(_CALL_IN_PIECES) - 2 else _whole_call_last


def _own_finish(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Remove the raw finish value, so that the writer uses the value that its API sends."""
    return (Finish(each.reason) if isinstance(each, Finish) else each for each in deltas)


def _as_text(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield each part of the arguments as text, and no call, for an API without calls."""
    for each in deltas:
        if isinstance(each, ArgumentsDelta):
            yield TextDelta(each.fragment)
        elif isinstance(each, Finish):
            yield Finish(FinishReason.STOP)
        elif not isinstance(each, ToolCallStart | ToolCallEnd):
            yield each


def _whole_call_last(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield each part of the arguments as text, then a call with short arguments in one event."""
    started: list[Delta] = []
    for each in _own_finish(deltas):
        if isinstance(each, ArgumentsDelta):
            yield TextDelta(each.fragment)
        elif isinstance(each, ToolCallStart):
            started = [each]
        elif isinstance(each, ToolCallEnd):
            yield from started
            yield ArgumentsDelta(each.index, '{"city": "Oslo", "days": 3}')
            yield each
        else:
            yield each
