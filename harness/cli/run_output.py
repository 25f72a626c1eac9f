"""Print what `harness run` found: results to standard output, the verdict to standard error."""

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Final, Literal

import click
import msgspec
from msgspec.structs import replace

from harness.cli import print_error
from harness.cli.gate import print_gate
from harness.reporting.failures import list_failures
from harness.reporting.text.terminal import tables
from harness.reporting.text.verdict import verdict_text
from harness.reporting.visible import marked, plain
from harness.results.catalogue import load_catalogue
from harness.results.run import Run
from harness.runs.execute import STOPPED, Progress
from harness.shipped import bundled_folder
from harness.verdicts.gate import Summary, with_cells
from harness.wording import pluralize

_MOST_SHOWN: Final = 20

Format = Literal["pretty", "json", "jsonl", "markdown"]


def print_run(run: Run, summary: Summary, style: Format, *, ranked: bool) -> None:
    """Print the results of `run` to standard output, with rankings if `ranked`."""
    if style == "json":
        click.echo(msgspec.json.encode(with_cells(summary, run)).decode())
    elif style == "jsonl":
        for result in run.results:
            click.echo(msgspec.json.encode(result).decode())
    elif style == "markdown":
        click.echo(tables(summary, style))
    else:
        if ranked:
            click.echo(tables(replace(summary, causes=()), style))
        failures = list_failures(run, summary.gate)
        catalogue = load_catalogue(bundled_folder("catalogue") / "quirks")
        click.echo(verdict_text(run, summary, failures, catalogue), nl=False)


def print_status(run: Run, summary: Summary, page: Path | None, changed: str) -> None:
    """Print the verdict, what was not judged, and what changed, to standard error."""
    print_gate(summary.gate)
    if (footer := run.footer) is not None and footer.interrupted:
        total = footer.results + footer.not_run
        click.echo(f"interrupted: {footer.results} of {total} cells are in the run", err=True)
    turns = (turn for result in run.results for turn in result.turns if turn.unchecked)
    for why, count in Counter(turn.unchecked for turn in turns).most_common(_MOST_SHOWN):
        click.echo(f"{marked(why)} ({pluralize(count, 'turn')})", err=True)
    reasons = Counter(each.unsupported for each in run.results if each.unsupported)
    for reason, count in reasons.most_common(_MOST_SHOWN):
        click.echo(f"not judged: {pluralize(count, 'cell')}: {plain(str(reason))}", err=True)
    if changed:
        click.echo(f"changes: {marked(changed)}", err=True)
    if page is not None:
        click.echo(f"report: {shlex.quote(str(page))}", err=True)
    sys.stderr.flush()


def print_problems(done: Progress) -> None:
    """Print the files that cannot be used, and the clients whose run stopped."""
    for each in done.unreadable:
        print_error(each.error)
    for name in done.stopped:
        click.echo(f"stopped: {marked(name)}: {STOPPED}", err=True)
