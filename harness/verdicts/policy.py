"""The policy of the gate: rules, accepted failures, the baseline, and the current date.

Without any of them, a run passes if every supported cell conforms.
"""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec

from harness.project import GateRule, Project, project
from harness.shipped import BUNDLED
from harness.verdicts.baseline import Baseline, read_baseline
from harness.verdicts.expectations import (
    AcceptedFailure,
    ExistingNames,
    read_expectations,
)

EXPECTATIONS = "expectations.toml"
BASELINE = "harness-baseline.json"


class GatePolicy(msgspec.Struct, frozen=True):
    """What the gate applies to a run.

    Fields:
        rules: a rule on `conformance` replaces the default, that every cell conforms.
        today: the date for entries that expire.
        baseline: None if the project has none.
        accept_new: whether the baseline accepts new failures.
        known: the names that exist in addition to those of the run.
    """

    rules: tuple[GateRule, ...] = ()
    expectations: tuple[AcceptedFailure, ...] = ()
    today: date = date.min
    baseline: Baseline | None = None
    accept_new: bool = False
    known: ExistingNames = ExistingNames()


def policy_of(
    found: Project,
    today: date,
    *,
    known: Callable[[], ExistingNames] = ExistingNames,
    accept_new: bool = False,
) -> GatePolicy:
    """Read the policy of a project.

    Args:
        found: the project.
        today: the date for entries that expire.
        known: returns the names that exist in addition to those of the run. It is called if the
            project accepts failures.
        accept_new: whether the baseline accepts new failures.

    Raises:
        UnreadableError: a file that it names is missing or cannot be used.
    """
    entries = expectations_of(found)
    path = baseline_path(found, may_be_new=accept_new)
    baseline = read_baseline(path, may_be_missing=accept_new) if path else None
    return GatePolicy(
        rules=found.table.gate,
        expectations=entries,
        today=today,
        baseline=baseline,
        accept_new=accept_new,
        known=known() if entries or baseline else ExistingNames(),
    )


def expectations_of(found: Project) -> tuple[AcceptedFailure, ...]:
    """Return the entries of the file that a project names, or that is next to it.

    Raises:
        UnreadableError: a file that it names is missing, or cannot be used.
    """
    named = found.table.expectations
    path = found.root / (named or EXPECTATIONS)
    return read_expectations(path) if named or path.is_file() else ()


def project_paths() -> tuple[Path, ...]:
    """Return the default paths of the project, relative to the current folder.

    If it has none, the bundled files are the default.
    """
    found = project()
    return tuple(
        Path(path if path == BUNDLED else os.path.relpath(found.root / path))
        for path in found.table.paths
    )


def baseline_path(found: Project, *, may_be_new: bool = False) -> Path | None:
    """Return the path of the baseline of a project; None if it has none.

    Args:
        found: the project.
        may_be_new: whether the default file counts if it does not exist.
    """
    path = found.root / (found.table.baseline or BASELINE)
    return path if found.table.baseline or may_be_new or path.is_file() else None
