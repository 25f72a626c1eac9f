"""Find the files below a folder, so that none is left out without a word.

Linked folders are followed, each folder once. Links that lead nowhere, pipes and devices are
yielded, too, so that the caller can report them.
"""

import os
from collections.abc import Callable, Iterator
from stat import S_ISDIR, S_ISREG
from typing import Final

from harness.errors import UnreadableError

YAML_SUFFIXES: Final = (".yaml", ".yml")


def is_yaml(name: str) -> bool:
    """Return whether a file name has a suffix of YAML, in upper or lower case."""
    return name.lower().endswith(YAML_SUFFIXES)


def walk_files(
    folder: str, is_selected: Callable[[str], bool], seen: set[tuple[int, int]] | None = None
) -> Iterator[str]:
    """Yield the paths of the selected files below `folder`, without hidden files and folders.

    Args:
        folder: the folder.
        is_selected: returns whether a file of this name is yielded.
        seen: the device and inode of each folder that was visited before.

    Raises:
        UnreadableError: a folder cannot be read.
    """
    seen = set() if seen is None else seen
    try:
        stat = os.stat(folder)
        if (stat.st_dev, stat.st_ino) in seen:
            return
        seen.add((stat.st_dev, stat.st_ino))
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda each: each.name)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", where=folder) from error
    # A folder itself comes before links to it, so that its files have their own names.
    entries.sort(key=lambda each: each.is_symlink())
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if _is_folder(entry):
            yield from walk_files(entry.path, is_selected, seen)
        elif is_selected(entry.name):
            yield entry.path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # such as a link to itself: opening it gives the reason


def unusable_reason(path: str) -> str:
    """Return why the file at `path` cannot be read like a file; "" if it can.

    A pipe or a device would block the reader. Those below `/dev` and `/proc` were named on purpose.
    """
    if path.startswith(("/dev/", "/proc/")):
        return ""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "the link leads nowhere" if os.path.islink(path) else ""
    except OSError:
        return ""  # opening it gives the reason
    return "" if S_ISREG(mode) or S_ISDIR(mode) else "expected a regular file, found another kind"
