"""Import the files of other tools among the paths of `harness run`, so that it can judge them.

The cassettes are written to the folder `imported` of the output folder, and replace those of the
last run.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from harness.cli.import_ import Names, Tally, count_lines, files_to_import, import_one
from harness.files.output import OutputFolder
from harness.recording.importing import Labels
from harness.reporting.visible import marked
from harness.runs.selection import is_subject
from harness.shipped import BUNDLED, is_bundled
from harness.wording import pluralize

_FOLDER: Final = "imported"
# Files with another suffix are imported if the user names them.
_SUFFIXES: Final = frozenset(
    {
        *(".bin", ".flow", ".flows", ".gz", ".har", ".httprr", ".json", ".jsonl", ".log"),
        *(".mitm", ".ndjson", ".sse", ".trace", ".txt", ".yaml", ".yml"),
    }
)


class ImportedPaths(msgspec.Struct, frozen=True):
    """The paths to judge after the import.

    Fields:
        paths: the paths of the user without imported files, and the folder with the cassettes.
        files: the imported files.
        damaged: whether a recording is damaged, so that the exit code must say so.
    """

    paths: tuple[Path, ...]
    files: frozenset[Path] = frozenset()
    damaged: bool = False


def import_unread(paths: tuple[Path, ...], output: Path) -> ImportedPaths:
    """Import the files at `paths` that `harness run` does not read itself.

    Args:
        paths: the files and folders that the user named.
        output: the output folder of the run.

    Raises:
        UsageError: the folder for the cassettes has files of the user.
    """
    folder = output / _FOLDER
    wanted = list(_unread(paths, output))
    if not wanted:
        return ImportedPaths(paths)
    own = OutputFolder(folder)
    own.require_own()
    own.remove(own.listed())
    tally, names = Tally(), Names(folder)
    taken: set[Path] = set()
    for path, source in wanted:
        before = tally.readable
        import_one(path, source, Labels(), names, tally)
        taken.update((path,) if tally.readable > before else ())
    if not tally.cassettes and not tally.conversations:
        _report(tally, folder)
        return ImportedPaths(paths, frozenset(taken), damaged=bool(tally.damaged))
    _report(tally, folder)
    left = tuple(path for path in paths if path not in taken)
    return ImportedPaths((*left, folder), frozenset(taken), damaged=bool(tally.damaged))


def _unread(paths: Iterable[Path], output: Path) -> Iterator[tuple[Path, str]]:
    named = tuple(path for path in paths if path.exists() and not is_bundled(str(path)))
    for path, source in files_to_import(named, output):
        is_named = path in named
        if not is_named and path.suffix.lower() not in _SUFFIXES:
            continue
        if path.name != BUNDLED and not is_subject(path, named=is_named):
            yield path, source


def _report(tally: Tally, folder: Path) -> None:
    if tally.readable:
        number = pluralize(tally.streams.total(), "stream")
        files = pluralize(tally.readable, "file")
        click.echo(f"imported: {number} of {files} to {marked(str(folder))}", err=True)
    for line in count_lines(tally.skipped):
        click.echo(f"skipped:{line}", err=True)
    for each in tally.not_imported:
        if each.damaged:
            click.echo(f"error: {marked(str(each))}", err=True)
