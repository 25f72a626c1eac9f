"""Load requirement sets: the frozen list of bundled scenarios, recordings and rules of a release.

`catalogue/sets/NAME.json` lists their ids. With a set, a gate judges the same cells by the same
rules in each later release, even if the release has more scenarios and rules. The set `smoke` is
not frozen: `scripts.smoke_set` chooses few scenarios that show most of what the suite shows.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.files.typed import File, convert
from harness.judging.rule import check_only
from harness.results.result import CASSETTE_PREFIX, LOG_PREFIX
from harness.runs.logs import LOG_SUFFIX
from harness.runs.plan import Subject, subject_id
from harness.wording import did_you_mean

_SUFFIX: Final = ".json"


class RequirementSet(File, frozen=True):
    """The ids of the scenarios, recordings (with `cassette:`) and rules of one requirement set.

    A set without `rules`, such as `smoke`, is not frozen: all rules of the release count.
    """

    scenarios: frozenset[str]
    recordings: frozenset[str]
    rules: frozenset[str] | None = None

    @property
    def subjects(self) -> frozenset[str]:
        """The ids of all scenarios and recordings of the set."""
        return self.scenarios | self.recordings


def sets_folder() -> Path:
    """Return the folder that contains the files of the requirement sets."""
    return shipped.bundled_folder("catalogue") / "sets"


def set_names() -> tuple[str, ...]:
    """Return the names of the requirement sets, sorted, so that the oldest release comes first."""
    return tuple(sorted(path.stem for path in sets_folder().glob(f"*{_SUFFIX}")))


@cache
def load_set(name: str) -> RequirementSet:
    """Return the requirement set called `name`.

    Raises:
        UsageError: there is no set with this name.
        UnreadableError: the file of the set is damaged.
    """
    known = set_names()
    if name not in known:
        raise UsageError(
            f"unknown requirement set {name!r}",
            where="--set, or the key `set` of [tool.harness]",
            hint=did_you_mean(name, known, "Choose one of"),
        )
    path = sets_folder() / f"{name}{_SUFFIX}"
    try:
        content = msgspec.json.decode(read_file(path))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(f"expected JSON: {error}", where=str(path)) from error
    return convert(content, RequirementSet, str(path))


@cache
def require_files(name: str) -> None:
    """Check that all files of a set exist, because a gate with fewer would pass more easily.

    Raises:
        UnreadableError: a file is missing.
    """
    for subject in sorted(load_set(name).subjects):
        path = _file_of(subject)
        if not path.is_file():
            raise UnreadableError(
                f"this requirement set has {subject}, whose file is missing: {path.name}",
                where=str(sets_folder() / f"{name}{_SUFFIX}"),
                hint="Install the harness again.",
            )


def _file_of(subject: str) -> Path:
    """Return the path of the bundled file of a scenario or recording."""
    if subject.startswith(LOG_PREFIX):
        name = f"{subject.removeprefix(LOG_PREFIX).partition('#')[0]}{LOG_SUFFIX}"
        return shipped.bundled_folder("cassettes") / name
    is_recording = subject.startswith(CASSETTE_PREFIX)
    folder = shipped.bundled_folder("cassettes" if is_recording else "scenarios")
    return folder / f"{subject.removeprefix(CASSETTE_PREFIX)}.yaml"


def within_set(subjects: Iterable[Subject], name: str) -> Iterator[Subject]:
    """Yield the subjects that are in the requirement set called `name`, or are files of the user.

    Args:
        subjects: subjects, which are yielded in the same order.
        name: the name of the set; "" to yield all subjects.
    """
    if name:
        require_files(name)
    named = load_set(name).subjects if name else frozenset()
    for subject in subjects:
        if not name or subject_id(subject) in named or not shipped.is_bundled(subject.path):
            yield subject


def rules_of_set(name: str) -> AbstractContextManager[None]:
    """Return a context manager that limits the checked rules to the set; "" for all rules."""
    rules = load_set(name).rules if name else None
    return nullcontext() if rules is None else check_only(rules)
