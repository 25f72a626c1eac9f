"""Read the policy of a project's gate: rules, accepted failures, baseline and date.

Without a policy, a run passes if every supported cell conforms.
"""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec

from harness.project import GateRule, Project, project
from harness.results.result import Result
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
    """What the gate of a project checks in a run.

    Fields:
        rules: the gate rules. A rule on `conformance` replaces, for its cells, the check that every
            cell conforms.
        expectations: the entries of `expectations.toml`.
        today: the date for entries that expire.
        baseline: the baseline; None if the project has none.
        accept_new: whether to add new failures to the baseline.
        known: the names that exist in addition to those of the run.
        own: the clients that the project declares, each of which must be judged.
        select: the filters of the project; a run with others need not judge all of these clients.
    """

    rules: tuple[GateRule, ...] = ()
    expectations: tuple[AcceptedFailure, ...] = ()
    today: date = date.min
    baseline: Baseline | None = None
    accept_new: bool = False
    known: ExistingNames = ExistingNames()
    own: tuple[str, ...] = ()
    select: str = ""

    def accepts(self, result: Result) -> bool:
        """Return whether the cell of `result` is one that may fail, before the gate decides."""
        names = (each.names(result.scenario, result.normalizer) for each in self.expectations)
        return any(names) or (self.baseline is not None and result.cell in self.baseline.cells)


def policy_of(
    found: Project,
    today: date,
    *,
    known: Callable[[], ExistingNames] = ExistingNames,
    accept_new: bool = False,
) -> GatePolicy:
    """Read the gate policy of a project from its files.

    Args:
        found: the project.
        today: the date for entries that expire.
        known: a function that returns the names that exist in addition to those of the run. It
            is called only if the project accepts failures.
        accept_new: whether to add new failures to the baseline.

    Raises:
        UnreadableError: a file that the project names is missing or cannot be used.
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
        select=found.table.select,
        own=(*found.table.normalizers, *found.table.agents),
    )


def expectations_of(found: Project) -> tuple[AcceptedFailure, ...]:
    """Return the accepted failures of a project, from the file that it names or the default file.

    The result is () if the project names no file and has no `expectations.toml`.

    Raises:
        UnreadableError: the named file is missing, or the file cannot be used.
    """
    named = found.table.expectations
    path = found.root / (named or EXPECTATIONS)
    return read_expectations(path) if named or path.is_file() else ()


def project_paths() -> tuple[Path, ...]:
    """Return the paths that the project lists, relative to the current folder.

    The result is () if it lists none. Then the bundled files are the default.
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
        may_be_new: whether to return the default path even if no such file exists.
    """
    path = found.root / (found.table.baseline or BASELINE)
    return path if found.table.baseline or may_be_new or path.is_file() else None
