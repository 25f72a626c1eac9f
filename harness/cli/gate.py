"""`harness gate`: a run that is there already, held against the rules of the project."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.cli.run_files import find_run
from harness.project import project
from harness.reporting.failures import Failure, headline, is_must, list_failures
from harness.reporting.text.summary import summary_markdown
from harness.reporting.visible import marked, plain
from harness.runs.baseline import BaselineUpdate, write_baseline
from harness.runs.gate import Gate, Verdict, next_baseline
from harness.runs.policy import GatePolicy, baseline_path, policy_of
from harness.runs.run import Run, pluralize
from harness.runs.store import read_run
from harness.runs.summary import Summary, summarize

EXIT_CODES: dict[Verdict, int] = {
    "pass": 0,
    "fail": EXIT_GATE_FAILED,
    "inconclusive": EXIT_GATE_FAILED,
    "nothing": EXIT_NOTHING_SELECTED,
}
_SHOWN = 20

_Command = Callable[..., Any]


def today_option(command: _Command) -> _Command:
    """Add `--today`, which an expiry date is held against."""
    option = click.option(
        "--today",
        type=click.DateTime(["%Y-%m-%d"]),
        default=None,
        callback=lambda _context, _option, value: _today_or(value),
        help="Hold expiry dates against this day. Default: today, UTC.",
    )
    return option(command)


def accept_option(command: _Command) -> _Command:
    """Add `--accept-new`."""
    option = click.option(
        "--accept-new", is_flag=True, help="Take new failures into the baseline of the project."
    )
    return option(command)


def _today_or(said: datetime | None) -> date:
    return (said or datetime.now(UTC)).date()


def project_policy(
    today: date, paths: tuple[Path, ...] = (), *, accept_new: bool = False
) -> GatePolicy:
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


def print_gate(gate: Gate) -> None:
    """Print the verdict and its reasons to standard error."""
    for reason in gate.reasons:
        click.echo(f"gate {gate.verdict}: {marked(reason)}", err=True)


def save_baseline(run: Run, gate: Gate, policy: GatePolicy) -> None:
    """Write the baseline again where the run moved it, and say what moved."""
    path, following = baseline_path(project()), next_baseline(run, policy)
    if path is None or following is None or gate.baseline is None:
        return
    if gate.baseline.moved or (policy.accept_new and not path.exists()):
        write_baseline(following, path)
        _print_baseline_changes(gate.baseline, path)


def _print_baseline_changes(moved: BaselineUpdate, path: Path) -> None:
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


# GitHub shows ten errors of a step; the tenth says how many there are.
MAX_ANNOTATIONS = 9

_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_TITLE = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def annotations(run: Run, gate: Gate) -> Iterator[str]:
    """Yield the commands; none where the gate passes."""
    if gate.verdict == "pass":
        return
    failed = [
        each
        for each in list_failures(run, gate)
        if is_must(each.signature) and each.excused < each.signature.count
    ]
    told = [*map(_failure_annotation, failed)] or [
        _error_command("gate", reason) for reason in gate.reasons
    ]
    yield from told[:MAX_ANNOTATIONS]
    if len(told) > MAX_ANNOTATIONS:
        yield _error_command(
            "harness", f"{len(told) - MAX_ANNOTATIONS} more kinds of failure: see the report"
        )


def _failure_annotation(each: Failure) -> str:
    found = each.example
    differs = f"\nexpected {plain(found.expected)}, actual {plain(found.actual)}" if found else ""
    text = f"{pluralize(each.signature.count, 'cell')}, such as {marked(each.cell)}{differs}"
    return _error_command(headline(each.signature), f"{text}\n{marked(each.command)}")


def _error_command(title: str, text: str) -> str:
    return f"::error title={_escaped(plain(title), _IN_TITLE)}::{_escaped(text, _IN_TEXT)}"


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(char, char) for char in text)


def report_to_github(run: Run, summary: Summary) -> None:
    """Append to the step summary that GITHUB_STEP_SUMMARY names; annotate under GITHUB_ACTIONS.

    Annotations go to standard error: standard output holds results.
    """
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        _append(Path(place), summary_markdown(run, summary))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotations(run, summary.gate):
            click.echo(line, err=True)


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:  # a summary that cannot be shown is no reason to fail a gate
        click.echo(f"no step summary: {error.strerror}", err=True)


@click.command("gate")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@accept_option
@today_option
@click.option("--format", "style", type=click.Choice(["pretty", "json"]), default="pretty")
def gate_command(
    run: Path | None, *, accept_new: bool, today: date, style: Literal["pretty", "json"]
) -> int:
    """Judge RUN, by default the newest in reports/, by the rules of the project again.

    Leaves with 0 where the gate passes, with 1 where it fails or is inconclusive.
    """
    found = read_run(find_run(run))
    selected = tuple(map(Path, found.header.selection.paths))
    policy = project_policy(today, selected, accept_new=accept_new)
    summary = summarize(found, policy)
    save_baseline(found, summary.gate, policy)
    if style == "json":
        click.echo(msgspec.json.encode(summary.gate).decode())
    else:
        print_gate(summary.gate)
    report_to_github(found, summary)
    return EXIT_CODES[summary.gate.verdict]
