"""Read bodies that a recording stores in separate files, below the folder of its tool."""

from pathlib import Path
from typing import Final

from harness.errors import UnreadableError
from harness.files.load import read_file

_BESIDE: Final = "Put the file there, or export the recording again."


def read_body_file(folder: Path, name: str, where: str) -> bytes:
    """Return the bytes of the file `name` in `folder`.

    Args:
        folder: the folder of the bodies.
        name: a path below it, with slashes.
        where: the location of the name in the recording.

    Raises:
        UnreadableError: the path leaves the folder, or the file cannot be read.
    """
    path = folder / name
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
        is_inside = False
    if not is_inside:
        raise _outside(name, where)
    try:
        return read_file(path, problem=f"expected the file of the body {name[:80]!r}")
    except UnreadableError as error:
        raise UnreadableError(error.what, where=where, hint=_BESIDE) from None


def _outside(name: str, where: str) -> UnreadableError:
    return UnreadableError(
        f"expected a file below the folder of the bodies, found {name[:80]!r}",
        where=where,
        hint="Copy the file into the folder, and name it with a relative path.",
    )
