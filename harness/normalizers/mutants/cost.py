"""Mutants that cost too much: each violates one rule about cost, and no other rule.

They are apart from the other mutants, because no scenario kills them: `harness cost` does.
"""

import json
from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from harness.normalizers import reference
from harness.normalizers.mutants.edit import summary_of
from harness.normalizers.protocol import Normalize, Normalizer
from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallEnd, ToolCallRejected
from harness.wire.frames import Frame
from harness.wire.interaction import Interaction
from harness.wire.sse import SSEDecoder

COST_MUTANTS: Final[dict[str, Normalizer]] = {}

_PRICES: Final = json.dumps([{"model": f"model-{number}", "price": 0.5} for number in range(2_500)])


def _mutant(name: str, breaks: str) -> Callable[[Normalize], Normalize]:
    def declare(normalize: Normalize) -> Normalize:
        COST_MUTANTS[name] = replace(
            reference.normalizer,
            name=name,
            normalize=normalize,
            role="mutant",
            breaks=frozenset((breaks,)),
            summary=summary_of(normalize),
        )
        return normalize

    return declare


def work_through(text: str) -> None:
    """Parse `text` as JSON, complete or not, and discard the result."""
    try:
        json.loads(text)
    except ValueError:
        return


@_mutant("arguments-reparsed", "COST-GROWTH")
def _arguments_reparsed(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
    """Parses all arguments received so far at each fragment."""
    received = ""
    for delta in reference.normalize(interaction, reads):
        if isinstance(delta, ArgumentsDelta):
            received += delta.fragment
            work_through(received)
        yield delta


@_mutant("prices-reread", "COST-TIME")
def _prices_reread(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
    """Parses a list of prices for each delta."""
    for delta in reference.normalize(interaction, reads):
        work_through(_PRICES)
        yield delta


@_mutant("events-kept", "COST-MEMORY")
def _events_kept(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
    """Keeps each decoded event of an SSE stream until the turn ends."""
    kept: list[object] = []
    decoder = SSEDecoder()

    def keeping() -> Iterator[bytes]:
        for read in reads:
            kept.extend(map(_decoded, decoder.feed(read)))
            yield read

    yield from reference.normalize(interaction, keeping())
    kept.clear()


def _decoded(frame: Frame) -> object:
    try:
        return json.loads(frame.data)
    except ValueError:
        return frame.data


@_mutant("arguments-last", "COST-FIRST-ARGUMENTS")
def _arguments_last(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
    """Emits the fragments of arguments when their call ends."""
    held: list[Delta] = []
    for delta in reference.normalize(interaction, reads):
        if isinstance(delta, ArgumentsDelta):
            held.append(delta)
        else:
            yield from held if isinstance(delta, ToolCallEnd | ToolCallRejected) else ()
            held = [] if isinstance(delta, ToolCallEnd | ToolCallRejected) else held
            yield delta


@_mutant("stream-first", "COST-FIRST-TEXT")
def _stream_first(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
    """Reads the whole stream before it emits its first delta."""
    yield from list(reference.normalize(interaction, reads))
