"""Cache values that were made from files, as long as these files do not change.

A cached value is made again if one of its files has another time, size or inode. A file that
changed a moment ago is not cached, because a second change might not alter its time.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Final, Generic, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
V = TypeVar("V")

# Of the files of all values that one function made. The bundled cassettes have 34 MB.
_MOST_BYTES: Final = 48_000_000

# File systems state the time of a change in steps of up to ten milliseconds.
_SETTLED_NS: Final = 100_000_000


class FileState(NamedTuple):
    """The attributes of a file that differ after the file was changed or replaced."""

    changed_ns: int
    modified_ns: int
    size: int
    inode: int


_Read = dict[str, FileState | None]
_READ: Final[ContextVar[_Read | None]] = ContextVar("read", default=None)


def state_of(file: str | int) -> FileState | None:
    """Return the state of a path or an open file; None if it cannot be read or changed just now."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    state = FileState(found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino)
    return state if time.time_ns() - max(state[:2]) > _SETTLED_NS else None


def note_read(path: str, descriptor: int) -> None:
    """Record that the value that is being made depends on the open file at `path`."""
    noted = _READ.get()
    if noted is not None:
        noted[path] = state_of(descriptor)


@contextmanager
def _noting() -> Iterator[_Read]:
    """Yield a mapping of the files that are read inside the block, also for an outer block."""
    outer, noted = _READ.get(), _Read()
    token = _READ.set(noted)
    try:
        yield noted
    finally:
        _READ.reset(token)
        if outer is not None:
            outer.update(noted)


class _Kept(Generic[V]):
    """A cache of values for files of at most `most` bytes in total; it drops the oldest values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: OrderedDict[Hashable, tuple[V, _Read]] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable) -> tuple[V, _Read] | None:
        """Return a value and the states of its files; None if a file changed."""
        found = self._values.get(key)
        if found is None or any(state_of(path) != state for path, state in found[1].items()):
            return None
        return found

    def keep(self, key: Hashable, value: V, read: _Read) -> None:
        """Cache a value, unless the state of one of its files is unknown."""
        with self._lock:
            if old := self._values.pop(key, None):
                self._size -= _size(old[1])
            if read and None not in read.values():
                self._values[key] = value, read
                self._size += _size(read)
            while self._size > self._most:
                self._size -= _size(self._values.popitem(last=False)[1][1])


def _size(read: _Read) -> int:
    return sum(state.size for state in read.values() if state)


def kept_while_unchanged(make: Callable[P, V]) -> Callable[P, V]:
    """Decorate a function to cache its results while the files that it reads do not change.

    The arguments of the function must be hashable, and its result must be immutable.
    """
    kept = _Kept[V](_MOST_BYTES)

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> V:
        key = (args, *sorted(kwargs.items()))
        with _noting() as read:
            if found := kept.find(key):
                read.update(found[1])
                return found[0]
            value = make(*args, **kwargs)
        kept.keep(key, value, read)
        return value

    return get
