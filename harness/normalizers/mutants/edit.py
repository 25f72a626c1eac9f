"""How a miniature is made: `reference`, and one edit of what it says.

Text is passed on at once; the calls are held until the turn ends, where an edit sees them
all together with the end.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec

from harness.normalizers import reference
from harness.normalizers.protocol import Normalize, Normalizer
from harness.turns.deltas import (
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from harness.wire.interaction import Interaction

End: TypeAlias = Finish | StreamFailure
CallDelta: TypeAlias = ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected


class HeldCall(msgspec.Struct, frozen=True):
    """One call as `reference` gave it; `error` is None where it may be executed."""

    index: int
    id: str
    name: str
    arguments: str
    error: ParseError | None
    kind: CallKind = "function"


EditDeltas: TypeAlias = Callable[[Iterator[Delta]], Iterator[Delta]]
EditCalls: TypeAlias = Callable[[list[HeldCall], End], list[HeldCall]]


def mutant(name: str, breaks: str, summary: str, normalize: Normalize) -> Normalizer:
    """Declare a miniature; `breaks` names the rules that must catch it."""
    declared = reference.normalizer
    return Normalizer(
        name=name,
        normalize=normalize,
        dialects=declared.dialects,
        capabilities=declared.capabilities,
        role="mutant",
        breaks=frozenset(breaks.split()),
        summary=summary,
        policies=declared.policies,
    )


def editing(edit: EditDeltas) -> Normalize:
    """Return `reference` with its deltas edited as they come."""

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        return edit(reference.normalize(interaction, reads))

    return normalize


def editing_calls(edit: EditCalls) -> Normalize:
    """Return `reference` with the calls of each turn edited when it ends."""

    def held(deltas: Iterator[Delta]) -> Iterator[Delta]:
        calls: dict[int, HeldCall] = {}
        for delta in deltas:
            if isinstance(delta, ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected):
                _hold(calls, delta)
                continue
            if isinstance(delta, Finish | StreamFailure):
                for call in edit(list(calls.values()), delta):
                    yield from _call_deltas(call)
            yield delta

    return editing(held)


def _hold(calls: dict[int, HeldCall], delta: CallDelta) -> None:
    if isinstance(delta, ToolCallStart):
        calls[delta.index] = HeldCall(delta.index, delta.id, delta.name, "", None, delta.kind)
        return
    call = calls[delta.index]
    if isinstance(delta, ArgumentsDelta):
        changed = msgspec.structs.replace(call, arguments=call.arguments + delta.fragment)
    elif isinstance(delta, ToolCallRejected):
        changed = msgspec.structs.replace(call, error=delta.error)
    else:
        changed = call
    calls[delta.index] = changed


def _call_deltas(call: HeldCall) -> Iterator[Delta]:
    yield ToolCallStart(call.index, call.id, call.name, call.kind)
    if call.arguments:
        yield ArgumentsDelta(call.index, call.arguments)
    if call.error is None:
        yield ToolCallEnd(call.index)
    else:
        yield ToolCallRejected(call.index, call.error)
