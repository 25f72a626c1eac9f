"""Define how an answer is delivered: its chunking, its speed, and a fault of the network.

The command line and the path of a URL have the same options, each as `name=value`:

    turn    which interaction of the recording answers, from 1
    cuts    recorded, whole, each-byte, seams, or offsets such as 10,20,35
    delay   milliseconds before each read, or `recorded`
    fault   reset, stall or truncate in the middle of the body; or at an offset: reset@300
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from harness.errors import UsageError
from harness.playback.transports import Answer
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, seams, split
from harness.wire.interaction import Interaction
from harness.wording import did_you_mean

Cut: TypeAlias = Callable[[Interaction], Chunking]
Wait: TypeAlias = Callable[[float], object]
FaultKind = Literal["reset", "stall", "truncate"]

CUTS: Final[dict[str, Cut]] = {
    "recorded": Interaction.recorded_cuts,
    "whole": lambda _: UNSPLIT,
    "each-byte": lambda interaction: each_byte(interaction.body),
    "seams": lambda interaction: seams(interaction.body),
}
FAULTS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)
RECORDED: Final = "recorded"
# A recording may contain any delay; the server never waits longer than this for one read.
MOST_SECONDS: Final = 60.0

_MOST_MILLISECONDS: Final = int(MOST_SECONDS * 1_000)
_OFFSETS: Final = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})*")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


class Fault(msgspec.Struct, frozen=True):
    """A fault of the network that the server simulates.

    Fields:
        kind: `reset` and `truncate` close the connection in the middle of the body. `stall` sends
            nothing for a minute, and then closes it.
        offset: the number of bytes of the body that are sent; None for half of the body.
    """

    kind: FaultKind
    offset: int | None = None


class Delivery(msgspec.Struct, frozen=True):
    """How answers are delivered.

    Fields:
        cuts: where a body is split into reads.
        delay: milliseconds before each read; None for the recorded delays.
        fault: the simulated fault of the network; None to end the body as recorded.
        turn: the number of the interaction that answers, from 1; None to choose it by the turns in
            the request.
    """

    cuts: Cut = Interaction.recorded_cuts
    delay: int | None = 0
    fault: Fault | None = None
    turn: int | None = None

    def with_option(self, name: str, value: str) -> "Delivery":
        """Return this delivery with one option changed.

        Raises:
            UsageError: the option is unknown, or the value is invalid.
        """
        read = _OPTIONS.get(name)
        if read is None:
            raise UsageError(
                f"unknown option {name!r}", hint=did_you_mean(name, OPTIONS, "Choose one of")
            )
        return msgspec.structs.replace(self, **{name: read(value)})

    def reads(self, interaction: Interaction) -> Iterator[bytes]:
        """Yield the body of `interaction`, split into reads that are not empty."""
        return filter(None, split(interaction.body, self.cuts(interaction)))

    def deliver(self, interaction: Interaction, reads: Iterator[bytes], wait: Wait) -> Answer:
        """Return `interaction` as the answer, with its reads after the delay, and with the fault.

        Args:
            interaction: the answer.
            reads: the body of the answer, split at any cuts.
            wait: a function that sleeps for some seconds, and may return early.
        """
        if self.delay is None:
            reads = paced(interaction, reads, wait)
        elif self.delay:
            reads = _delayed(reads, self.delay / 1_000, wait)
        if self.fault is None:
            return interaction, reads
        size, offset = len(interaction.body), self.fault.offset
        reads = _first_bytes(reads, size // 2 if offset is None else min(offset, size))
        if self.fault.kind == "stall":
            reads = _stalling(reads, wait)
        ended: Literal["reset", "truncated"] = (
            "reset" if self.fault.kind == "reset" else "truncated"
        )
        return msgspec.structs.replace(interaction, ended=ended), reads


def paced(interaction: Interaction, reads: Iterator[bytes], wait: Wait) -> Iterator[bytes]:
    """Yield `reads`, each after the pause that was recorded before it.

    If the body is split at other offsets, a read waits for all recorded reads that began in it.

    Args:
        interaction: the interaction with the recorded delays.
        reads: the body of the interaction, split at any cuts.
        wait: a function that sleeps for some seconds, and may return early.
    """
    starts = accumulate((read.size for read in interaction.reads), initial=0)
    pauses = [
        (start, read.delay_ms) for start, read in zip(starts, interaction.reads, strict=False)
    ]
    pauses.reverse()
    end = 0
    for read in reads:
        end += len(read)
        milliseconds = 0
        while pauses and pauses[-1][0] < end:
            milliseconds += pauses.pop()[1]
        if milliseconds > 0:
            wait(min(milliseconds / 1_000, MOST_SECONDS))
        yield read


def _delayed(reads: Iterator[bytes], seconds: float, wait: Wait) -> Iterator[bytes]:
    for read in reads:
        wait(seconds)
        yield read


def _first_bytes(reads: Iterator[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left and (read := next(reads, b"")):
        yield read[:left]
        left -= min(left, len(read))


def _stalling(reads: Iterator[bytes], wait: Wait) -> Iterator[bytes]:
    yield from reads
    wait(MOST_SECONDS)


def _offset_cuts(offsets: tuple[int, ...], interaction: Interaction) -> Chunking:
    return tuple(offset for offset in offsets if offset < len(interaction.body))


def _read_cuts(value: str) -> Cut:
    if value in CUTS:
        return CUTS[value]
    if _OFFSETS.fullmatch(value):
        offsets = sorted({int(offset) for offset in value.split(",")} - {0})
        return partial(_offset_cuts, tuple(offsets))
    raise _invalid("cuts", f"{', '.join(CUTS)} or offsets such as 10,20,35", value)


def _read_delay(value: str) -> int | None:
    if value == RECORDED:
        return None
    if _NUMBER.fullmatch(value) and int(value) <= _MOST_MILLISECONDS:
        return int(value)
    raise _invalid("delay", f"{RECORDED} or milliseconds up to {_MOST_MILLISECONDS}", value)


def _read_fault(value: str) -> Fault:
    name, at, offset = value.partition("@")
    for kind in FAULTS:
        if name == kind and (not at or _NUMBER.fullmatch(offset)):
            return Fault(kind, int(offset) if at else None)
    raise _invalid("fault", f"{', '.join(FAULTS)}, or one of them with an offset: reset@300", value)


def _read_turn(value: str) -> int:
    if _NUMBER.fullmatch(value) and int(value):
        return int(value)
    raise _invalid("turn", "a number from 1", value)


def _invalid(option: str, expected: str, value: str) -> UsageError:
    return UsageError(f"{option}: expected {expected}, found {value[:80]!r}")


_OPTIONS: Final[dict[str, Callable[[str], object]]] = {
    "turn": _read_turn,
    "cuts": _read_cuts,
    "delay": _read_delay,
    "fault": _read_fault,
}
OPTIONS: Final = tuple(_OPTIONS)
