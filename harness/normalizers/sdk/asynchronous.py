"""Read an async library item by item from a normalizer, which is a sync generator.

The process has one event loop, as an application has, because the clients that a library keeps
belong to it. A turn is one task, and so has one `contextvars` context. The loop stops when the
library returns an item, so that no read is sent before the caller wants the next item.
"""

import atexit
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio

Item = TypeVar("Item")
HandOver: TypeAlias = Callable[[Item], Awaitable[None]]


def iterate(source: AsyncIterable[Any] | Awaitable[Any]) -> Iterator[Any]:
    """Yield the items of an async library one by one, and pass on its exceptions.

    All of them come from one task, so they have one `contextvars` context. An item is requested
    only after the caller consumed the previous one.

    Args:
        source: an async iterable, or a coroutine that returns one.
    """

    async def turn(hand_over: HandOver[Any]) -> None:
        found = await source if isinstance(source, Awaitable) else source
        async with _closing(found):
            async for item in found:
                await hand_over(item)

    return run_turn(turn)


def complete(source: Callable[[HandOver[Any]], Coroutine[Any, Any, None]]) -> None:
    """Run the coroutine that `source` returns, for its effects: what it emits is dropped."""
    for _ in run_turn(source):
        pass


@asynccontextmanager
async def _closing(items: AsyncIterable[Any]) -> AsyncIterator[None]:
    """Close an async generator when the block ends, because its cleanup may need the event loop."""
    try:
        yield
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def run_turn(
    turn: Callable[[HandOver[Item]], Coroutine[Any, Any, None]],
) -> Generator[Item, None, None]:
    """Yield the items that a coroutine emits, and pass on its exceptions.

    Args:
        turn: returns the coroutine. Its argument is an async function with which the coroutine
            emits one item.
    """
    import asyncio  # noqa: PLC0415 - slow to import, and most clients are synchronous

    loop = _loop()
    handed: list[Item] = []

    async def hand_over(item: Item) -> None:
        handed.append(item)
        loop.stop()
        await asyncio.sleep(0)  # the loop stops here, and goes on when the next item is wanted

    task = loop.create_task(turn(hand_over))
    task.add_done_callback(lambda _: loop.stop())
    try:
        while not task.done():
            loop.run_forever()
            while handed:
                yield handed.pop(0)
        task.result()  # raises what the coroutine raised
    finally:
        while not task.done():
            task.cancel()
            loop.run_forever()


@cache
def _loop() -> "asyncio.AbstractEventLoop":
    import asyncio  # noqa: PLC0415 - as above

    runner = asyncio.Runner()
    atexit.register(runner.close)  # ends what a library has not closed
    return runner.get_loop()
