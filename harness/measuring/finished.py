"""Keep the files of a measurement complete: new rows replace the old ones only when all are there.

Workers write to a folder `turns.partial`, which stays if the measurement does not finish. The last
file is `complete.json`, which lists the files of rows. `drift` refuses rows without it.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.files.output import MARKER, OutputFolder
from harness.files.typed import convert
from harness.files.write import PARTIAL, write_file
from harness.measuring.rates import Measured
from harness.measuring.rows import FILES
from harness.measuring.samples import FOLDER

COMPLETE: Final = "complete.json"
RATES: Final = "measured.json"
_STAGING: Final = f"turns{PARTIAL}"
_AGAIN: Final = "Run `harness measure` again."


class Complete(msgspec.Struct, frozen=True):
    """The files of rows of a finished measurement, and what it could not read.

    Fields:
        files: the name of each file of rows -> its size in bytes.
        turns: how many turns were measured.
        skipped, damaged: how many records have no turn, and how many cannot be read.
    """

    files: dict[str, int]
    turns: int
    skipped: int
    damaged: int


class NewMeasurement:
    """The output folder of a measurement in progress.

    Args:
        folder: the output folder.
        sources: the files and folders to measure, which must not be replaced.

    Raises:
        UsageError: the folder has files with the names of rows, rates or samples that the harness
            did not write, or a source is among the files to be replaced.
    """

    def __init__(self, folder: Path, sources: Iterable[str]) -> None:
        self._output = OutputFolder(folder)
        self.rows = folder / _STAGING
        old = {os.path.realpath(folder / name): name for name in self._output.listed()}
        for source in sources:
            if os.path.realpath(source) in old:
                what = "the output folder has this file, which would be replaced"
                raise UsageError(what, where=source, hint="Choose another folder with -o.")
        present = (each.name for each in folder.glob(FILES))
        self._output.claim(RATES, COMPLETE, *present)
        OutputFolder(self.rows).require_own()
        _empty(self.rows)
        self._replaced = frozenset(old)

    def is_output(self, path: str) -> bool:
        """Return whether `path` is a file of an earlier measurement, which is never measured."""
        real = os.path.realpath(path)
        return real in self._replaced or Path(real).is_relative_to(self.rows.resolve())

    def publish(self, rates: Measured) -> None:
        """Replace the rows, rates and samples of the earlier measurement."""
        folder, output = self._output.path, self._output
        old = [name for name in output.listed() if name != MARKER]
        output.remove([COMPLETE])
        new = sorted(path.name for path in self.rows.glob(FILES))
        output.remove(
            name for name in old if Path(name).match(FILES) or name.startswith(f"{FOLDER}/")
        )
        output.claim(COMPLETE, *new)
        for name in new:
            (self.rows / name).replace(folder / name)
        write_file(folder / RATES, msgspec.json.encode(rates))

    def finish(self, turns: int, skipped: int, damaged: int) -> None:
        """Write the list of the files, after which the measurement is complete."""
        _empty(self.rows)
        (self.rows / MARKER).unlink()
        self.rows.rmdir()
        write_complete(self._output.path, turns, skipped, damaged)


def write_complete(folder: Path, turns: int, skipped: int = 0, damaged: int = 0) -> None:
    """Write the list of the files of rows in `folder`; see the fields of `Complete`."""
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob(FILES))}
    done = Complete(sizes, turns, skipped, damaged)
    write_file(folder / COMPLETE, msgspec.json.encode(done), durable=True)


def _empty(folder: Path) -> None:
    """Remove the rows of a measurement that did not finish, with the files of killed workers."""
    for path in folder.glob(FILES):
        path.unlink()
    for path in folder.glob(".*/rows.jsonl"):
        shutil.rmtree(path.parent)


def require_complete(folder: Path) -> Complete:
    """Return what the measurement in `folder` lists, after checking that all of it is there.

    Raises:
        UsageError: the measurement did not finish, or files of it are missing or changed.
    """
    where = str(folder)
    if (folder / _STAGING).exists():
        raise UsageError("the measurement did not finish", where=where, hint=_AGAIN)
    path = folder / COMPLETE
    if not path.is_file():
        raise UsageError(
            f"expected {COMPLETE}, the end of a measurement, found none", where=where, hint=_AGAIN
        )
    try:
        data = msgspec.json.decode(read_file(path))
    except msgspec.DecodeError as error:
        raise UnreadableError(f"not JSON: {error}", where=str(path), hint=_AGAIN) from error
    done = convert(data, Complete, str(path))
    found = {each.name: each.stat().st_size for each in folder.glob(FILES)}
    for name in sorted(found.keys() | done.files.keys()):
        if found.get(name) != done.files.get(name):
            raise UsageError(
                f"expected {done.files.get(name, 0):,} bytes, found {found.get(name, 0):,}",
                where=str(folder / name),
                hint=_AGAIN,
            )
    return done
