"""Miniatures that show only over several replays, or do not come back from one."""

import itertools
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from harness.normalizers.mutants.edit import editing, mutant
from harness.normalizers.respond import respond
from harness.turns.deltas import Delta, Finish, TextDelta, ToolCallStart, UsageDelta
from harness.wire.interaction import Interaction

_COUNTER = itertools.count()


class _Memory:
    """Keeps the newest body that came in one read, until it comes once more."""

    def __init__(self) -> None:
        self._newest = b""

    def holds(self, body: bytes) -> bool:
        known = body == self._newest
        self._newest = b"" if known else body
        return known


_MEMORY = _Memory()


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


def _remembered(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Answer a body that came before from a cache that kept another word for its finish."""
    came: list[bytes] = []

    def kept() -> Iterator[bytes]:
        for read in reads:
            came.append(read)
            yield read

    pulled = kept()
    for delta in respond(interaction, pulled):
        if not isinstance(delta, Finish):
            yield delta
            continue
        for _ in pulled:  # what comes after the end, so that only a whole body is one read
            pass
        known = len(came) == 1 and _MEMORY.holds(came[0])
        yield replace(delta, raw="cached") if known else delta


MINIATURES = (
    mutant(
        "usage-crash",
        "NO-CRASH",
        "indexes into the empty choices of the usage chunk",
        editing(_crash_on_usage),
    ),
    mutant("endless", "NO-HANG", "never ends once usage came", editing(_endless)),
    mutant(
        "decoded-per-read",
        "CUT-INVARIANT",
        "decodes UTF-8 read by read",
        _decoded_per_read,
    ),
    mutant(
        "answers-remembered",
        "REPEATABLE",
        "answers a body that came before from a cache, which kept less",
        _remembered,
    ),
    mutant(
        "state-kept",
        "REPEATABLE CUT-INVARIANT",
        "counts made-up ids on from run to run",
        editing(_state_kept),
    ),
)
