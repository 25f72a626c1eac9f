"""Miniatures that show only over several replays, or do not come back from one."""

import itertools
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from harness.normalizers.miniatures.edit import editing, miniature
from harness.normalizers.respond import respond
from harness.turns.deltas import Delta, TextDelta, ToolCallStart, UsageDelta
from harness.wire.interaction import Interaction

_COUNTER = itertools.count()


def _crash_on_usage(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, UsageDelta):
            raise IndexError("list index out of range")  # choices[0] of a usage chunk
        yield delta


def _endless(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield delta
        if isinstance(delta, UsageDelta):
            yield from itertools.repeat(TextDelta(""))


def _decoded_per_read(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    binary = "eventstream" in interaction.header("content-type")
    decoded = reads if binary else (r.decode("utf-8", "replace").encode() for r in reads)
    return respond(interaction, decoded)


def _state_kept(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, ToolCallStart) and not delta.index and delta.id.startswith("call_"):
            yield replace(delta, id=delta.id if len(delta.id) < _MADE_UP else _next_id())
        else:
            yield delta


_MADE_UP = 29  # the length of an id that `reference` makes up


def _next_id() -> str:
    return f"call_{next(_COUNTER)}"


MINIATURES = (
    miniature(
        "usage-crash",
        "NO-CRASH",
        "indexes into the empty choices of the usage chunk",
        editing(_crash_on_usage),
    ),
    miniature("endless", "NO-HANG", "never ends once usage came", editing(_endless)),
    miniature(
        "decoded-per-read",
        "CUT-INVARIANT",
        "decodes UTF-8 read by read",
        _decoded_per_read,
    ),
    miniature(
        "state-kept",
        "REPEATABLE CUT-INVARIANT",
        "counts made-up ids on from run to run",
        editing(_state_kept),
    ),
)
