"""Change a turn in three steps: read the body to deltas, edit them, and write them again.

So one edit works for every dialect. It is applied only if the writer can encode the turn: the body
that it writes for the unedited deltas must have the same turn.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from hypothesis.strategies import DrawFn

from harness.dialects.table import DIALECTS, offered_tools, oracle_reading
from harness.errors import StreamError
from harness.fuzzing.mutators.mutator import Mutate, with_body
from harness.turns.deltas import Delta, Finish
from harness.turns.fold import fold
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

Deltas: TypeAlias = tuple[Delta, ...]
Edit: TypeAlias = Callable[[DrawFn, Deltas], tuple[Deltas, str] | None]

_BODIES_KEPT = 64


def rewriting(edit: Edit) -> Mutate:
    """Return a mutation that reads the deltas of a body, edits them, and writes them again."""

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        deltas = deltas_of(interaction)
        changed = None if deltas is None else edit(draw, deltas)
        if changed is None or changed[0] == deltas:
            return None
        return rewritten(interaction, *changed)

    return mutate


def deltas_of(interaction: Interaction) -> Deltas | None:
    """Return the deltas of the body; None if the turn failed or the writer cannot encode it."""
    names = tuple(tool.name for tool in offered_tools(interaction))
    return _deltas_of(interaction.dialect, interaction.body, names)


@lru_cache(_BODIES_KEPT)
def _deltas_of(dialect: str, body: bytes, names: tuple[str, ...]) -> Deltas | None:
    known = DIALECTS.get(dialect)
    if known is None:
        return None
    try:
        deltas = tuple(known.read(iter_frames([body]), names))
        again = tuple(known.read(iter_frames([write_body(dialect, deltas)]), names))
    except (StreamError, ValueError):
        return None
    finished = any(isinstance(delta, Finish) for delta in deltas)
    return deltas if finished and fold(again) == fold(deltas) else None


def rewritten(
    interaction: Interaction,
    deltas: Iterable[Delta],
    how: str,
    options: Any = None,  # noqa: ANN401 - a dialect's own options
) -> tuple[Interaction, str] | None:
    """Return `interaction` with the written `deltas` as its body, and the description `how`.

    The result is None if the dialect cannot encode them, or if the new body is ambiguous.
    """
    try:
        changed = with_body(interaction, write_body(interaction.dialect, deltas, options))
    except ValueError:
        return None
    changed = _as_stream(changed)
    return None if _reads_in_two_ways(changed) else (changed, how)


def _as_stream(interaction: Interaction) -> Interaction:
    """Return `interaction` with the content type of a stream.

    The original response may be a single document. A client that checks the type would refuse it.
    """
    kind = ("content-type", DIALECTS[interaction.dialect].content_type)
    others = (each for each in interaction.headers if each[0].lower() != kind[0])
    return msgspec.structs.replace(interaction, headers=(kind, *others))


def _reads_in_two_ways(interaction: Interaction) -> bool:
    """Return whether repeated text may also mean snapshots of the text (quirk DASH-CUMULATIVE)."""
    return DIALECTS[interaction.dialect].may_send_snapshots and not oracle_reading(
        interaction
    ).knows("text")


def write_body(dialect: str, deltas: Iterable[Delta], options: Any = None) -> bytes:  # noqa: ANN401 - as above
    """Return the body that the writer of `dialect` writes for `deltas`.

    Raises:
        ValueError: the dialect cannot encode them.
    """
    return b"".join(DIALECTS[dialect].write(deltas, options))
