"""Write files so that a kill or a full disk never leaves one half-written.

A file is replaced in one step. A line is appended completely: if the disk is full, the part that
was written is removed. `LineFile` writes its lines to `NAME.partial` until the file is complete.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module or None

PARTIAL: Final = ".partial"


def partial_path(path: Path) -> Path:
    """Return the path to which lines are written until the file at `path` is complete."""
    return path.with_name(path.name + PARTIAL)


def write_file(path: Path, data: bytes | Iterable[bytes], *, durable: bool = False) -> None:
    """Write the file at `path`, and create its folders; an old file is replaced in one step.

    If `path` is a link, the file that it leads to is replaced. A pipe or a device is written to.

    Args:
        path: the file.
        data: the new content of the file, or its pieces. If a piece cannot be made, the old file
            is unchanged.
        durable: return only when the disk has the bytes, so that a power failure cannot lose them.

    Raises:
        OSError: the file cannot be written; an old file is unchanged.
    """
    pieces = [data] if isinstance(data, bytes) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_bytes(b"".join(pieces))
        return
    path = path.resolve() if path.is_symlink() else path
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.writelines(pieces)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class LineFile:
    """A file to which one writer appends lines. An existing file is continued.

    Raises:
        BlockingIOError: another writer has the file.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _claim(path)
        self._size = os.fstat(self._file.fileno()).st_size
        self._torn = False

    def read(self) -> bytes:
        """Return all bytes of the file, also those from before this writer opened it."""
        self._file.seek(0)
        return self._file.read()

    def append(self, line: bytes) -> int:
        """Append `line` and return its offset; from then on, a kill cannot lose the line.

        Raises:
            OSError: for example, the disk is full; no part of the line remains.
        """
        offset = self._size
        try:
            if self._torn:
                self._cut(offset)
            _write_all(self._file, line)
        except BaseException:
            self._torn = True
            with suppress(OSError):
                self._cut(offset)
            raise
        self._size += len(line)
        return offset

    def sync(self) -> None:
        """Wait until the disk has all lines, so that a power failure cannot lose them."""
        os.fsync(self._file.fileno())

    def clear(self) -> None:
        """Remove all lines."""
        self._cut(0)
        self._size = 0

    def close(self) -> None:
        """Release the file for other writers; its lines remain."""
        self._file.close()

    def remove(self) -> None:
        """Delete the file and release its path. A file of another writer is never deleted."""
        if fcntl is None:
            self._file.close()
            with suppress(PermissionError):  # the next writer has it already
                self._path.unlink(missing_ok=True)
        else:
            self._path.unlink(missing_ok=True)
            self._file.close()

    def _cut(self, size: int) -> None:
        self._file.truncate(size)
        self._torn = False


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of `data`, in several calls if needed.

    If a disk becomes full, one call writes only a part without an error.
    """
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _claim(path: Path) -> BinaryIO:
    """Open `path` unbuffered, and lock it for this writer.

    Raises:
        BlockingIOError: another writer has the file.
    """
    if fcntl is None:
        return _claim_open_file(path)
    while True:
        file = path.open("ab+", buffering=0)
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):  # else its writer finished between the two calls
                return file
        except OSError:
            file.close()
            raise
        file.close()


def _claim_open_file(path: Path) -> BinaryIO:
    """Lock the file on Windows, which has no flock: an open file cannot be renamed there."""
    try:
        with suppress(FileNotFoundError):
            path.rename(path)
        return path.open("ab+", buffering=0)
    except PermissionError as error:
        if not path.exists():
            raise
        raise BlockingIOError(*error.args) from error


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
