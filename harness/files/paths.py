"""Resolve the paths of many files in few folders.

`Path.resolve` checks for each folder above a file whether it is a link. Without a cache, a search
for all bundled scenarios would spend most of its time on that.
"""

import os
from pathlib import Path


def path_below(path: Path | str, root: Path | str) -> Path | None:
    """Return the path of a file relative to the folder `root`; None if the file is not below it.

    Links in both paths are resolved first, so a link that leads out of the folder is not below it.
    """
    rest = _below_without_links(os.fspath(path), os.fspath(root))
    if rest:
        return Path(rest)
    resolved, folder = Path(path).resolve(), Path(root).resolve()
    return resolved.relative_to(folder) if resolved.is_relative_to(folder) else None


def relative_id(path: Path | str, root: Path | str) -> Path:
    """Return the path of a file relative to `root`, from which its id is made; else its name.

    A file in a linked folder has the path by which it was found.
    """
    text = os.fspath(path)
    rest = text.removeprefix(os.fspath(root).rstrip(os.sep) + os.sep)
    if rest != text and ".." not in rest.split(os.sep):
        return Path(rest)
    return path_below(path, root) or Path(Path(path).resolve().name)


def _below_without_links(path: str, root: str) -> str:
    """Return the rest of `path` after `root`; "" if a part of `path` is a link or `..`."""
    rest = path.removeprefix(root.rstrip(os.sep) + os.sep)
    if rest == path or ".." in rest:
        return ""
    here = path
    for _ in range(rest.count(os.sep) + 1):
        if os.path.islink(here):
            return ""
        here = os.path.dirname(here)
    return rest


class Resolver:
    """Resolves paths as `Path.resolve` does, but each folder once. Links must not change."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def resolve(self, path: str) -> str:
        """Return `path` without links."""
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)
