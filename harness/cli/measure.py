"""`harness measure`: calculate rates of the turns in logs of any size."""

import os
import time
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli import EXIT_NOTHING_SELECTED, EXIT_USAGE
from harness.cli.options import format_option, jobs_option, on_option, output_option
from harness.cli.run_files import writing
from harness.errors import UsageError
from harness.files.load import load_yaml_file
from harness.files.typed import convert
from harness.measuring.engine import PartCount, PartWork, measure_parts
from harness.measuring.finished import NewMeasurement
from harness.measuring.rates import Measured, measured
from harness.measuring.rates_text import measured_text
from harness.measuring.records import RECORD_KEYS
from harness.measuring.rows import DEFAULT_FOLDER
from harness.measuring.samples import FOLDER, write_samples
from harness.measuring.sources import Unread, parts_of
from harness.reporting.visible import marked
from harness.runs.declared import declared_normalizer
from harness.runs.engine import open_engine
from harness.wording import pluralize

Format = Literal["pretty", "json", "markdown"]
_SECONDS = 10.0
_MOST_EXAMPLES = 5


@click.command("measure")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "-n",
    "--normalizer",
    "name",
    default="",
    metavar="NAME",
    help="Judge the turns of this normalizer, as `harness run --cuts whole` does: a name or "
    "module:callable. Default: `reference` reads the turns, and is not judged.",
)
@on_option
@jobs_option("one for each core, or all threads of the cluster")
@click.option(
    "--map",
    "mapping",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML file with the columns of your table, such as `body: response.text`.",
)
@click.option("--samples/--no-samples", default=True, help="Write failed turns as cassettes.")
@output_option("Folder of the rows and samples.", default=str(DEFAULT_FOLDER))
@format_option("pretty", "json", "markdown")
def measure_command(  # noqa: PLR0913 - its options
    sources: tuple[str, ...],
    *,
    name: str,
    on: str,
    jobs: int | None,
    mapping: Path | None,
    samples: bool,
    output: Path,
    style: Format,
) -> int:
    """Measure the turns of logs: rates by model, prompt, provider and day, and the blame.

    SOURCE is a file, a folder, an archive or, with fsspec, a URL: JSON Lines or Parquet of bodies,
    results of batches, logs of LiteLLM, spans of OpenTelemetry, exports of Langfuse, cassettes
    and recordings of other tools. Each response is read once, complete.

    The exit code is 2 if something could not be read, and 5 if no turn was measured.
    """
    columns = _columns(mapping)
    if name:
        declared_normalizer(name)
    with writing(output):
        new = NewMeasurement(output, sources)
    seen = _Seen()
    work = PartWork(str(new.rows.resolve()), columns, name)
    clients = (name,) if name else ()
    with open_engine(on, clients, paths=(*sources, str(output))) as engine:
        processes = jobs or engine.threads or os.cpu_count() or 1
        for count in measure_parts(
            parts_of(sources, new.is_output), work, processes, engine.open_pool
        ):
            seen.take(count)
    seen.print()
    if not seen.turns:
        click.echo("no turn was measured", err=True)
        return EXIT_USAGE if seen.damaged else EXIT_NOTHING_SELECTED
    found = measured(new.rows)
    with writing(output):
        new.publish(found)
    if style == "json":
        click.echo(msgspec.json.encode(found).decode())
    else:
        click.echo(measured_text(found, style), nl=False)
    if samples:
        _write_samples(found, output, columns)
    with writing(output):
        new.finish(seen.turns, seen.skipped, seen.damaged)
    return EXIT_USAGE if seen.damaged else 0


class _Seen:
    """Adds up the counts of the measured parts, and sometimes prints the number of turns."""

    def __init__(self) -> None:
        self.turns = self.skipped = self.damaged = 0
        self._examples: list[Unread] = []
        self._told = time.monotonic()

    def take(self, count: PartCount) -> None:
        """Add the count of one part."""
        self.turns += count.turns
        self.skipped += count.skipped
        self.damaged += count.damaged
        if len(self._examples) < _MOST_EXAMPLES:
            self._examples += count.examples
        if time.monotonic() - self._told > _SECONDS:
            self._told = time.monotonic()
            click.echo(f"{self.turns:,} turns so far", err=True)

    def print(self) -> None:
        """Print how many records were not measured, with the first few examples of each reason."""
        for damaged, count in ((True, self.damaged), (False, self.skipped)):
            if count:
                what = "cannot be read" if damaged else "no turn to measure"
                click.echo(f"{pluralize(count, 'record')}, {what}:", err=True)
            for each in [it for it in self._examples if it.damaged is damaged][:_MOST_EXAMPLES]:
                click.echo(f"  {marked(f'{each.file}#{each.position}: {each.why}')}", err=True)


def _write_samples(found: Measured, folder: Path, columns: dict[str, str]) -> None:
    written, refused = write_samples(found.signatures, folder, columns)
    for each in refused:
        click.echo(f"no sample of {marked(each)}", err=True)
    if written:
        click.echo(f"{pluralize(written, 'failed turn')} in {folder / FOLDER}", err=True)


def _columns(path: Path | None) -> dict[str, str]:
    """Return the user's mapping: standard key -> its path in a record of the log."""
    if path is None:
        return {}
    found = convert(load_yaml_file(path), dict[str, str], str(path))
    unknown = sorted(found.keys() - set(RECORD_KEYS))
    if unknown or not found:
        raise UsageError(
            f"unknown key `{unknown[0]}`" if unknown else "no keys",
            where=str(path),
            hint=f"The keys are {', '.join(RECORD_KEYS)}.",
        )
    return found
