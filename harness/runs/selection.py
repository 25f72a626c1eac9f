"""Paths of the command line -> subjects: scenarios, cassettes without a scenario, logs.

The top-level keys of a file decide what it is, and the first line of a log. A cassette that
a selected scenario names is judged through that scenario only.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from harness import shipped
from harness.conversation.discovery import installed_agent_names
from harness.conversation.history.jsonl import is_conversation
from harness.conversation.mutants import MUTANTS as AGENT_MUTANTS
from harness.dialects.table import DIALECTS
from harness.errors import UnreadableError, UsageError
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_head
from harness.files.names import did_you_mean, nearest
from harness.files.paths import Resolver
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import CASSETTE_PREFIX, area_of
from harness.judging.scenario_file import SHARED_FOLDERS
from harness.normalizers.discovery import installed_normalizer_names
from harness.normalizers.mutants import MUTANTS
from harness.project import project
from harness.runs.plan import Subject, subject_id
from harness.runs.worker import LOG_SUFFIX, each_log, load_subject

_SUFFIXES = (".yaml", ".yml", LOG_SUFFIX)
_FOLDERS = 1024
# Among paths, the bundled scenarios and recordings.
BUNDLED: Final = "bundled"
# A scenario's keys come early; a cassette's `interactions` may come after a large body.
_SCENARIO = re.compile(rb"^(expect|conversation|cassette):", re.MULTILINE)
_CONVERSATION = re.compile(rb"^conversation:", re.MULTILINE)
_CASSETTE = re.compile(rb"^interactions:", re.MULTILINE)
_NAMED = re.compile(rb"^cassette:\s*['\"]?([^\s'\"#]+)", re.MULTILINE)


def select_subjects(
    paths: Iterable[Path], dialect: str = "", *, recordings: bool = False
) -> tuple[Subject, ...]:
    """Return the subjects that `paths` name or contain; without paths, the bundled ones.

    The path `bundled` means the bundled ones, unless such a file or folder exists. Hidden folders
    below a path are skipped. A file that cannot be used costs no other one: it is
    a subject as well, and loading it raises an UnreadableError.

    Args:
        paths: files and folders.
        dialect: that of all cassettes; "" for the one that each states.
        recordings: whether the bundled subjects include recordings, and not only scenarios.

    Raises:
        UsageError: the dialect is unknown, a path does not exist, or two files have the same id.
    """
    _check_dialect(dialect)
    kinds = ("scenarios", "cassettes") if recordings else ("scenarios",)
    bundled = tuple(map(shipped.bundled_folder, kinds))
    given = tuple(paths) or (Path(BUNDLED),)
    wanted = [it for path in given for it in (bundled if _is_bundled_word(path) else (path,))]
    resolve = Resolver().resolve
    files = {resolve(file): (file, base) for path in wanted for file, base in _files(path)}
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


def own_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders of a project that have its scenarios and cassettes by convention."""
    folders = (root / name for name in ("scenarios", "cassettes"))
    return tuple(each for each in folders if each.is_dir() and not is_bundled_folder(each))


class _Recognized(NamedTuple):
    """A subject and the name of the cassette that it states, "" if it states none."""

    subject: Subject
    cassette: str = ""


def _each_log(subject: Subject) -> tuple[Subject, ...]:
    """Return a subject for each conversation of a file; the file itself if it is damaged."""
    try:
        return tuple(each_log(subject))
    except UnreadableError:
        return (subject,)


def _labelled_cassettes(
    found: Collection[_Recognized], resolve: Callable[[str], str]
) -> frozenset[str]:
    """Return the paths of cassettes that scenarios name; none if no cassette was selected."""
    if all(subject.kind != "cassette" for subject, _ in found):
        return frozenset()
    return frozenset(
        resolve(os.path.join(root, f"{name}.yaml"))
        for subject, name in found
        if name
        for root in subject.roots[1:]
    )


def _check_dialect(dialect: str) -> None:
    if dialect and dialect not in DIALECTS:
        raise UsageError(
            f"no reader knows the dialect {dialect!r}",
            hint=did_you_mean(dialect, DIALECTS, "Choose one of"),
        )


def unrecognized_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the YAML files in the folders of `paths` that are neither scenario nor cassette.

    Files of the shared folders `tools` and `prompts` are part of scenarios.
    """
    files = (file for path in paths if path.is_dir() for file, _ in _files(path))
    odd = (Path(it) for it in files if not it.endswith(LOG_SUFFIX) and not _recognized(it, it))
    return tuple(sorted(file for file in odd if SHARED_FOLDERS.isdisjoint(file.parts)))


def _reject_duplicate_ids(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """Return `subjects`, unless two have the same id and therefore the same cells."""
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


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each file that `path` names or contains, and the default folder of its id."""
    if path.is_dir():
        below = (found.removeprefix(f".{os.sep}") for found in _files_below(str(path)))
        yield from ((found, str(path)) for found in below)
    elif path.is_file():
        yield str(path), str(path.parent)
    else:
        raise UsageError(
            "no such file or folder",
            where=str(path),
            hint="`harness list scenarios` prints the bundled ones",
        )


def _files_below(folder: str) -> Iterator[str]:
    """Yield the files in `folder` with a known suffix; hidden ones and folders are left out."""
    try:
        entries = os.scandir(folder)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", where=folder) from error
    with entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path)
            elif entry.name.endswith(_SUFFIXES) and entry.is_file():
                yield entry.path


