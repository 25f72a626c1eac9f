"""`harness compare`: show what changed between two runs, and whether it is significant."""

from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import format_option
from harness.cli.run_files import (
    find_base,
    find_run,
    previous_run,
    read_finished_run,
    require_finished_start,
    run_label,
)
from harness.reporting.text.compare import comparison_text
from harness.reporting.visible import marked
from harness.verdicts.compare import compare

Format = Literal["pretty", "json", "markdown"]


@click.command("compare")
@click.argument("base", required=False, type=click.Path(path_type=Path))
@click.argument("run", required=False, type=click.Path(path_type=Path))
@format_option("pretty", "json", "markdown")
@click.option(
    "--fail-on-broken",
    is_flag=True,
    help="Exit with code 1 if a cell of BASE fails now, is not judged or is missing.",
)
def compare_command(
    base: Path | None, run: Path | None, *, style: Format, fail_on_broken: bool
) -> int:
    """Print what changed from BASE to RUN.

    Both are run files, or folders with one. Default for RUN: the newest run in reports/. BASE may
    also be a branch or a commit of a run in reports/runs/. Default: the run before RUN.
    """
    after = find_run(run)
    before = find_base(base, after.parent) if base else previous_run(after)
    require_finished_start(after)
    found = compare(read_finished_run(before), read_finished_run(after))
    names = run_label(before), run_label(after)
    if style == "json":
        click.echo(f"from {marked(names[0])} to {marked(names[1])}", err=True)
        click.echo(msgspec.json.encode(found).decode())
    else:
        click.echo(comparison_text(found, names, style), nl=False)
    return EXIT_GATE_FAILED if fail_on_broken and found.is_worse else 0
