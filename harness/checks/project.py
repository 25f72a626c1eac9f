"""Check a user's project for `harness doctor`: clients, versions, paths and scenarios."""

import importlib.metadata
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final

from harness.checks.bundled_data import Check
from harness.checks.client import check_plain
from harness.conversation.agent import Agent
from harness.errors import HarnessError
from harness.normalizers.protocol import Normalizer
from harness.project import Project
from harness.recording.secrets import scrubber
from harness.runs.declared import declared_agent, declared_normalizer
from harness.runs.judge_job import unreadable_file
from harness.runs.load import load_subject
from harness.runs.plan import Subject
from harness.runs.request import requested_cells, selected_clients
from harness.runs.selection import (
    is_bundled_folder,
    own_folders,
    select_subjects,
)
from harness.shipped import BUNDLED
from harness.verdicts.policy import policy_of
from harness.wire.cassette_file import load_cassette
from harness.workers.batch import Exited
from harness.workers.pool import call_in_worker

_DISTRIBUTION: Final = "toolcall-harness"
# What the requirements of the extras of this package look like.
_REQUIREMENT: Final = re.compile(
    r"(?P<name>[\w.-]+)(\[[^]]*\])?>=(?P<least>[\w.]+); extra == ['\"](?P<extra>[\w.-]+)['\"]"
)


def is_project(found: Project) -> bool:
    """Return whether a folder is a project: it has `[tool.harness]` and is not this repository."""
    return found.declared and not is_bundled_folder(found.root / "scenarios")


def project_checks(found: Project) -> Iterator[Check]:
    """Run the checks on a project one after the other, and yield the result of each."""
    names = (*found.table.normalizers, *found.table.agents)
    yield _check("the project lists its client", len(names), _lists_none(names))
    yield _check("each client can be loaded", len(names), _not_loaded(found))
    yield from _plain_checks(found)
    yield _check("the versions of installed packages fit", len(names), _wrong_versions(found))
    yield _check("each path exists and is used", len(found.table.paths), _unused_paths(found))
    own = tuple(_own_subjects(found))
    yield _check("each scenario has its cassette, and each file is valid", len(own), _broken(own))
    yield _check("cassettes are scrubbed", len(own), _leaks(own))
    yield _check("the project selects cells", 1, _selects_nothing())
    yield _check("baseline and expectations are valid", 1, _broken_policy(found))


def _check(name: str, count: int, problems: Iterable[str]) -> Check:
    detail = tuple(problems)
    return Check(name, ok=not detail, count=count, detail=detail)


def _lists_none(names: tuple[str, ...]) -> Iterator[str]:
    if not names:
        yield "add [tool.harness.normalizers.NAME] with a target to pyproject.toml"


def _clients(found: Project) -> Iterator[tuple[str, Normalizer | Agent | HarnessError]]:
    """Yield the name of each client of the project with the client, or why it cannot be loaded."""
    loaders: tuple[tuple[Iterable[str], Callable[[str], Normalizer | Agent]], ...] = (
        (found.table.normalizers, declared_normalizer),
        (found.table.agents, declared_agent),
    )
    for names, load in loaders:
        for name in names:
            try:
                yield name, load(name)
            except HarnessError as error:
                yield name, error


def _not_loaded(found: Project) -> Iterator[str]:
    for name, client in _clients(found):
        if isinstance(client, HarnessError):
            yield f"{name}: {' '.join(str(client).split())}"


def _plain_checks(found: Project) -> Iterator[Check]:
    """Play plain responses to each client that can be loaded, and yield the result by dialect."""
    for name, client in _clients(found):
        if isinstance(client, Normalizer) and client.link is None:
            played, _ = call_in_worker(partial(check_plain, filters=found.table.select), name)
            if isinstance(played, Exited):
                yield _check(f"{name} reads plain responses", 0, [played.reason])
            else:
                yield from played


def _wrong_versions(found: Project) -> Iterator[str]:
    """Yield the installed packages that are older than the extra of their adapter requires."""
    for name, client in _clients(found):
        if not isinstance(client, HarnessError) and client.extra:
            for package, least in _requirements(client.extra):
                yield from (f"{name}: {problem}" for problem in _too_old(package, least))


def _requirements(extra: str) -> Iterator[tuple[str, str]]:
    try:
        lines = importlib.metadata.requires(_DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:  # a checkout that is not installed
        return
    for line in lines:
        match = _REQUIREMENT.fullmatch(line)
        if match and match["extra"] == extra:
            yield match["name"], match["least"]


def _too_old(package: str, least: str) -> Iterator[str]:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        yield f"{package} is not installed, expected {least} or later"
        return
    if _numbers(version) < _numbers(least):
        yield f"{package} {version} is installed, expected {least} or later"


def _numbers(version: str) -> list[int]:
    """Return the numbers at the beginning of a version, such as 2 and 0 for `2.0rc1`."""
    parts = (re.match(r"\d*", part) for part in version.split("."))
    return [int(part[0]) for part in takewhile(bool, parts) if part and part[0]]


def _unused_paths(found: Project) -> Iterator[str]:
    paths = {path: found.root / path for path in found.table.paths if path != BUNDLED}
    for name, path in paths.items():
        if not path.exists():
            yield f"{name}: no such file or folder"
            continue
        try:
            subjects = select_subjects([path], recordings=True)
            if not subjects:
                yield f"{name}: it has no scenario, cassette or log"
            for each in subjects:
                if each.kind == "unreadable":
                    file = Path(each.path).relative_to(found.root)
                    yield f"{file}: neither a scenario nor a cassette"
        except HarnessError as error:
            yield " ".join(str(error).split())
    for folder in own_folders(found.root):
        if not any(folder.is_relative_to(path) for path in paths.values()) and (
            folder.name == "scenarios" or not paths
        ):
            yield f"{folder.name}: paths in [tool.harness] does not list this folder"


def _own_subjects(found: Project) -> Iterator[Subject]:
    listed = [found.root / path for path in found.table.paths if path != BUNDLED]
    places = [path for path in (*listed, *own_folders(found.root)) if path.exists()]
    if places:
        with suppress(HarnessError):  # another check says why
            yield from select_subjects(places, recordings=True)


def _broken(own: Iterable[Subject]) -> Iterator[str]:
    for subject in own:
        broken = unreadable_file(subject)
        if broken is not None:
            yield " ".join(broken.error.split())


def _leaks(own: Iterable[Subject]) -> Iterator[str]:
    for subject in own:
        if subject.kind == "cassette" and unreadable_file(subject) is None:
            yield from scrubber.iter_leaks(load_cassette(Path(subject.path)))
        elif subject.kind == "scenario" and unreadable_file(subject) is None:
            yield from scrubber.iter_leaks(load_subject(subject).cassette)


def _selects_nothing() -> Iterator[str]:
    try:
        cells = requested_cells(selected_clients((), ()))
    except HarnessError as error:
        yield " ".join(str(error).split())
        return
    if not cells.jobs:
        yield f"nothing matches {cells.words!r} in {', '.join(map(str, cells.paths)) or BUNDLED}"


def _broken_policy(found: Project) -> Iterator[str]:
    try:
        policy_of(found, date.min)
    except HarnessError as error:
        yield " ".join(str(error).split())
