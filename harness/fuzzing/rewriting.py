"""An interaction -> the same said in fewer events, and less said, by the dialect's own writer.

Most bugs need no more than one piece of text or one call: what the writer makes of that is short
and keeps the API's contract, which a body with events left out would not.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators.with_body import with_body
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)
from harness.wire.framing import frames
from harness.wire.interaction import Interaction

_SHORT = 3
_EMPTY_OBJECT = "{}"


def rewritings(interaction: Interaction) -> Iterator[Interaction]:
    """Yield what the writer makes of `interaction`, whole and with one thing less each."""
    dialect = DIALECTS.get(interaction.dialect)
    if dialect is None:
        return
    merged = said(interaction)
    if any(isinstance(each, StreamFailure) for each in merged):
        return
    for deltas in (*_less(merged), merged):
        try:
            body = b"".join(dialect.write(deltas))
        except ValueError:  # the API has no way to say it
            continue
        if len(body) < len(interaction.body):
            yield with_body(interaction, body)


def said(interaction: Interaction) -> tuple[Delta, ...]:
    """Return what the reader of its dialect finds in `interaction`, neighbours joined.

    A call is there as it was sent, whatever its arguments are worth. () where nobody reads it.
    """
    dialect = DIALECTS.get(interaction.dialect)
    read = () if dialect is None else dialect.read(frames([interaction.body]), ())
    return tuple(_merged(map(_as_sent, read)))


def _as_sent(delta: Delta) -> Delta:
    """A writer spells a call in the same way whatever its arguments are worth."""
    return ToolCallEnd(delta.index) if isinstance(delta, ToolCallRejected) else delta


def _merged(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield the deltas with neighbours that say one thing joined."""
    held: Delta | None = None
    for delta in deltas:
        joined = _joined(held, delta)
        if joined is None and held is not None:
            yield held
        held = joined or delta
    if held is not None:
        yield held


def _joined(before: Delta | None, delta: Delta) -> Delta | None:
    match before, delta:
        case (TextDelta(), TextDelta()):
            return TextDelta(before.text + delta.text)
        case (ReasoningDelta(), ReasoningDelta()):
            return ReasoningDelta(before.text + delta.text)
        case (ArgumentsDelta(), ArgumentsDelta()) if before.index == delta.index:
            return ArgumentsDelta(before.index, before.fragment + delta.fragment)
        case _:
            return None


def _less(deltas: Sequence[Delta]) -> Iterator[tuple[Delta, ...]]:
    """Yield the deltas without one call, text, reasoning or usage, or with a shorter one."""
    for index in sorted({it.index for it in deltas if isinstance(it, ToolCallStart)}):
        yield tuple(_without_call(deltas, index))
    for at, delta in enumerate(deltas):
        for instead in _shorter(delta):
            yield (*deltas[:at], *instead, *deltas[at + 1 :])


def _shorter(delta: Delta) -> Iterator[tuple[Delta, ...]]:
    match delta:
        case TextDelta() | ReasoningDelta():
            yield ()
            for text in _halves(delta.text):
                yield (msgspec.structs.replace(delta, text=text),)
        case UsageDelta():
            yield ()
        case ArgumentsDelta(index, fragment) if fragment != _EMPTY_OBJECT:
            yield (ArgumentsDelta(index, _EMPTY_OBJECT),)
        case _:
            return


def _halves(text: str) -> Iterator[str]:
    if len(text) > _SHORT:
        yield text[: len(text) // 2]
        yield text[len(text) // 2 :]


def _without_call(deltas: Sequence[Delta], index: int) -> Iterator[Delta]:
    for delta in deltas:
        if not isinstance(delta, ToolCallStart | ArgumentsDelta | ToolCallEnd):
            yield delta
        elif delta.index != index:
            yield msgspec.structs.replace(delta, index=delta.index - (delta.index > index))
