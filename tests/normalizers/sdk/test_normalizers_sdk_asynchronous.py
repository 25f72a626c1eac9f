"""An async library is read item by item, in one context, and left as it was found."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.normalizers.sdk import asynchronous

VARIABLE: ContextVar[int] = ContextVar("VARIABLE", default=0)


class Source:
    """Items of a library that waits `pauses` times before each item, and notes what it did."""

    def __init__(self, items: Iterable[int], pauses: int = 0) -> None:
        self._items = items
        self._pauses = pauses
        self.begun: list[int] = []
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[int]:
        try:
            for item in self._items:
                self.begun.append(item)
                for _ in range(self._pauses):
                    await asyncio.sleep(0)
                yield item
        finally:
            self.is_closed = True


@given(st.lists(st.integers()), st.integers(0, 3))
def test_items_come_in_order_and_none_before_it_is_wanted(items: list[int], pauses: int) -> None:
    source = Source(items, pauses)
    seen: list[int] = []
    for item in asynchronous.iterate(source):
        seen.append(item)
        assert source.begun == seen
    assert seen == items
    assert source.is_closed


@given(st.lists(st.integers(), min_size=1))
def test_what_a_library_raises_is_raised_after_its_items(items: list[int]) -> None:
    async def broken() -> AsyncIterator[int]:
        for item in items:
            yield item
        raise OverflowError

    seen: list[int] = []
    with pytest.raises(OverflowError):
        seen.extend(asynchronous.iterate(broken()))
    assert list(asynchronous.iterate(Source(items))) == items
    # `extend` keeps what came before the exception.
    assert seen == items


def test_a_turn_has_one_context_and_leaves_none_behind() -> None:
    async def counted() -> AsyncIterator[int]:
        for _ in range(3):
            VARIABLE.set(VARIABLE.get() + 1)
            yield VARIABLE.get()

    for _ in range(2):
        assert list(asynchronous.iterate(counted())) == [1, 2, 3]
    assert VARIABLE.get() == 0


def test_a_turn_that_nobody_reads_further_is_cancelled() -> None:
    cancelled: list[int] = []

    async def turn(hand_over: asynchronous.HandOver[int]) -> None:
        try:
            for number in range(9):
                await hand_over(number)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise

    items = asynchronous.run_turn(turn)
    assert next(items) == 0
    items.close()
    assert cancelled == [0]
    assert list(asynchronous.iterate(Source([1, 2]))) == [1, 2]
