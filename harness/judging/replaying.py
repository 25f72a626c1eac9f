"""Replay one interaction through one normalizer under one chunking, within limits.

The result is always a replay, so that the harness does not fail. It states if the normalizer
raised an exception, exited, hung, or emitted too many deltas or other objects. A timer signal
interrupts even a loop in pure Python. It needs the main thread of a process, as in each worker of
a run, and a system with interval timers. Elsewhere, only the number of deltas is limited.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import chain, islice
from types import FrameType
from typing import TypeAlias, TypeVar, get_args

import msgspec

from harness.dialects.table import with_content_type
from harness.judging.raised import raised_in, traceback_of
from harness.normalizers.protocol import Normalizer
from harness.project import CutsMode
from harness.results.replay import Emission, Replay
from harness.turns.delta_types import has_declared_types
from harness.turns.deltas import (
    Delta,
    DeltaError,
    Finish,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from harness.turns.fold import Folder
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, iter_single_cuts, seams
from harness.wire.interaction import Interaction
from harness.workers import process_limits

T = TypeVar("T")

_CLEANUP_SECONDS = 0.5
_REPEAT_SECONDS = 0.001
_HAS_TIMERS = hasattr(signal, "setitimer")
_AT_ONCE = 1e-6  # a timer of 0 would never go off
_MOST_PATIENCE = 20.0


class DeadlineExceeded(BaseException):
    """The harness raises this in client code when the time of a replay is over."""


class _HandlerState:
    """Whether the signal handler is installed in this process; only the main thread reads it."""

    handled = False
    guarded = False  # a replay is in progress: only then may the handler raise
    seconds = 0.0  # of the deadline
    extended = False


def deadline(seconds: float) -> AbstractContextManager[None]:
    """Return a context manager in whose block `DeadlineExceeded` is raised after `seconds`.

    If more processes want to run than the machine has cores, the block gets proportionally more
    time, so that a client does not count as hung because of other processes.
    """
    if threading.get_ident() != threading.main_thread().ident or not _HAS_TIMERS:
        return nullcontext()
    return _Armed(seconds) if _HandlerState.handled else _armed_alone(seconds)


@contextmanager
def deadlines() -> Iterator[None]:
    """Keep the signal handler installed for many deadlines, because installing it is slow.

    A timer of the caller, such as a test's time limit, continues afterwards.
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
    """A `with` block that is interrupted after a number of seconds; faster than a generator."""

    __slots__ = ("_seconds",)

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        # First the timer: one left by an earlier replay must not go off in this one.
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        _HandlerState.seconds, _HandlerState.extended = self._seconds, False
        _HandlerState.guarded = True

    def __exit__(self, *_raised: object) -> None:
        # The next replay, or the end of all, stops the timer: stopping it here would cost as much
        # as starting it.
        _HandlerState.guarded = False


def _stop_timer() -> None:
    """Stop the timer, even if it fires at this moment."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except DeadlineExceeded:
            continue
        return


def _expired(_signal: int, _frame: FrameType | None) -> None:
    """Raise the exception repeatedly, because code may swallow one and hang for ever.

    A loop that catches every exception ends if one is raised between two of its iterations.
    """
    if not _HandlerState.guarded:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return
    _, repeats = signal.getitimer(signal.ITIMER_REAL)
    if not _HandlerState.extended and (more := overload() - 1) > 0:
        _HandlerState.extended = True
        signal.setitimer(signal.ITIMER_REAL, more * _HandlerState.seconds)
        return
    if not repeats:
        signal.setitimer(signal.ITIMER_REAL, _CLEANUP_SECONDS, _REPEAT_SECONDS)
    raise DeadlineExceeded


def overload() -> float:
    """Return how many processes compete for each core, on average over a minute; at least 1."""
    try:
        wanted = os.getloadavg()[0]
    except (AttributeError, OSError):  # not on every system
        return 1.0
    return min(max(wanted / (os.cpu_count() or 1), 1.0), _MOST_PATIENCE)


_ERROR_CHARACTERS = 500


class ReplayLimits(msgspec.Struct, frozen=True):
    """The limits of one replay.

    Fields:
        seconds: the time for a small body.
        seconds_per_megabyte: additional time for each megabyte of the body.
        deltas: the number of deltas for an empty body.
        deltas_per_byte: additional deltas for each byte; correct parsing gives fewer.
        deltas_at_most: the largest number of deltas for any body, to limit memory.
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
        """Return how many deltas a replay of `body` may have."""
        return min(self.deltas + self.deltas_per_byte * len(body), self.deltas_at_most)


