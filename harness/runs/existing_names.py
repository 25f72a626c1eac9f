"""Collect the names of existing scenarios and clients, without loading what they name."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from harness.normalizers.registry import installed_names
from harness.project import project
from harness.results.kill_table import stored_rows
from harness.runs.plan import subject_id
from harness.runs.selection import select_subjects
from harness.verdicts.expectations import ExistingNames


def existing_names(paths: Iterable[Path] = ()) -> ExistingNames:
    """Return the names of subjects and clients that exist, although a run may not select them.

    These are bundled, installed or listed by the project, or in those of `paths` that exist.
    Entries of `expectations.toml` may refer to them.
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
                *installed_names("normalizer"),
                *installed_names("agent"),
                *(row.mutant for row in stored_rows()),
            )
        ),
    )


@cache
def _bundled_ids() -> frozenset[str]:
    return _ids([])


def _ids(paths: Sequence[Path]) -> frozenset[str]:
    return frozenset(subject_id(subject) for subject in select_subjects(paths, recordings=True))
