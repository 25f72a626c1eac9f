"""Feed one normalizer one interaction under one chunking, and note what it said when.

Whatever the normalizer does, a replay comes back: an exception, an exit, a hang, a flood of
deltas and what is no delta are facts of the replay, never errors of the harness. Only Ctrl-C
passes through.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from types import FrameType, TracebackType
from typing import Literal, get_args

import msgspec

from harness.judging.results import Emission, Replay
from harness.normalizers.protocol import Normalizer
from harness.turns.fold import Folder
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, iter_single_cuts, seams, split
from harness.wire.interaction import Interaction

_CLEANUP_SECONDS = 0.5
_REPEAT_SECONDS = 0.001
_HAS_TIMERS = hasattr(signal, "setitimer")
_AT_ONCE = 1e-6  # a timer of 0 would never go off


class DeadlineExceeded(BaseException):
    """The time of one replay is over."""


class _HandlerState:
    """Whether the handler is in place in this process; only the main thread looks at it."""

    handled = False
    guarded = False  # a replay is under way: only then may the handler raise


def deadline(seconds: float) -> AbstractContextManager[None]:
    """Return a block in which `DeadlineExceeded` is raised once `seconds` have passed."""
    if threading.get_ident() != threading.main_thread().ident or not _HAS_TIMERS:
        return nullcontext()
    return _Armed(seconds) if _HandlerState.handled else _armed_alone(seconds)


@contextmanager
def deadlines() -> Iterator[None]:
    """Keep the handler in place for many deadlines, since putting it there costs as much as one.

    A timer that somebody else had set, such as a test's own time limit, goes on afterwards.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and _HAS_TIMERS) or _HandlerState.handled:
        yield
        return
    before = signal.signal(signal.SIGALRM, _expired)
    others = signal.setitimer(signal.ITIMER_REAL, 0)
    started = time.monotonic() if others[0] else 0.0
    _HandlerState.handled = True
    try:
        yield
    finally:
        _HandlerState.handled = False
        _stop_timer()
        signal.signal(signal.SIGALRM, before)
        if others[0]:
            left = max(others[0] - (time.monotonic() - started), _AT_ONCE)
            signal.setitimer(signal.ITIMER_REAL, left, others[1])


@contextmanager
def _armed_alone(seconds: float) -> Iterator[None]:
    with deadlines(), _Armed(seconds):
        yield


class _Armed:
    """The timer runs in the block; a class, since it is entered for every replay."""

    __slots__ = ("_seconds",)

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        # First the timer: one that is left of a replay before must not go off in this one.
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        _HandlerState.guarded = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The timer is left to the next replay, or to the end of all: stopping it here would
        # cost as much as starting it.
        _HandlerState.guarded = False


def disarm() -> None:
    """Make sure that nothing is raised from here on, however the block was left."""
    _HandlerState.guarded = False


