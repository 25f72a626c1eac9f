"""Make rows of logged turns through a normalizer that is not part of the harness.

The normalizer runs in a separate process with the limits of a run. If this process ends, only the
row of one turn is lost, and not the part of the log.
"""

from collections.abc import Iterable, Iterator, Sequence
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
from harness.workers.isolation import Isolation

Placed: TypeAlias = tuple[str, int, LoggedTurn]
# A turn alone costs a message to the process and back.
_TOGETHER: Final = 64
# The process of the client has limits for each turn, which end sooner.
_MOST_SECONDS: Final = 3_600.0

_normalizer = lru_cache(1)(load_normalizer)


def judge_turns(normalizer: str, turns: Sequence[Placed]) -> tuple[MeasuredTurn | Unread, ...]:
    """Return a row for each turn, or why it has none. The client's worker process calls this."""
    return tuple(_judge(normalizer, each) for each in turns)


def _judge(name: str, placed: Placed) -> MeasuredTurn | Unread:
    file, position, logged = placed
    row = judge_turn(logged, file, position, _normalizer(name))
    if row is not None:
        return row
    why = f"{name} does not support {logged.interaction.dialect}"
    return Unread(file, position, why, damaged=False)


def rows_through(name: str, turns: Iterable[Placed]) -> Iterator[MeasuredTurn | Unread]:
    """Yield a row for each turn of a part of a log, judged with the normalizer called `name`."""
    if is_bundled(name):
        for each in turns:
            yield _judge(name, each)
        return
    waiting = iter(turns)
    with Isolation(_has_hung, "turn") as isolation:
        while some := tuple(islice(waiting, _TOGETHER)):
            yield from _rows(name, isolation, some)


def _rows(
    name: str, isolation: Isolation, turns: Sequence[Placed]
) -> Iterator[MeasuredTurn | Unread]:
    """Yield the rows of turns: judge them together, or one by one if the process ended."""
    judge = partial(_judge, name)
    process_limits.renew(_MOST_SECONDS)
    found, _ = isolation.call(partial(judge_turns, name), turns)
    for index, placed in enumerate(turns):
        process_limits.renew(_MOST_SECONDS)
        if isinstance(found, Exited):
            ended, _ = isolation.run(judge, placed)
        else:
            ended, _ = isolation.run_again(judge, placed, found[index], "")
        if isinstance(ended, Exited):
            file, position, logged = placed
            ended = crashed_turn(logged, file, position, name, ended.reason)
        yield ended


def _has_hung(row: MeasuredTurn | Unread) -> bool:
    return isinstance(row, MeasuredTurn) and row.outcome == Outcome.HANG
