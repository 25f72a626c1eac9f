"""`harness measure`: rates of the turns in logs of any size."""

import os
from pathlib import Path

import click

from harness.cli.options import echo_result, format_option, output_option
from harness.measuring.engine import LOCAL, executors, measure_parts
from harness.measuring.rates import measured
from harness.measuring.sources import parts_of


@click.command("measure")
@click.argument("places", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--on", default=LOCAL, show_default=True, metavar="WHERE")
@click.option("-j", "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1)
@output_option("Folder of the rows.", default="reports/measure")
@format_option("pretty", "json")
def measure_command(places: tuple[str, ...], *, on: str, jobs: int, output: Path, style: str) -> int:
    """Measure."""
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("turns-*.parquet"):
        old.unlink()
    with executors(on, jobs) as (start, at_once):
        for count in measure_parts(parts_of(places), {}, output.resolve(), start, at_once):
            click.echo(str(count), err=True)
    found = measured(output)
    echo_result(style, found, [str(found)])
    return 0
