"""Find the subjects in the paths of the command line: scenarios, cassettes and logs.

The top-level keys of a file decide whether it is a scenario or a cassette. If a selected scenario
names a selected cassette, the cassette is judged only through that scenario.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness import shipped
from harness.conversation.history.jsonl import is_conversation
from harness.errors import UnreadableError, UsageError
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_head
from harness.files.paths import Resolver
from harness.files.walk import is_yaml, walk_files
from harness.runs.logs import LOG_SUFFIX, each_log
from harness.runs.plan import Subject, subject_id
from harness.shipped import BUNDLED, SHARED_FOLDERS

_FOLDERS = 1024
_RECORDINGS = frozenset({"cassette", "log"})
# A scenario's keys come early; a cassette's `interactions` may come after a large body.
_SCENARIO = re.compile(rb"^(expect|conversation|timing|cassette):", re.MULTILINE)
_CONVERSATION = re.compile(rb"^conversation:", re.MULTILINE)
_TIMING = re.compile(rb"^timing:", re.MULTILINE)
_OWN = re.compile(rb"^evidence:\s*(?:\{\s*)?['\"]?own['\"]?\s*:", re.MULTILINE)
_CASSETTE = re.compile(rb"^interactions:", re.MULTILINE)
_VCRPY_ADDRESS = re.compile(rb"^ +(?:- )?uri:", re.MULTILINE)
_GO_VCR_ADDRESS = re.compile(rb"^ +(?:- )?url:", re.MULTILINE)
_NAMED = re.compile(rb"^cassette:\s*['\"]?([^\s'\"#]+)", re.MULTILINE)


def select_subjects(
    paths: Iterable[Path],
    dialect: str = "",
    *,
    recordings: bool = False,
    without: Collection[Path] = (),
) -> tuple[Subject, ...]:
    """Return the subjects that `paths` name or contain; the bundled ones if there are no paths.

    The path `bundled` means the bundled subjects, unless such a file or folder exists. Hidden
    folders below a path are left out. A file that cannot be used does not affect other files: it
    is a subject, too, and loading it raises an UnreadableError. So is any other YAML file.

    Args:
        paths: files and folders.
        dialect: the dialect of all cassettes; "" for the dialect that each states.
        recordings: whether the bundled subjects include recordings, and not only scenarios.
        without: files to leave out, such as recordings of other tools that were imported.

    Raises:
        UsageError: a path does not exist, or two files have the same id.
    """
    kinds = ("scenarios", "cassettes") if recordings else ("scenarios",)
    bundled = tuple(map(shipped.bundled_folder, kinds))
    given = tuple(paths) or (Path(BUNDLED),)
    wanted = [it for path in given for it in (bundled if _is_bundled_word(path) else (path,))]
    resolve = Resolver().resolve
    excluded = frozenset(resolve(str(path)) for path in without)
    each_file = ((resolve(file), file, base) for path in wanted for file, base in _files(path))
    files = {at: (file, base) for at, file, base in each_file if at not in excluded}
    named = frozenset(resolve(str(path)) for path in wanted)
    found = {
        at: known for at, it in files.items() if (known := _recognized(*it, named=at in named))
    }
    labelled = _labelled_cassettes(found.values(), resolve)
    kept = (each.subject for at, each in found.items() if at not in labelled)
    each = (one for it in kept for one in (_each_log(it) if it.kind == "log" else (it,)))
    said = (msgspec.structs.replace(subject, dialect=dialect) for subject in each)
    return _reject_duplicate_ids(sorted(said, key=lambda subject: (subject.path, subject.index)))


def _is_bundled_word(path: Path) -> bool:
    return path == Path(BUNDLED) and not path.exists()


def is_bundled_folder(folder: Path) -> bool:
    """Return whether `folder` has the bundled files, as in a checkout of this repository."""
    return folder.resolve() == shipped.bundled_folder(folder.name).resolve()


def is_subject(path: Path, *, named: bool = False) -> bool:
    """Return whether `harness run` reads the file at `path` itself.

    Args:
        path: a file.
        named: whether the user named the file, and not a folder.
    """
    text = str(path)
    if not _is_selected(text):
        return False
    known = _recognized(text, str(path.parent), named=named and text.endswith(LOG_SUFFIX))
    return known is not None and known.subject.kind != "unreadable"


def own_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders `scenarios` and `cassettes` in `root` that exist and are not bundled."""
    folders = (root / name for name in ("scenarios", "cassettes"))
    return tuple(each for each in folders if each.is_dir() and not is_bundled_folder(each))


class _Recognized(NamedTuple):
    """A subject, and the name of the cassette that its scenario states; "" if it states none."""

    subject: Subject
    cassette: str = ""


def _each_log(subject: Subject) -> tuple[Subject, ...]:
    """Return a subject for each conversation in a log file; the file itself if it is damaged."""
    try:
        return tuple(each_log(subject))
    except UnreadableError:
        return (subject,)


