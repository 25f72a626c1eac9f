"""Resolved paths of many files in few folders.

`Path.resolve` asks for each folder above a file whether it is a link. A search for all bundled
scenarios would do little else.
"""

import os
from pathlib import Path


def path_below(path: Path | str, root: Path | str) -> Path | None:
    """Return the path of a file relative to a folder that it is below; None if it is elsewhere.

    Both are resolved: a link that leads out of the folder is elsewhere.
    """
    rest = _below_without_links(os.fspath(path), os.fspath(root))
    if rest:
        return Path(rest)
    resolved, folder = Path(path).resolve(), Path(root).resolve()
    return resolved.relative_to(folder) if resolved.is_relative_to(folder) else None


def _below_without_links(path: str, root: str) -> str:
    """Return the rest of `path` after `root` if no part of it is a link or `..`; "" otherwise."""
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
    """Resolves paths as `Path.resolve` does, each folder once; links must not change meanwhile."""

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
