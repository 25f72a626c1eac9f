"""Paths of the command line -> subjects: scenarios, cassettes without a scenario, logs.

The top-level keys of a file decide what it is, and the first line of a log. A cassette that
a selected scenario names is judged through that scenario only.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from harness import shipped
from harness.conversation.discovery import installed_agent_names
from harness.conversation.mutants import MUTANTS as AGENT_MINIATURES
from harness.dialects.table import DIALECTS
from harness.errors import UnreadableError, UsageError
from harness.judging.judge import CASSETTE_PREFIX
from harness.judging.scenario_file import SHARED_FOLDERS
from harness.normalizers.discovery import installed_normalizer_names
from harness.normalizers.mutants import MUTANTS
from harness.project import project
from harness.runs import worker
from harness.runs.plan import Subject, subject_id

_SUFFIXES = (".yaml", ".yml", worker.LOG_SUFFIX)
_HEAD_BYTES = 1 << 20
# A scenario's keys come early; a cassette's `interactions` may stand behind a large body.
_SCENARIO = re.compile(rb"^(expect|conversation|cassette):", re.MULTILINE)
_CONVERSATION = re.compile(rb"^conversation:", re.MULTILINE)
_CASSETTE = re.compile(rb"^interactions:", re.MULTILINE)
_NAMED = re.compile(rb"^cassette:\s*['\"]?([^\s'\"#]+)", re.MULTILINE)


def select_subjects(
    paths: Iterable[Path], dialect: str = "", *, recordings: bool = False
) -> tuple[Subject, ...]:
    """Return the subjects that `paths` name or hold; what ships where there are none.

    Hidden folders below a path are not looked into.

    Args:
        paths: files and folders.
        dialect: what their cassettes hold, whatever they say; "" where they are right.
        recordings: of what ships, the recordings too, and not the scenarios alone.

    Raises:
        UsageError: nobody reads the dialect, a path does not exist, or two files would have the
            same id.
        UnreadableError: a file that was named is neither scenario nor cassette.
    """
    _check_dialect(dialect)
    kinds = ("scenarios", "cassettes") if recordings else ("scenarios",)
    wanted = tuple(paths) or tuple(map(shipped.bundled_folder, kinds))
    found = {file.resolve(): (file, base) for path in wanted for file, base in _files(path)}
    subjects = {at: subject for at, item in found.items() if (subject := _subject(*item))}
    labelled = {
        path for s in subjects.values() if s.kind == "scenario" for path in _cassette_paths(s)
    }
    kept = (subject for at, subject in subjects.items() if at not in labelled)
    each = (one for subject in kept for one in _split_log(subject))
    said = (msgspec.structs.replace(subject, dialect=dialect) for subject in each)
    return _reject_duplicate_ids(sorted(said, key=lambda subject: (subject.path, subject.place)))


def _split_log(subject: Subject) -> Iterator[Subject]:
    yield from worker.each_log(subject) if subject.kind == "log" else (subject,)


def _check_dialect(dialect: str) -> None:
    if dialect and dialect not in DIALECTS:
        raise UsageError(
            f"no reader knows the dialect {dialect!r}", hint=f"known: {', '.join(sorted(DIALECTS))}"
        )


def unrecognized_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the YAML files in the folders of `paths` that are neither scenario nor cassette.

    Files of the shared folders `tools` and `prompts` are part of scenarios.
    """
    files = (file for path in paths if path.is_dir() for file, _ in _files(path))
    odd = (file for file in files if file.suffix != worker.LOG_SUFFIX and _kind(file) is None)
    return tuple(sorted(file for file in odd if SHARED_FOLDERS.isdisjoint(file.parts)))


def _reject_duplicate_ids(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """Return `subjects`, unless two would have the same id and so the same cells."""
    known: dict[str, Subject] = {}
    for subject in subjects:
        other = known.setdefault(subject_id(subject), subject)
        if other is not subject:
            raise UsageError(
                f"two files have the id {subject_id(subject)!r}, the other is {other.path}",
                where=subject.path,
                hint="rename one, or run them one after the other",
            )
    return tuple(known.values())


def _files(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each file that `path` stands for, and the folder that names it if no better does."""
    if path.is_dir():
        below = (found for found in path.rglob("*") if found.suffix in _SUFFIXES)
        yield from ((found, path) for found in below if _is_candidate(found, path))
    elif path.is_file():
        if _kind(path) is None and path.suffix != worker.LOG_SUFFIX:
            raise UnreadableError(
                "expected a scenario (key `expect` or `conversation`) or a cassette "
                "(key `interactions`)",
                where=str(path),
                hint="take other recordings in with `harness import`",
            )
        yield path, path.parent
    else:
        raise UsageError(
            "no such file or folder",
            where=str(path),
            hint="`harness list scenarios` prints those that ship",
        )


def _is_candidate(found: Path, folder: Path) -> bool:
    inside = found.relative_to(folder).parts
    if not found.is_file() or any(part.startswith(".") for part in inside):
        return False
    return found.suffix != worker.LOG_SUFFIX or worker.is_log(_head(found))


def _subject(path: Path, base: Path) -> Subject | None:
    if path.suffix == worker.LOG_SUFFIX:
        return Subject("log", str(path), (str(base),))
    kind = _kind(path)
    if kind == b"scenario":
        root = named_folder(path, "scenarios") or path.parent
        roots = (str(root), *map(str, _cassette_roots(root)))
        conversation = _CONVERSATION.search(_head(path)) is not None
        return Subject("scenario", str(path), roots, conversation=conversation)
    if kind == b"cassette":
        return Subject("cassette", str(path), (str(named_folder(path, "cassettes") or base),))
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


def named_folder(path: Path, name: str) -> Path | None:
    """Return the nearest folder called `name` above `path`."""
    return next((folder for folder in path.parents if folder.name == name), None)


def _cassette_roots(scenario_root: Path) -> tuple[Path, ...]:
    return (scenario_root.parent / "cassettes", shipped.bundled_folder("cassettes"))


def _cassette_paths(subject: Subject) -> Iterator[Path]:
    """Yield the paths that the cassette of a scenario may have."""
    match = _NAMED.search(_head(Path(subject.path)))
    if match:
        name = match[1].decode("utf-8", "replace") + ".yaml"
        yield from ((Path(root) / name).resolve() for root in subject.roots[1:])


def area_of(scenario: str) -> str:
    """Return the folder part of a scenario's id, or of an unlabelled cassette's."""
    return scenario.removeprefix(CASSETTE_PREFIX).rpartition("/")[0]


class ExistingNames(msgspec.Struct, frozen=True):
    """Ids of scenarios and unlabelled cassettes, and names of normalizers and agents."""

    scenarios: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def existing_names(paths: Iterable[Path] = ()) -> ExistingNames:
    """Return what ships, what is installed, what the project lists, and what `paths` hold.

    Args:
        paths: those that still exist are looked into.
    """
    found = project()
    listed = (found.root / path for path in found.table.paths)
    places = dict.fromkeys((*listed, *paths))
    return ExistingNames(
        scenarios=_bundled_ids().union(*(_ids([place]) for place in places if place.exists())),
        names=frozenset(
            (
                *found.table.normalizers,
                *found.table.agents,
                *installed_normalizer_names(),
                *installed_agent_names(),
                *MUTANTS,
                *AGENT_MINIATURES,
            )
        ),
    )


@cache
def _bundled_ids() -> frozenset[str]:
    return _ids([])


def _ids(paths: Sequence[Path]) -> frozenset[str]:
    return frozenset(subject_id(subject) for subject in select_subjects(paths, recordings=True))
