"""`harness compare`: what changed from one run to another, and whether it is more than noise."""

from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED
from harness.cli.run_files import find_run, read_finished_run
from harness.reporting.text.compare import comparison_text
from harness.runs.compare import compare
from harness.runs.run import Run

Format = Literal["pretty", "json", "markdown"]


@click.command("compare")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format", "style", type=click.Choice(["pretty", "json", "markdown"]), default="pretty"
)
@click.option("--fail-on-broken", is_flag=True, help="Leave with 1 where a cell broke.")
def compare_command(base: Path, run: Path | None, *, style: Format, fail_on_broken: bool) -> int:
    """Say what changed from BASE to RUN, by default the newest in reports/.

    Both are run files, or folders that hold one.
    """
    found = compare(_read(base), _read(run))
    if style == "json":
        click.echo(msgspec.json.encode(found).decode())
    else:
        click.echo(comparison_text(found, style), nl=False)
    return EXIT_GATE_FAILED if fail_on_broken and found.counts["broken"] else 0


def _read(place: Path | None) -> Run:
    return read_finished_run(find_run(place))
