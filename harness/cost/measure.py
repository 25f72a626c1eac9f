"""Measure one client in one dialect: time, growth of time, held back bytes, and memory.

Time is compared with the floor, a minimal client that only finds and decodes the payloads. Client
and floor run in turns, and the shortest time of each counts, so that other load has little effect.
Only ratios are judged.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec

from harness.cost.meters import Clock, Meters, NotMeasuredError, meters_of
from harness.cost.streams import CostStream, cost_stream, stream_floor
from harness.dialects.table import DIALECTS
from harness.judging.replaying import run_guarded
from harness.normalizers.protocol import Normalizer
from harness.results.cost import Cost
from harness.turns.arguments import meaning
from harness.turns.deltas import ArgumentsDelta, TextDelta
from harness.wire.cuts import split
from harness.wire.interaction import Interaction

T = TypeVar("T")

_WARM_UP_DELTAS: Final = 200
_WARM_UP_SECONDS: Final = 60.0  # the first use of a library may import much
_MICROSECONDS: Final = 1e6
# On a busy machine, a second of CPU time takes several seconds.
_PATIENCE: Final = 5.0
_QUADRATIC: Final = 4.0  # times the seconds for twice the length
_READ_BYTES: Final = 1024


class CostLimits(msgspec.Struct, frozen=True):
    """The limits of a measurement.

    Fields:
        deltas: the number of deltas of the shortest and of the longest stream.
        slow_deltas: the number for the shortest stream if the client is too slow for `deltas`.
        replay_seconds: CPU time of one replay; a stream that may take longer is not tried.
        seconds: the total time for repeated replays.
        repeats: the minimum and the maximum number of replays of a stream.
    """

    deltas: tuple[int, int] = (5_000, 40_000)
    slow_deltas: int = 625
    replay_seconds: float = 20.0
    seconds: float = 20.0
    repeats: tuple[int, int] = (2, 5)


class _Replayed(msgspec.Struct, frozen=True):
    """The CPU seconds of one replay, and the bytes read before its first delta of each kind."""

    seconds: float
    firsts: dict[type, int]


def measure_time(normalizer: Normalizer, dialect: str, limits: CostLimits, meters: Meters) -> Cost:
    """Return the time, growth of time and held back bytes of `normalizer`.

    Raises:
        NotMeasuredError: the normalizer cannot parse the streams, or takes too long.
    """
    check_client(normalizer, dialect)
    runs = _Runs(normalizer, dialect, limits, meters)
    shortest, longest = runs.find_sizes()
    runs.repeat()
    short, long = runs.ratio(shortest), runs.ratio(longest)
    stream = runs.streams[longest]
    return Cost(
        dialect,
        deltas=longest,
        shortest=shortest,
        floor=min(runs.floors[longest]) / longest * _MICROSECONDS,
        time=long,
        growth=long / short if longest > shortest else None,
        held_back=_held_back(normalizer, runs, TextDelta, stream.first_text),
        body=len(stream.interaction.body),
        held_arguments=_held_back(normalizer, runs, ArgumentsDelta, stream.first_arguments),
    )


def measure_memory(
    normalizer: Normalizer, interactions: Sequence[Interaction], limits: CostLimits
) -> tuple[int | None, ...]:
    """Return the peak memory in bytes after each stream; None if the system does not report it.

    Call this in a new process, because the peak of a process never falls. Another process must
    write the streams, because this needs memory too.

    Args:
        normalizer: the client.
        interactions: the streams, the shortest first.
        limits: contains the time for a replay.

    Raises:
        NotMeasuredError: the client raises an exception, or takes too long.
    """
    meters = meters_of(normalizer)
    peaks = []
    meters.reset_peak()
    for interaction in interactions:
        deltas = normalizer.normalize(interaction.without_body(), _even_reads(interaction.body))
        if _guarded(partial(deque, deltas, 0), _PATIENCE * limits.replay_seconds) is None:
            raise NotMeasuredError("a replay takes sometimes too long")
        peaks.append(meters.peak())
    return tuple(peaks)


def _even_reads(body: bytes) -> Iterator[bytes]:
    """Yield reads of equal size. A list of cuts is not used, because it would need memory too."""
    return (body[at : at + _READ_BYTES] for at in range(0, len(body), _READ_BYTES))


def check_client(normalizer: Normalizer, dialect: str) -> None:
    """Replay a short stream, so that the client has loaded its modules before it is measured.

    Raises:
        NotMeasuredError: the client cannot parse the stream, so its cost would mean nothing.
    """
    stream = cost_stream(DIALECTS[dialect], _WARM_UP_DELTAS)
    if _replay_once(normalizer, stream, _WARM_UP_SECONDS, time.process_time) is None:
        raise NotMeasuredError(f"{_WARM_UP_DELTAS} deltas take more than {_WARM_UP_SECONDS:g} s")


class _Runs:
    """Replays streams of several sizes with the client and the floor, and stores their seconds."""

    def __init__(
        self, normalizer: Normalizer, dialect: str, limits: CostLimits, meters: Meters
    ) -> None:
        self._normalizer, self._dialect = normalizer, DIALECTS[dialect]
        self._limits, self._meters = limits, meters
        self.streams: dict[int, CostStream] = {}
        self.clients: dict[int, list[float]] = {}
        self.floors: dict[int, list[float]] = {}
        self.firsts: list[dict[type, int]] = []

    def find_sizes(self) -> tuple[int, int]:
        """Replay longer and longer streams; return the shortest and longest number of deltas."""
        first, last = self._limits.deltas
        size = self._longest(first, last)
        if size in (None, first) and self._limits.slow_deltas < first:
            first, last = self._limits.slow_deltas, first
            size = self._longest(first, last) if size is None else size
            if size is None or not self._try(first):
                limit = self._limits.replay_seconds
                raise NotMeasuredError(f"{first} deltas take more than {limit:g} s")
        longest = first if size is None else size
        self.streams = {size: self.streams[size] for size in (first, longest)}
        return first, longest

    def _longest(self, first: int, last: int) -> int | None:
        """Return the longest size that the client reads in time; None if `first` takes too long."""
        if not self._try(first):
            return None
        size = first
        while size * 2 <= last and self._expected(size * 2) <= self._limits.replay_seconds:
            if not self._try(size * 2):
                break
            size *= 2
        return size

    def _expected(self, size: int) -> float:
        """Return the seconds that a stream may take, estimated from shorter streams."""
        half, quarter = self.clients[size // 2][0], self.clients.get(size // 4)
        return half * (max(2.0, half / quarter[0]) if quarter else _QUADRATIC)

    def repeat(self) -> None:
        """Replay the streams in turns again, until the time or the maximum number is reached."""
        fewest, most = self._limits.repeats
        spent = 0.0
        for turn in range(1, most):
            for size in self.streams:
                if turn >= fewest and spent > self._limits.seconds:
                    return
                start = time.monotonic()
                self._try(size)
                spent += time.monotonic() - start

    def ratio(self, size: int) -> float:
        """Return how many times longer the client takes than only decoding the payloads.

        Args:
            size: the size of the stream in bytes, a key of `clients` and `floors`.
        """
        return min(self.clients[size]) / min(self.floors[size])

    def _try(self, size: int) -> bool:
        """Measure the client and the floor once; return False if the client took too long."""
        if size not in self.streams:
            self.streams[size] = cost_stream(self._dialect, size)
        stream = self.streams[size]
        limit, meters = self._limits.replay_seconds, self._meters
        done = _replay_once(self._normalizer, stream, limit * _PATIENCE, meters.client)
        if done is None:
            return False
        self.firsts.append(done.firsts)
        self.clients.setdefault(size, []).append(done.seconds)
        floor, start = stream_floor(stream), meters.floor()
        floor(stream.interaction.body)
        self.floors.setdefault(size, []).append(meters.floor() - start)
        return True


def _held_back(
    normalizer: Normalizer, runs: _Runs, kind: type[TextDelta | ArgumentsDelta], sent: int | None
) -> int | None:
    """Return the most bytes that were read before a delta of `kind` was emitted, beyond its event.

    It returns None if the client does not stream its deltas.

    Args:
        normalizer: the client.
        runs: its replays.
        kind: text or arguments.
        sent: offset of the end of the event with the first one; None if the stream has none.
    """
    known = [firsts[kind] for firsts in runs.firsts if kind in firsts]
    is_hidden = kind is TextDelta and "text" in normalizer.hides
    if not normalizer.streams or is_hidden or not known or sent is None:
        return None
    return max(0, max(known) - sent)


def _replay_once(
    normalizer: Normalizer, stream: CostStream, limit: float, clock: Clock
) -> _Replayed | None:
    """Replay the stream with each event as one read; None if it took longer than `limit` seconds.

    Raises:
        NotMeasuredError: the client raises an exception, or returns another turn than expected.
    """
    interaction, cuts = stream.interaction, stream.interaction.recorded_cuts()
    texts: list[str] = []
    fragments: list[str] = []
    firsts: dict[type, int] = {}
    bytes_read = 0

    def reads() -> Iterator[bytes]:
        nonlocal bytes_read
        for chunk in split(interaction.body, cuts):
            bytes_read += len(chunk)
            yield chunk

    def run() -> float:
        start = clock()
        for delta in normalizer.normalize(interaction.without_body(), reads()):
            if isinstance(delta, TextDelta | ArgumentsDelta):
                firsts.setdefault(type(delta), bytes_read)
            if isinstance(delta, TextDelta):
                texts.append(delta.text)
            elif isinstance(delta, ArgumentsDelta):
                fragments.append(delta.fragment)
        return clock() - start

    seconds = _guarded(run, limit)
    if seconds is None:
        return None
    calls = [meaning(call.arguments) for call in stream.turn.tool_calls]
    is_text = "text" in normalizer.hides or "".join(texts) == stream.turn.text
    if not is_text or calls != ([meaning("".join(fragments))] if fragments else []):
        missed = f"it does not return the text and the call of {stream.deltas} deltas"
        raise NotMeasuredError(missed)
    return _Replayed(seconds, firsts)


def _guarded(run: Callable[[], T], limit: float) -> T | None:
    """Return the result of `run`; None if it took longer than `limit` seconds.

    Raises:
        NotMeasuredError: `run` raised an exception.
    """
    result, raised, expired = run_guarded(run, limit)
    if raised.error:
        raise NotMeasuredError(raised.error)
    return None if expired else result
