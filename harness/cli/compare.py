"""`harness compare`: what changed between two runs, and whether it is significant."""

from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import format_option
from harness.cli.run_files import find_run, read_finished_run
from harness.reporting.text.compare import comparison_text
from harness.runs.compare import compare

Format = Literal["pretty", "json", "markdown"]


@click.command("compare")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("run", required=False, type=click.Path(path_type=Path))
@format_option("pretty", "json", "markdown")
@click.option("--fail-on-broken", is_flag=True, help="Exit with code 1 if a cell regressed.")
def compare_command(base: Path, run: Path | None, *, style: Format, fail_on_broken: bool) -> int:
    """Print what changed from BASE to RUN.

    Both are run files, or folders with one. Default for RUN: the newest run in reports/.
    """
    found = compare(*(read_finished_run(find_run(path)) for path in (base, run)))
    if style == "json":
        click.echo(msgspec.json.encode(found).decode())
    else:
        click.echo(comparison_text(found, style), nl=False)
    return EXIT_GATE_FAILED if fail_on_broken and found.counts["broken"] else 0
