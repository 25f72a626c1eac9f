"""Requirement sets: the bundled scenarios, recordings and rules of one release, frozen.

`catalogue/sets/NAME.json` lists their ids. A gate that names a set judges the same cells by the
same rules with each later release, although the suite has grown.
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
from harness.runs.plan import Subject, subject_id
from harness.wording import did_you_mean

_SUFFIX: Final = ".json"


class RequirementSet(File, frozen=True):
    """The content of one file: the ids of scenarios, of recordings with their prefix, of rules."""

    scenarios: frozenset[str]
    recordings: frozenset[str]
    rules: frozenset[str]

    @property
    def subjects(self) -> frozenset[str]:
        """The ids of all that is judged or counted."""
        return self.scenarios | self.recordings


def sets_folder() -> Path:
    """Return the folder of the files."""
    return shipped.bundled_folder("catalogue") / "sets"


def set_names() -> tuple[str, ...]:
    """Return the names of the sets, the oldest first."""
    return tuple(sorted(path.stem for path in sets_folder().glob(f"*{_SUFFIX}")))


@cache
def load_set(name: str) -> RequirementSet:
    """Return the set called `name`.

    Raises:
        UsageError: the set is unknown.
        UnreadableError: its file is damaged.
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


def within_set(subjects: Iterable[Subject], name: str) -> Iterator[Subject]:
    """Yield `subjects` without the bundled ones that the set does not name.

    Args:
        subjects: in their order; files of the user are never left out.
        name: of the set; "" for all subjects.
    """
    named = load_set(name).subjects if name else frozenset()
    for subject in subjects:
        if not name or subject_id(subject) in named or not shipped.is_bundled(subject.path):
            yield subject


def rules_of_set(name: str) -> AbstractContextManager[None]:
    """Return a block in which only the rules of the set are checked; "" for all rules."""
    return check_only(load_set(name).rules) if name else nullcontext()
