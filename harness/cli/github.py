"""What GitHub Actions shows of a run: a step summary and annotations, where it asks for them."""

import os
from pathlib import Path

import click

from harness.reporting.annotations import annotations
from harness.reporting.summary_markdown import summary_markdown
from harness.runs.run import Run
from harness.runs.summary import Summary


def tell_github(run: Run, summary: Summary) -> None:
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
