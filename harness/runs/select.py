"""Paths of the command line -> subjects: scenarios, and cassettes that no scenario labels.

A file is what its top-level keys say it is. A cassette that a selected scenario labels is
judged through that scenario only.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.runs.plan import Subject

_SUFFIXES = (".yaml", ".yml")
_HEAD_BYTES = 1 << 20
# A scenario's keys come early; a cassette's `interactions` may stand behind a large body.
_SCENARIO = re.compile(rb"^(expect|cassette):", re.MULTILINE)
_CASSETTE = re.compile(rb"^interactions:", re.MULTILINE)
_NAMED = re.compile(rb"^cassette:\s*['\"]?([^\s'\"#]+)", re.MULTILINE)


def select(paths: Iterable[Path]) -> tuple[Subject, ...]:
    """Return the subjects that `paths` name or hold; what ships where there are none.

    Raises:
        UsageError: a path does not exist.
        UnreadableError: a file that was named is neither scenario nor cassette.
    """
    wanted = tuple(paths) or (shipped.folder("scenarios"),)
    found = (_subject(file, path) for path in wanted for file in _files(path))
    subjects = {subject.path: subject for subject in found if subject}
    labelled = {path for s in subjects.values() if s.kind == "scenario" for path in _labelled(s)}
    return tuple(subjects[path] for path in sorted(subjects) if path not in labelled)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (found for found in path.rglob("*") if found.suffix in _SUFFIXES)
    elif path.is_file():
        if _kind(path) is None:
            raise UnreadableError(
                "expected a scenario (key `expect`) or a cassette (key `interactions`)",
                where=str(path),
                hint="take other recordings in with `harness import`",
            )
        yield path
    else:
        raise UsageError(
            "no such file or folder",
            where=str(path),
            hint="`harness list scenarios` prints those that ship",
        )


def _subject(path: Path, asked: Path) -> Subject | None:
    kind = _kind(path)
    if kind == b"scenario":
        root = _root(path, "scenarios", asked)
        return Subject("scenario", str(path), (str(root), *map(str, _cassette_roots(root))))
    if kind == b"cassette":
        return Subject("cassette", str(path), (str(_root(path, "cassettes", asked)),))
    return None


def _kind(path: Path) -> bytes | None:
    head = _head(path)
    if _CASSETTE.search(head):
        return b"cassette"
    return b"scenario" if _SCENARIO.search(head) else None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", where=str(path)) from error


def _root(path: Path, name: str, asked: Path) -> Path:
    """Return what ids are relative to.

    That is the nearest folder called `name` above `path`, else the folder that was asked for,
    else the one that the file lies in.
    """
    above = next((folder for folder in path.absolute().parents if folder.name == name), None)
    if above is not None:
        return above
    return asked if asked.is_dir() else path.parent


def _cassette_roots(scenario_root: Path) -> tuple[Path, ...]:
    return (scenario_root.parent / "cassettes", shipped.folder("cassettes"))


def _labelled(subject: Subject) -> Iterator[str]:
    """Yield the paths that the cassette of a scenario may have."""
    match = _NAMED.search(_head(Path(subject.path)))
    if match:
        name = match[1].decode("utf-8", "replace") + ".yaml"
        yield from (str(Path(root) / name) for root in subject.roots[1:])