def _stop_timer() -> None:
    """Stop the timer, even where it goes off right now."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except DeadlineExceeded:
            continue
        return


def _expired(_signal: int, _frame: FrameType | None) -> None:
    """Raise now, and go on raising: code that swallows one must not hang for ever.

    A loop that catches everything is left when one comes between two of its rounds.
    """
    if not _HandlerState.guarded:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return
    _, repeats = signal.getitimer(signal.ITIMER_REAL)
    if not repeats:
        signal.setitimer(signal.ITIMER_REAL, _CLEANUP_SECONDS, _REPEAT_SECONDS)
    raise DeadlineExceeded


_ERROR_CHARACTERS = 500


class ReplayLimits(msgspec.Struct, frozen=True):
    """What one replay may take.

    Fields:
        seconds: for a small body.
        seconds_per_megabyte: added for larger ones.
        deltas: for an empty body.
        deltas_per_byte: added for each byte; more cannot come from honest reading.
        deltas_at_most: whatever the body's size, for memory's sake.
    """

    seconds: float = 5.0
    seconds_per_megabyte: float = 30.0
    deltas: int = 1000
    deltas_per_byte: int = 4
    deltas_at_most: int = 1_000_000

    def time_for(self, body: bytes) -> float:
        """Return the seconds that a replay of `body` may take."""
        return self.seconds + self.seconds_per_megabyte * len(body) / 1_000_000

    def most_deltas(self, body: bytes) -> int:
        """Return how many deltas a replay of `body` may give."""
        return min(self.deltas + self.deltas_per_byte * len(body), self.deltas_at_most)


DEFAULT_LIMITS = ReplayLimits()


class _CountedReads:
    """The reads of one chunking; counts the bytes that were pulled."""

    __slots__ = ("_chunks", "bytes_read")

    def __init__(self, body: bytes, cuts: Chunking) -> None:
        self.bytes_read = 0
        self._chunks = split(body, cuts)

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.bytes_read += len(chunk)
            yield chunk


def replay(
    normalizer: Normalizer,
    interaction: Interaction,
    chunking: Chunking,
    limits: ReplayLimits = DEFAULT_LIMITS,
) -> Replay:
    """Replay `interaction` through `normalizer` with its body cut at `chunking`."""
    folder = Folder()
    emissions: list[Emission] = []
    error, hung = "", False
    most = limits.most_deltas(interaction.body)
    reads = _CountedReads(interaction.body, chunking)
    # The bytes come through the reads alone; whoever looks for them elsewhere finds none.
    bare = Interaction(
        interaction.request,
        interaction.status,
        interaction.headers,
        b"",
        (),
        dialect=interaction.dialect,
        tools=interaction.tools,
    )
    add, append = folder.add, emissions.append
    try:
        with deadline(limits.time_for(interaction.body)):
            try:
                for delta in islice(normalizer.normalize(bare, reads), most + 1):
                    add(delta)
                    append(Emission(delta, reads.bytes_read))
                hung = len(emissions) > most
            except (DeadlineExceeded, KeyboardInterrupt):
                raise
            except BaseException as problem:  # noqa: BLE001 - what a normalizer raises is an outcome, sys.exit too
                error = describe_exception(problem)
    except DeadlineExceeded:
        hung = True
    finally:
        disarm()
    return Replay(chunking, tuple(emissions), folder.turn(), error, hung)


def describe_exception(problem: BaseException) -> str:
    """Return what was raised, as `Type: text`, cut to a readable length."""
    name = type(problem).__name__
    try:
        return f"{name}: {problem}"[:_ERROR_CHARACTERS]
    except (DeadlineExceeded, KeyboardInterrupt):
        raise
    except BaseException:  # noqa: BLE001 - an exception may fail to say what it is
        return name


Cuts = Literal["whole", "quick", "standard", "every"]
CUTS: tuple[Cuts, ...] = get_args(Cuts)

_SPREAD = 24
_EVERY_UP_TO_BYTES = 16 * 1024


def iter_chunkings(interaction: Interaction, cuts: Cuts) -> Iterator[Chunking]:
    """Yield distinct chunkings, the whole body first.

    Args:
        interaction: whose body is cut.
        cuts: `whole` is the whole body alone; `quick` adds recorded cuts and each byte;
            `standard` adds all seams and two dozen single seams; `every` adds each single cut
            (each single seam for bodies over 16 KiB).
    """
    seen: set[Chunking] = set()
    for chunking in _iter_all(interaction, cuts):
        if chunking not in seen:
            seen.add(chunking)
            yield chunking


def _iter_all(interaction: Interaction, cuts: Cuts) -> Iterator[Chunking]:
    body = interaction.body
    yield UNSPLIT
    if cuts == "whole":
        return
    yield interaction.recorded_cuts()
    if cuts != "quick":
        found = seams(body)
        yield found
        yield from _iter_single_cuts(body, found, cuts)
    yield each_byte(body)


def _iter_single_cuts(body: bytes, found: Chunking, cuts: Cuts) -> Iterator[Chunking]:
    if cuts == "every" and len(body) <= _EVERY_UP_TO_BYTES:
        yield from iter_single_cuts(body)
        return
    step = 1 if cuts == "every" else max(1, len(found) // _SPREAD)
    for cut in found[::step]:
        yield (cut,)
