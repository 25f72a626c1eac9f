"""Logged turns -> rows of the turns that a normalizer makes of them.

Third-party code runs in another process than the one that reads the log, with the limits of a run.
If it ends that process, only the turn is lost, and not the part of the log.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from itertools import islice
from typing import Final, TypeAlias

from harness.measuring.measured_turn import MeasuredTurn, crashed_turn, judge_turn
from harness.measuring.records import LoggedTurn
from harness.measuring.sources import Unread
from harness.normalizers.discovery import is_bundled, load_normalizer
from harness.results.outcome import Outcome
from harness.workers import process_limits
from harness.workers.batch import Exited
from harness.workers.pool import LoneWorker

Placed: TypeAlias = tuple[str, int, LoggedTurn]
# A turn alone costs a message to the process and back.
_TOGETHER: Final = 64
_CONFIRMED: Final = 3
# The process of the client has limits for each turn, which end sooner.
_MOST_SECONDS: Final = 3_600.0

_normalizer = lru_cache(1)(load_normalizer)


def judge_turns(normalizer: str, turns: Sequence[Placed]) -> tuple[MeasuredTurn | Unread, ...]:
    """Return a row for each turn, or why it has none. It runs in the process of the client."""
    return tuple(_judge(normalizer, each) for each in turns)


def _judge(name: str, placed: Placed) -> MeasuredTurn | Unread:
    file, position, logged = placed
    row = judge_turn(logged, file, position, _normalizer(name))
    if row is not None:
        return row
    why = f"{name} does not support {logged.interaction.dialect}"
    return Unread(file, position, why, damaged=False)


def rows_through(name: str, turns: Iterable[Placed]) -> Iterator[MeasuredTurn | Unread]:
    """Yield a row for each turn of a part, judged with the normalizer `name`."""
    if is_bundled(name):
        for each in turns:
            yield _judge(name, each)
        return
    waiting = iter(turns)
    with closing(_ClientProcess(name)) as process:
        while some := tuple(islice(waiting, _TOGETHER)):
            yield from process.rows(some)


class _ClientProcess:
    """The process of a client; call `close` at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._worker = LoneWorker()
        self._confirmed = 0  # turns in which it hung twice

    def rows(self, turns: Sequence[Placed]) -> Iterator[MeasuredTurn | Unread]:
        found = self._call(turns)
        if isinstance(found, Exited):
            yield from map(self._alone, turns)
            return
        for placed, row in zip(turns, found, strict=True):
            if _has_hung(row) and self._confirmed < _CONFIRMED:  # the machine may have been busy
                again = self._alone(placed)
                self._confirmed += _has_hung(again)
                yield again
            else:
                yield row

    def _alone(self, placed: Placed) -> MeasuredTurn | Unread:
        """Judge one turn; one that ends the process gets a second try, as in a run."""
        found = self._call((placed,))
        if isinstance(found, Exited):
            found = self._call((placed,))
        if isinstance(found, Exited):
            file, position, logged = placed
            return crashed_turn(logged, file, position, self._name, found.reason)
        return found[0]

    def _call(self, turns: Sequence[Placed]) -> tuple[MeasuredTurn | Unread, ...] | Exited:
        process_limits.renew(_MOST_SECONDS)
        return self._worker.call(partial(judge_turns, self._name), turns)[0]

    def close(self) -> None:
        self._worker.close()


def _has_hung(row: MeasuredTurn | Unread) -> bool:
    return isinstance(row, MeasuredTurn) and row.outcome == Outcome.HANG