@kept_while_unchanged
def _recognized(path: str, base: str, *, named: bool = False) -> _Recognized | None:
    """Return what a file is; None for another file of a folder, which was not `named`."""
    try:
        head = read_head(path)
    except UnreadableError:
        return _Recognized(Subject("unreadable", path, (base,)))
    if path.endswith(LOG_SUFFIX):
        is_log = named or is_conversation(head)
        return _Recognized(Subject("log", path, (base,))) if is_log else None
    kind = _kind(head)
    if kind == b"scenario":
        roots = _roots_of_scenario(os.path.dirname(path))
        conversation = _CONVERSATION.search(head) is not None
        match = _NAMED.search(head)
        cassette = match[1].decode("utf-8", "replace") if match else ""
        return _Recognized(Subject("scenario", path, roots, conversation=conversation), cassette)
    if kind == b"cassette":
        root = _root_of_cassette(os.path.dirname(path)) or base
        return _Recognized(Subject("cassette", path, (root,)))
    return _Recognized(Subject("unreadable", path, (base,))) if named else None


def _kind(head: bytes) -> bytes | None:
    if _CASSETTE.search(head):
        return b"cassette"
    return b"scenario" if _SCENARIO.search(head) else None


def named_folder(path: Path, name: str) -> Path | None:
    """Return the nearest folder called `name` above `path`."""
    return next((folder for folder in path.parents if folder.name == name), None)


@lru_cache(_FOLDERS)
def _roots_of_scenario(folder: str) -> tuple[str, ...]:
    """Return the folder of the ids of scenarios in `folder`, then those of their cassettes."""
    root = named_folder(Path(folder, "any"), "scenarios") or Path(folder)
    bundled = shipped.bundled_folder("cassettes")
    return (str(root), str(root.parent / "cassettes"), str(bundled))


@lru_cache(_FOLDERS)
def _root_of_cassette(folder: str) -> str:
    return str(named_folder(Path(folder, "any"), "cassettes") or "")


_BY_ID: Final[dict[str, Callable[[str], str]]] = {"id": str, "area": area_of}
_BY_CONTENT: Final[dict[str, Callable[[LoadedSubject], Iterable[str]]]] = {
    "dialect": lambda loaded: {each.dialect for each in loaded.cassette.interactions},
    "provider": lambda loaded: (loaded.cassette.provider,),
    "model": lambda loaded: (loaded.cassette.model,),
    "prompt": lambda loaded: (loaded.cassette.prompt,),
    "quirk": lambda loaded: loaded.scenario.quirks if loaded.scenario else (),
}
FILTER_KEYS: Final = (*_BY_ID, *_BY_CONTENT)
_ABOUT_MODELS: Final = ("model:", "prompt:", f"id:{CASSETTE_PREFIX}")


def filter_subjects(subjects: Iterable[Subject], words: str) -> Iterator[Subject]:
    """Yield those of `subjects` that match each filter in `words`; without filters, all of them.

    Files are loaded only if a filter is about their content. One that cannot be loaded matches, so
    that it is reported.

    Args:
        subjects: in their order.
        words: filters `key:glob`, separated by blanks; the keys are `FILTER_KEYS`.

    Raises:
        UsageError: a word is not such a filter.
    """
    terms = [_parse_filter(word) for word in words.split()]
    return (subject for subject in subjects if all(_matches(subject, *term) for term in terms))


def selects_models(words: str) -> bool:
    """Return whether a filter in `words` is about models, prompts or recordings."""
    return any(word.startswith(_ABOUT_MODELS) for word in words.split())


def _parse_filter(word: str) -> tuple[str, str]:
    key, _, glob = word.partition(":")
    if key in FILTER_KEYS and glob:
        return key, glob
    near = "" if key in FILTER_KEYS else nearest(key, FILTER_KEYS)
    raise UsageError(
        f"expected words `key:glob`, found {word!r}",
        where="select",
        hint=f"{near} keys: {', '.join(FILTER_KEYS)}".strip(),
    )


def _matches(subject: Subject, key: str, glob: str) -> bool:
    if key in _BY_ID:
        return fnmatchcase(_BY_ID[key](subject_id(subject)), glob)
    if subject.kind == "log":  # it has no cassette
        return False
    try:
        loaded = load_subject(subject)
    except UnreadableError:
        return True
    return any(fnmatchcase(value, glob) for value in _BY_CONTENT[key](loaded))


class ExistingNames(msgspec.Struct, frozen=True):
    """Ids of scenarios and of cassettes without one; names of normalizers and agents."""

    scenarios: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def existing_names(paths: Iterable[Path] = ()) -> ExistingNames:
    """Return the names that a run may have left out on purpose.

    They are bundled, installed, listed by the project, or in those of `paths` that still exist.
    """
    found = project()
    listed = (found.root / path for path in found.table.paths)
    places = dict.fromkeys((*listed, *paths))
    return ExistingNames(
        scenarios=_bundled_ids().union(*(_ids([index]) for index in places if index.exists())),
        names=frozenset(
            (
                *found.table.normalizers,
                *found.table.agents,
                *installed_normalizer_names(),
                *installed_agent_names(),
                *MUTANTS,
                *AGENT_MUTANTS,
            )
        ),
    )


@cache
def _bundled_ids() -> frozenset[str]:
    return _ids([])


def _ids(paths: Sequence[Path]) -> frozenset[str]:
    return frozenset(subject_id(subject) for subject in select_subjects(paths, recordings=True))
