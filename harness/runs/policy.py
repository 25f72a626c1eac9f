"""What a run is held against: rules, accepted failures, the baseline, and the day it is.

Without any of them a run passes where every supported cell conforms.
"""

from datetime import date
from pathlib import Path

import msgspec

from harness.project import GateRule, Project
from harness.runs.baseline import Baseline, read_baseline
from harness.runs.expectations import Expectation, read_expectations
from harness.runs.known import Known, known

EXPECTATIONS = "expectations.toml"


class Policy(msgspec.Struct, frozen=True):
    """See above.

    Fields:
        rules: a rule on `conformance` replaces the one that every cell conforms.
        today: the day on which expectations must hold.
        baseline: None where the project keeps none.
        accept_new: whether the baseline takes new failures in.
        known: what exists beside the run.
    """

    rules: tuple[GateRule, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    today: date = date.min
    baseline: Baseline | None = None
    accept_new: bool = False
    known: Known = Known()


def policy_of(
    project: Project,
    today: date,
    *,
    paths: tuple[Path, ...] = (),
    accept_new: bool = False,
) -> Policy:
    """Read what `project` names.

    Args:
        project: of the working folder.
        today: the day to hold expectations against.
        paths: what was selected, where it still exists.
        accept_new: whether the baseline is to take new failures in.

    Raises:
        UnreadableError: a file that it names is missing or cannot be used.
    """
    entries = expectations_of(project)
    path = baseline_path(project)
    baseline = read_baseline(path, may_be_missing=accept_new) if path else None
    return Policy(
        rules=project.table.gate,
        expectations=entries,
        today=today,
        baseline=baseline,
        accept_new=accept_new,
        known=known(paths) if entries or baseline else Known(),
    )


def expectations_of(project: Project) -> tuple[Expectation, ...]:
    """Return the entries of the file that `project` names, or that lies beside it.

    Raises:
        UnreadableError: a file that it names is missing, or cannot be used.
    """
    named = project.table.expectations
    path = project.root / (named or EXPECTATIONS)
    return read_expectations(path) if named or path.is_file() else ()


def baseline_path(project: Project) -> Path | None:
    """Return where the baseline of `project` lies; None where it keeps none."""
    return project.root / project.table.baseline if project.table.baseline else None