def _labelled_cassettes(
    found: Collection[_Recognized], resolve: Callable[[str], str]
) -> frozenset[str]:
    """Return the paths of cassettes that scenarios name; () if no cassette was selected."""
    if all(subject.kind != "cassette" for subject, _ in found):
        return frozenset()
    return frozenset(
        resolve(os.path.join(root, f"{name}.yaml"))
        for subject, name in found
        if name
        for root in subject.roots[1:]
    )


def _with_distinct_ids(subjects: tuple[Subject, ...]) -> Iterator[Subject]:
    """Yield `subjects`. If recordings have one id, theirs begin at the folder that all are in."""
    counts = Counter(map(subject_id, subjects))
    again = [each for each in subjects if counts[subject_id(each)] > 1 and each.kind in _RECORDINGS]
    folders = {os.path.dirname(os.path.abspath(each.path)) for each in again}
    root = os.path.commonpath(folders) if len(folders) > 1 else ""
    for subject in subjects:
        is_moved = bool(root) and counts[subject_id(subject)] > 1 and subject.kind in _RECORDINGS
        yield msgspec.structs.replace(subject, roots=(root,)) if is_moved else subject


def _reject_duplicate_ids(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """Return `subjects`; raise a UsageError if two have the same id and so the same cells."""
    known: dict[str, Subject] = {}
    for subject in _with_distinct_ids(tuple(subjects)):
        other = known.setdefault(subject_id(subject), subject)
        if other is not subject:
            raise UsageError(
                f"two files have the id {subject_id(subject)!r}, the other is {other.path}",
                where=subject.path,
                hint="rename one, or run them one after the other",
            )
    return tuple(known.values())


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each file that `path` names or contains, with the folder that ids are relative to."""
    if path.is_dir():
        found = walk_files(str(path), _is_selected)
        below = (each.removeprefix(f".{os.sep}") for each in found)
        yield from ((found, str(path)) for found in below)
    elif path.is_file():
        yield str(path), str(path.parent)
    else:
        raise UsageError(
            "no such file or folder",
            where=str(path),
            hint="`harness list scenarios` prints the bundled ones",
        )


def _is_selected(name: str) -> bool:
    return is_yaml(name) or name.endswith(LOG_SUFFIX)


@kept_while_unchanged
def _recognized(path: str, base: str, *, named: bool = False) -> _Recognized | None:
    """Return the subject of a file; None if it is another file that the user did not name.

    A YAML file that is neither a scenario nor a cassette is unreadable, so that a truncated or
    misspelt one is never left out. The files that scenarios include are not subjects.
    """
    unreadable = _Recognized(Subject("unreadable", path, (base,)))
    try:
        head = read_head(path)
    except UnreadableError:
        return unreadable
    if path.endswith(LOG_SUFFIX):
        is_log = named or is_conversation(head)
        return _Recognized(Subject("log", path, (base,))) if is_log else None
    kind = _kind(head)
    if kind == b"scenario":
        roots = _roots_of_scenario(os.path.dirname(path))
        conversation = _CONVERSATION.search(head) is not None
        match = _NAMED.search(head)
        cassette = match[1].decode("utf-8", "replace") if match else ""
        subject = Subject("scenario", path, roots, conversation=conversation)
        is_own = _OWN.search(head) is not None
        is_timing = _TIMING.search(head) is not None
        subject = msgspec.structs.replace(subject, is_own=is_own, timing=is_timing)
        return _Recognized(subject, cassette)
    if kind == b"cassette":
        root = _root_of_cassette(os.path.dirname(path), base, named=named)
        return _Recognized(Subject("cassette", path, (root,)))
    folders = (Path(base).name, *Path(path).relative_to(base).parts[:-1])
    return unreadable if named or SHARED_FOLDERS.isdisjoint(folders) else None


def _kind(head: bytes) -> bytes | None:
    if _CASSETTE.search(head):
        # go-vcr names the address `url`, and only the importer reads it.
        is_vcrpy = _VCRPY_ADDRESS.search(head) or not _GO_VCR_ADDRESS.search(head)
        return b"cassette" if is_vcrpy else None
    return b"scenario" if _SCENARIO.search(head) else None


def named_folder(path: Path, name: str) -> Path | None:
    """Return the nearest folder called `name` above `path`; None if there is none."""
    return next((folder for folder in path.parents if folder.name == name), None)


@lru_cache(_FOLDERS)
def _roots_of_scenario(folder: str) -> tuple[str, ...]:
    """Return the folder that ids of scenarios in `folder` are relative to, and cassette folders."""
    root = named_folder(Path(folder, "any"), "scenarios") or Path(folder)
    bundled = shipped.bundled_folder("cassettes")
    return (str(root), str(root.parent / "cassettes"), str(bundled))


@lru_cache(_FOLDERS)
def _root_of_cassette(folder: str, base: str, *, named: bool) -> str:
    """Return the folder that ids of cassettes in `folder` are relative to.

    It is the folder `cassettes` at, above or directly in the folder `base` that the user named.
    Folders with that name further down belong to other tools, and their files have the same names
    in many of them.
    """
    root = named_folder(Path(folder, "any"), "cassettes")
    if root is None:
        return base
    is_below = not named and root.is_relative_to(base)
    return base if is_below and len(root.relative_to(base).parts) > 1 else str(root)
