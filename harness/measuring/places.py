"""Files of logs: on disk, or at any URL that fsspec opens if it is installed."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from harness.errors import UnreadableError, UsageError


def is_url(place: str) -> bool:
    """Return whether `place` is a URL and not a path."""
    return "://" in place


def files_below(place: str) -> Iterator[str]:
    """Yield the files at `place` in the order of their names: itself, or those of a folder.

    Raises:
        UsageError: there is none.
    """
    if is_url(place):
        system, path = _file_system(place)
        found = system.find(path) if system.isdir(path) else [path] if system.exists(path) else []
        scheme = place.partition("://")[0]
        names = [f"{scheme}://{str(each).lstrip('/')}" for each in sorted(found)]
        yield from (names if scheme != "file" else [f"file:///{n[7:]}" for n in names])
    else:
        path_on_disk = Path(place)
        below = path_on_disk.rglob("*") if path_on_disk.is_dir() else [path_on_disk]
        names = sorted(str(each) for each in below if each.is_file() and not _is_hidden(each, path_on_disk))
        yield from names
    if not names:
        raise UsageError("no such file or folder, or an empty one", where=place)


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def open_place(place: str) -> IO[bytes]:
    """Open a file for reading; it can be searched unless it is compressed by its server.

    Raises:
        UnreadableError: it cannot be opened.
    """
    try:
        if is_url(place):
            system, path = _file_system(place)
            opened: IO[bytes] = system.open(path, "rb")
            return opened
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
        import fsspec  # noqa: PLC0415 - part of the extra `dask`
    except ImportError:
        raise UsageError(
            "a URL needs fsspec", where=url, hint="pip install 'toolcall-harness[dask]'"
        ) from None
    system, path = fsspec.core.url_to_fs(url)
    return system, path
