"""Reading takes time and memory in proportion to the body, whatever its events repeat.

Counted, not timed: calls of functions, and the most bytes that were held at once. What a
small body costs tells what one of four times as many events may cost.
"""

import os
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator

import pytest

from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.wire.framing import iter_frames
from tests.dialects.shipped_bodies import bodies, events

_FEW, _TIMES = 60, 4
# More than in proportion, for buffers that grow by doubling; the square would be sixteenfold.
_TOLERANCE = 1.5
_SPARE = {"steps": 500, "memory": 64 * 1024}
_READ_BYTES = 100
_FEW_BODIES = 4  # of each dialect, where not all are asked for

Make = Callable[[int], bytes]
each_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))


def _reads(body: bytes) -> Iterator[bytes]:
    return (body[at : at + _READ_BYTES] for at in range(0, len(body), _READ_BYTES))


def _reader(dialect: str) -> Callable[[bytes], object]:
    read = DIALECTS[dialect].read
    return lambda body: fold(read(iter_frames(_reads(body)), ("get_weather",)))


def _steps(work: Callable[[bytes], object], body: bytes) -> int:
    """Return how many functions `work` calls or returns from."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work(body)
    finally:
        sys.setprofile(before)
    return count


def _memory(work: Callable[[bytes], object], body: bytes) -> int:
    """Return the most bytes that `work` held at once."""
    tracemalloc.start()
    try:
        work(body)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


_MEASURES = {"steps": _steps, "memory": _memory}


def _is_in_proportion(what: str, work: Callable[[bytes], object], make: Make) -> bool:
    few, many = (_MEASURES[what](work, make(times)) for times in (_FEW, _FEW * _TIMES))
    return many <= _TIMES * _TOLERANCE * few + _SPARE[what]


# What is read


def _repeating(dialect: str) -> Iterator[Make]:
    """Yield for bodies that ship how to repeat their first, middle and last events."""
    all_of_them = bodies(dialect)
    is_deep = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
    for body in all_of_them[:: 1 if is_deep else 1 + len(all_of_them) // _FEW_BODIES]:
        pieces = events(body)
        for at in {0, len(pieces) // 2, len(pieces) - 1}:
            yield _repeat(pieces, at)


def _repeat(pieces: list[bytes], at: int) -> Make:
    return lambda times: b"".join((*pieces[:at], *[pieces[at]] * times, *pieces[at:]))


def _calls_then_error(times: int) -> Iterator[Delta]:
    """Many calls, and an error as long as they are, half a character in each of its words."""
    for number in range(times):
        yield ToolCallStart(number, f"call_{number}", "get_weather")
        yield ArgumentsDelta(number, '{"city": "Oslo"}')
        yield ToolCallEnd(number)
    yield StreamFailure("\ud83d busy" * times, "\ud83d no capacity" * times)


@each_dialect
@pytest.mark.parametrize("what", _MEASURES)
def test_the_cost_is_in_proportion_to_the_events(dialect: str, what: str) -> None:
    work = _reader(dialect)
    work(b"")  # what is only done once is done
    for make in _repeating(dialect):
        assert _is_in_proportion(what, work, make), make(1)


@each_dialect
@pytest.mark.parametrize("what", _MEASURES)
def test_an_error_is_not_kept_once_more_for_each_call(dialect: str, what: str) -> None:
    write = DIALECTS[dialect].write
    try:
        write([ToolCallStart(0, "call_1", "get_weather")])
    except ValueError:
        pytest.skip("the API has no calls")
    assert _is_in_proportion(
        what, _reader(dialect), lambda times: b"".join(write(_calls_then_error(times)))
    )


# The measures themselves


def _joins_anew(body: bytes) -> None:
    kept = [body[:at] for at in range(0, len(body), 50)]
    for at in range(len(kept)):
        for piece in kept[:at]:
            piece.strip()


def _is_linear(body: bytes) -> None:
    for byte in body:
        chr(byte)


@pytest.mark.parametrize("what", _MEASURES)
def test_what_grows_with_the_square_is_caught(what: str) -> None:
    write = DIALECTS["openai-chat"].write

    def make(times: int) -> bytes:
        text: Iterable[Delta] = (TextDelta("word ") for _ in range(times))
        return b"".join(write(text))

    assert not _is_in_proportion(what, _joins_anew, make)
    assert _is_in_proportion(what, _is_linear, make)