DEFAULT_LIMITS = ReplayLimits()


def replay(
    normalizer: Normalizer,
    interaction: Interaction,
    chunking: Chunking,
    limits: ReplayLimits = DEFAULT_LIMITS,
) -> Replay:
    """Replay `interaction` through `normalizer` with its body cut at `chunking`.

    If the body is truncated, a client may report that to its caller by an exception after the last
    read, so such an exception becomes a failure of the turn.
    """
    emissions: list[Emission] = []
    most = limits.most_deltas(interaction.body)
    reads = _CountedReads(interaction, chunking)

    def run() -> bool:
        append = emissions.append
        deltas = normalizer.normalize(with_content_type(interaction).without_body(), iter(reads))
        try:
            for delta in islice(deltas, most + 1):
                append(Emission(delta, reads.bytes_read))
        except Exception as problem:
            if not reads.broke_off:
                raise
            for delta in raised_deltas([it.delta for it in emissions], describe_exception(problem)):
                append(Emission(delta, reads.bytes_read))
        return len(emissions) > most

    too_many, problem, expired = run_guarded(run, limits.time_for(interaction.body))
    hung, bytes_read, folder = bool(too_many) or expired, reads.bytes_read, Folder()
    try:
        folder.add(emission.delta for emission in emissions)
    except DeltaError as error:
        # Whatever the client did after it does not count.
        _, problem, hung = run_guarded(partial(_raise, error), limits.seconds)
        place = next(at for at, each in enumerate(emissions) if not has_declared_types(each.delta))
        bytes_read = emissions[place].bytes_read
        del emissions[place:]
    return Replay(
        chunking,
        tuple(emissions),
        folder.turn(),
        problem.error,
        hung,
        problem.raised,
        reads.is_read_ahead,
        problem.trace,
        bytes_read if problem.error else 0,
        normalizer.link.latest if normalizer.link else None,
    )


def _raise(problem: Exception) -> None:
    raise problem


