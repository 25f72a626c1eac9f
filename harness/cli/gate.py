"""`harness gate`: a run that is there already, held against the rules of the project."""

from datetime import date
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli.github import tell_github
from harness.cli.holding import (
    EXITS,
    accept_option,
    keep_baseline,
    policy_here,
    tell_gate,
    today_option,
)
from harness.cli.page_file import chosen_run
from harness.runs.store import read_run
from harness.runs.summary import summarize


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
    found = read_run(chosen_run(run))
    selected = tuple(map(Path, found.header.selection.paths))
    policy = policy_here(today, selected, accept_new=accept_new)
    summary = summarize(found, policy)
    keep_baseline(found, summary.gate, policy)
    if style == "json":
        click.echo(msgspec.json.encode(summary.gate).decode())
    else:
        tell_gate(summary.gate)
    tell_github(found, summary)
    return EXITS[summary.gate.verdict]
