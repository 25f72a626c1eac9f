"""What `run`, `gate` and `report` share: the project's policy, the clock, the verdict as told.

Here, and nowhere below, somebody asks what day it is.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click

from harness.cli.exits import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.project import project
from harness.reporting.visible import marked
from harness.runs.baseline import Ratchet, write_baseline
from harness.runs.gate import Gate, Verdict, next_baseline
from harness.runs.policy import Policy, baseline_path, policy_of
from harness.runs.run import Run

EXITS: dict[Verdict, int] = {
    "pass": 0,
    "fail": EXIT_GATE_FAILED,
    "inconclusive": EXIT_GATE_FAILED,
    "nothing": EXIT_NOTHING_SELECTED,
}
_SHOWN = 20

Command = Callable[..., Any]


def today_option(command: Command) -> Command:
    """Add `--today`, which an expiry date is held against."""
    option = click.option(
        "--today",
        type=click.DateTime(["%Y-%m-%d"]),
        default=None,
        callback=lambda _context, _option, value: _day(value),
        help="Hold expiry dates against this day. Default: today, UTC.",
    )
    return option(command)


def accept_option(command: Command) -> Command:
    """Add `--accept-new`."""
    option = click.option(
        "--accept-new", is_flag=True, help="Take new failures into the baseline of the project."
    )
    return option(command)


def _day(said: datetime | None) -> date:
    return (said or datetime.now(UTC)).date()


def policy_here(today: date, paths: tuple[Path, ...] = (), *, accept_new: bool = False) -> Policy:
    """Return what the project of the working folder holds a run against.

    Raises:
        UsageError: there is no baseline to take anything into.
        UnreadableError: a file that the project names cannot be used.
    """
    found = project()
    if accept_new and not found.table.baseline:
        raise click.UsageError(
            "--accept-new needs a baseline: name its file in pyproject.toml, "
            'as in [tool.harness] baseline = "harness-baseline.json"'
        )
    return policy_of(found, today, paths=paths, accept_new=accept_new)


def tell_gate(gate: Gate) -> None:
    """Print the verdict and its reasons to standard error."""
    for reason in gate.reasons:
        click.echo(f"gate {gate.verdict}: {marked(reason)}", err=True)


def keep_baseline(run: Run, gate: Gate, policy: Policy) -> None:
    """Write the baseline again where the run moved it, and say what moved."""
    path, following = baseline_path(project()), next_baseline(run, policy)
    if path is None or following is None or gate.baseline is None:
        return
    if gate.baseline.moved or (policy.accept_new and not path.exists()):
        write_baseline(following, path)
        _tell_moved(gate.baseline, path)


def _tell_moved(moved: Ratchet, path: Path) -> None:
    changes = (
        ("fixed, removed", moved.fixed),
        ("better, lowered", moved.better),
        ("gone, removed", moved.gone),
        ("accepted", moved.added),
    )
    for what, cells in changes:
        for cell in cells[:_SHOWN]:
            click.echo(f"baseline: {what}: {marked(cell)}", err=True)
        if len(cells) > _SHOWN:
            click.echo(f"baseline: {what}: {len(cells) - _SHOWN} more", err=True)
    click.echo(f"baseline: wrote {marked(str(path))}; commit it", err=True)