class _CountedReads:
    """Splits a body into the reads of a replay, and counts what the client has read.

    Attributes:
        bytes_read: how many bytes the client has read.
        broke_off: whether the client has read all of a truncated body.
        is_read_ahead: as in `Replay`.
    """

    __slots__ = (
        *("_chunking", "_interaction", "_thread"),
        *("broke_off", "bytes_read", "is_read_ahead"),
    )

    def __init__(self, interaction: Interaction, chunking: Chunking) -> None:
        self._interaction = interaction
        self._chunking = chunking
        self._thread = threading.get_ident()
        self.bytes_read = 0
        self.broke_off = False
        self.is_read_ahead = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the same reads as `split`; it is short because a body may have many reads."""
        body, thread, current_thread = self._interaction.body, self._thread, threading.get_ident
        start = 0
        for end in chain(self._chunking, (len(body),) if body else ()):
            self.bytes_read = end
            if current_thread() != thread:
                self.is_read_ahead = True
            yield body[start:end]
            start = end
        self.broke_off = self._interaction.broken


def raised_deltas(emitted: Iterable[Delta], error: str) -> list[Delta]:
    """Return deltas for a client that raised an exception: open calls are rejected, then a failure.

    The result is empty if the client had already reported the end of the turn.
    """
    deltas = list(emitted)
    if any(isinstance(delta, Finish | StreamFailure) for delta in deltas):
        return []
    ended = {it.index for it in deltas if isinstance(it, ToolCallEnd | ToolCallRejected)}
    open_calls = {it.index for it in deltas if isinstance(it, ToolCallStart)} - ended
    reason = ParseError("tool_use", error)
    rejected = (ToolCallRejected(index, reason) for index in sorted(open_calls))
    return [*rejected, StreamFailure("interrupted", error)]


class Raised(msgspec.Struct, frozen=True):
    """A description of an exception of a client; all fields are "" if there was none.

    Fields:
        error: the exception as `Type: text`, from `describe_exception`.
        raised: its type and the function that raised it, from `raised_in`.
        trace: its traceback, from `traceback_of`.
    """

    error: str = ""
    raised: str = ""
    trace: str = ""


NOTHING_RAISED = Raised()


def run_guarded(action: Callable[[], T], seconds: float) -> tuple[T | None, Raised, bool]:
    """Call `action`; return its result or None, its exception, and whether it took too long.

    This catches any exception of the code under test, including `sys.exit`. Only Ctrl-C passes
    through. A worker process ignores Ctrl-C, so a KeyboardInterrupt there comes from the code under
    test.
    """
    result, raised, expired = None, NOTHING_RAISED, False
    process_limits.renew(seconds)
    try:
        with deadline(seconds):
            try:
                result = action()
            except DeadlineExceeded:
                raise
            except BaseException as problem:
                if isinstance(problem, KeyboardInterrupt) and _is_interruptible():
                    raise
                raised = Raised(
                    describe_exception(problem), raised_in(problem), traceback_of(problem)
                )
    except DeadlineExceeded:
        expired = True
    finally:
        _HandlerState.guarded = False  # nothing is raised from now on, however the block ended
    return result, raised, expired


def _is_interruptible() -> bool:
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def describe_exception(problem: BaseException) -> str:
    """Return an exception as `Type: text`, cut to a readable length."""
    name = type(problem).__name__
    try:
        return f"{name}: {problem}"[:_ERROR_CHARACTERS]
    except (DeadlineExceeded, KeyboardInterrupt):
        raise
    except BaseException:  # noqa: BLE001 - its `__str__` may fail
        return name


Cuts: TypeAlias = CutsMode
CUTS: tuple[Cuts, ...] = get_args(CutsMode)

# Neighbours are in different groups: a cut can hide what another cut next to it shows.
_GROUPS = 4
_EVERY_UP_TO_BYTES = 16 * 1024


def iter_chunkings(interaction: Interaction, cuts: Cuts) -> Iterator[Chunking]:
    """Yield distinct chunkings, the unsplit body first, because it makes the simplest case.

    Args:
        interaction: the interaction whose body is split.
        cuts: `whole` is the unsplit body alone; `quick` adds recorded cuts and each byte;
            `standard` adds all seams, at once and in four groups; `every` adds each single cut
            (each single seam for bodies over 16 KiB).
    """
    yield from dict.fromkeys(_iter_all(interaction, cuts))


def _iter_all(interaction: Interaction, cuts: Cuts) -> Iterator[Chunking]:
    body = interaction.body
    yield UNSPLIT
    if cuts == "whole":
        return
    yield interaction.recorded_cuts()
    if cuts != "quick":
        found = seams(body)
        yield found
        yield from (found[start::_GROUPS] for start in range(min(_GROUPS, len(found))))
        if cuts == "every":
            yield from _iter_single_cuts(body, found)
    yield each_byte(body)


def _iter_single_cuts(body: bytes, found: Chunking) -> Iterator[Chunking]:
    if len(body) <= _EVERY_UP_TO_BYTES:
        return iter_single_cuts(body)
    return ((cut,) for cut in found)
