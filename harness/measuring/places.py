"""Open files of logs, on disk or at a URL that fsspec supports if it is installed."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from harness.errors import UnreadableError, UsageError
from harness.files.walk import unusable_reason, walk_files


def is_url(place: str) -> bool:
    """Return whether `place` is a URL and not a path."""
    return "://" in place


def files_below(place: str) -> Iterator[str]:
    """Yield the file at `place`, or the files in the folder at `place`, sorted by name.

    Hidden files are left out.

    Raises:
        UsageError: no file exists at `place`.
    """
    found = sorted(_found_at_url(place) if is_url(place) else _found_on_disk(Path(place)))
    if not found:
        raise UsageError("no such file or folder, or an empty one", where=place)
    yield from found


def _found_at_url(url: str) -> Iterator[str]:
    system, path = _file_system(url)
    if system.isdir(path):
        yield from map(system.unstrip_protocol, system.find(path))
    elif system.exists(path):
        yield system.unstrip_protocol(path)


def _found_on_disk(path: Path) -> Iterator[str]:
    if path.is_dir():
        yield from walk_files(str(path), lambda _: True)
    elif path.exists():
        yield str(path)


def is_readable(place: str) -> bool:
    """Return whether `place` is a file, and not a pipe, a device or a link that leads nowhere."""
    return is_url(place) or not unusable_reason(place)


def open_place(place: str) -> IO[bytes]:
    """Open a file for reading. The stream supports `seek`, unless the server compresses the file.

    Raises:
        UnreadableError: the file cannot be opened.
    """
    try:
        if is_url(place):
            system, path = _file_system(place)
            opened: IO[bytes] = system.open(path, "rb")
            return opened
        if problem := unusable_reason(place):
            raise UnreadableError(problem, where=place)
        return Path(place).open("rb")
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}", where=place) from None


def size_of(place: str) -> int:
    """Return the size of a file in bytes."""
    if is_url(place):
        system, path = _file_system(place)
        return int(system.size(path))
    return Path(place).stat().st_size


def _file_system(url: str) -> tuple[Any, str]:
    try:
        fsspec: Any = importlib.import_module("fsspec")  # part of the extra `dask`
    except ImportError:
        raise UsageError(
            "a URL needs fsspec", where=url, hint="pip install 'toolcall-harness[dask]'"
        ) from None
    system, path = fsspec.core.url_to_fs(url)
    return system, path
