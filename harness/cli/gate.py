"""`harness gate`: apply the project's gate to a run; `run` and `report` use the same functions."""

import os
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.cli.options import accept_option, format_option, today_option
from harness.cli.run_files import find_run, require_finished_start, run_age
from harness.project import project
from harness.reporting.failures import Failure, list_failures
from harness.reporting.text.summary import summary_markdown
from harness.reporting.visible import marked, plain
from harness.results.run import Run
from harness.results.store import read_run
from harness.runs.existing_names import existing_names
from harness.verdicts.baseline import BaselineUpdate, write_baseline
from harness.verdicts.gate import Gate, Summary, Verdict, next_baseline, summarize
from harness.verdicts.policy import GatePolicy, baseline_path, policy_of
from harness.wording import pluralize

EXIT_CODES: dict[Verdict, int] = {
    "pass": 0,
    "fail": EXIT_GATE_FAILED,
    "inconclusive": EXIT_GATE_FAILED,
    "nothing": EXIT_NOTHING_SELECTED,
}
_SHOWN = 20


def project_policy(
    today: date, paths: tuple[Path, ...] = (), *, accept_new: bool = False
) -> GatePolicy:
    """Return the gate of the project in the working folder: rules, accepted failures, baseline.

    Raises:
        UnreadableError: a file that the project names is unusable.
    """
    return policy_of(project(), today, known=partial(existing_names, paths), accept_new=accept_new)


def print_gate(gate: Gate) -> None:
    """Print the accounting, the verdict and its reasons to standard error."""
    if gate.accounting is not None:
        click.echo(gate.accounting.text, err=True)
    for reason in gate.reasons:
        click.echo(f"gate {gate.verdict}: {marked(reason)}", err=True)
    if gate.remark:
        click.echo(f"not judged: {marked(gate.remark)}", err=True)


def save_baseline(run: Run, gate: Gate, policy: GatePolicy) -> None:
    """Update the baseline file if the run changes it, and print the changes."""
    path = baseline_path(project(), may_be_new=policy.accept_new)
    updated = next_baseline(run, policy)
    if path is None or updated is None or gate.baseline is None:
        return
    if gate.baseline.moved or (policy.accept_new and not path.exists()):
        write_baseline(updated, path)
        _print_baseline_changes(gate.baseline, path)


def _print_baseline_changes(update: BaselineUpdate, path: Path) -> None:
    changes = (
        ("fixed, removed", update.fixed),
        ("better outcome, lowered", update.better),
        ("no longer selected, removed", update.gone),
        ("accepted", update.added),
    )
    for what, cells in changes:
        for cell in cells[:_SHOWN]:
            click.echo(f"baseline: {what}: {marked(cell)}", err=True)
        if len(cells) > _SHOWN:
            click.echo(f"baseline: {what}: {len(cells) - _SHOWN} more", err=True)
    click.echo(f"baseline: wrote {marked(str(path))}. Commit it.", err=True)


# GitHub shows ten errors for each step; the tenth one counts the others.
MAX_ANNOTATIONS = 9

_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_TITLE = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def annotations(run: Run, gate: Gate) -> Iterator[str]:
    """Yield workflow commands that GitHub shows as annotations; none if the gate passes.

    Each annotation is one line: line ends and special characters are escaped.
    """
    if gate.verdict == "pass":
        return
    failed = [
        each
        for each in list_failures(run, gate)
        if each.is_must and each.accepted < each.group.cells
    ]
    found = [*map(_failure_annotation, failed)] or [
        _error_command("gate", reason) for reason in gate.reasons
    ]
    yield from found[:MAX_ANNOTATIONS]
    if len(found) > MAX_ANNOTATIONS:
        yield _error_command(
            "harness", f"{len(found) - MAX_ANNOTATIONS} more causes of failure: see the report"
        )


def _failure_annotation(each: Failure) -> str:
    found = each.example
    differs = f"\nexpected {plain(found.expected)}, actual {plain(found.actual)}" if found else ""
    text = f"{pluralize(each.group.cells, 'cell')}, such as {marked(each.cell)}{differs}"
    return _error_command(each.headline, f"{text}\n{marked(each.command)}")


def _error_command(title: str, text: str) -> str:
    return f"::error title={_escaped(plain(title), _IN_TITLE)}::{_escaped(text, _IN_TEXT)}"


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(char, char) for char in text)


def report_to_github(run: Run, summary: Summary, changed: str = "") -> None:
    """Write what GitHub shows for a run: a summary, and annotations of what failed the gate.

    `changed` says in one line what changed since the last run.

    The summary is appended as Markdown to the file that the variable GITHUB_STEP_SUMMARY names, if
    it is set. Annotations are printed if GITHUB_ACTIONS is "true", to standard error, because
    standard output has the results.
    """
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        _append(Path(place), summary_markdown(run, summary, changed=changed))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotations(run, summary.gate):
            click.echo(line, err=True)


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:  # a missing summary must not fail the gate
        click.echo(f"cannot write the step summary: {error.strerror}", err=True)


@click.command("gate")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@accept_option
@today_option
@format_option("pretty", "json")
def gate_command(
    run: Path | None, *, accept_new: bool, today: date, style: Literal["pretty", "json"]
) -> int:
    """Apply the gate rules of the project to RUN.

    RUN is a run file or a folder with one. Default: the newest run in reports/. The command exits
    with code 0 if the gate passes, and with code 1 if it fails or is inconclusive.
    """
    path = find_run(run)
    require_finished_start(path)
    found = read_run(path)
    click.echo(f"run: {marked(str(path))}, {run_age(path)}", err=True)
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
