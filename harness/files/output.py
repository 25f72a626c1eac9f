"""Replace and remove only those files of an output folder that the harness wrote.

The file `.harness-output` of an output folder lists the files that the harness wrote there. It only
grows, so that several commands can write to one folder: a file that the harness removed has another
line. A file that exists and is not listed belongs to the user: the harness never changes it.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.errors import UsageError

MARKER: Final = ".harness-output"
_FIRST_LINE: Final = "The harness wrote these files. It replaces and removes only them."
_WROTE: Final = "+ "
_REMOVED: Final = "- "
_RUN_START: Final = b'{"type":"header","schema":'
_HINT: Final = "Choose another folder, or move the file away."


class OutputFolder:
    """A folder to which a command writes; remembers in a marker which files the harness wrote.

    Raises:
        UsageError: the folder has a file with the name of the marker that is not one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._marker = path / MARKER
        self._listed = self._read()

    @property
    def is_marked(self) -> bool:
        """Whether the folder has a marker."""
        return self._marker.is_file()

    def listed(self) -> tuple[str, ...]:
        """Return the names of the existing files that the harness wrote, relative to the folder."""
        return tuple(name for name in self._listed if os.path.lexists(self.path / name))

    def claim(self, *names: str, is_own: Callable[[Path], bool] = lambda _: False) -> None:
        """Add files to the list before they are written; the folder is created.

        Args:
            names: the files, relative to the folder.
            is_own: returns whether a file that is not listed was written by the harness, such as
                one that the user copied here. Run files are always recognized.

        Raises:
            UsageError: one of the files exists, and the harness did not write it; no file is added.
            OSError: the marker cannot be written.
        """
        new = tuple(name for name in dict.fromkeys(names) if name not in self._listed)
        for name in new:
            path = self.path / name
            if os.path.lexists(path) and not (_is_run(path) or is_own(path)):
                raise UsageError(
                    "would replace a file that the harness did not write",
                    where=str(path),
                    hint=_HINT,
                )
        if new:
            self._append(new, _WROTE)

    def require_own(self) -> None:
        """Check that the folder is marked, empty or missing, and mark it.

        For a folder that a command fills alone, such as an environment.

        Raises:
            UsageError: it has files, and the harness did not make it.
            OSError: the marker cannot be written.
        """
        is_other = os.path.lexists(self.path) and not self.path.is_dir()
        if is_other or (not self.is_marked and self.path.is_dir() and any(self.path.iterdir())):
            raise UsageError(
                f"would replace a folder that the harness did not make: it has no {MARKER}",
                where=str(self.path),
                hint="Choose another folder, or move this one away.",
            )
        self._append((), _WROTE)

    def release(self, *names: str) -> None:
        """Remove files from the list that no longer exist, so that the user may use their names.

        Raises:
            OSError: the marker cannot be written.
        """
        gone = (name for name in names if name in self._listed)
        self._append(tuple(it for it in gone if not os.path.lexists(self.path / it)), _REMOVED)

    def remove(self, names: Iterable[str]) -> None:
        """Remove those of the files that the harness wrote, and folders that become empty.

        Raises:
            OSError: a file cannot be removed.
        """
        own = tuple(name for name in names if name in self._listed)
        for name in own:
            (self.path / name).unlink(missing_ok=True)
            for folder in Path(name).parents[:-1]:
                with suppress(OSError):  # it has other files
                    (self.path / folder).rmdir()
        self.release(*own)

    def _read(self) -> dict[str, None]:
        try:
            lines = self._marker.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise UsageError(
                f"cannot be read: {error.strerror}", where=str(self._marker), hint=_HINT
            ) from error
        if lines[0] != _FIRST_LINE:
            what = "expected the list of files that the harness wrote"
            raise UsageError(what, where=str(self._marker), hint=_HINT)
        listed: dict[str, None] = {}
        for line in lines[1:]:
            if line.startswith(_WROTE):
                listed[line.removeprefix(_WROTE)] = None
            elif line.startswith(_REMOVED):
                listed.pop(line.removeprefix(_REMOVED), None)
        return listed

    def _append(self, names: tuple[str, ...], what: str) -> None:
        if not names and self.is_marked:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        first = () if self.is_marked else (_FIRST_LINE,)
        # A name with a line end would list another file; unlisted, its file is never replaced.
        lines = (*first, *(f"{what}{name}" for name in names if "\n" not in name))
        text = "".join(f"{line}\n" for line in lines)
        with self._marker.open("ab") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        self._listed = self._read()


def _is_run(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_RUN_START)) == _RUN_START
