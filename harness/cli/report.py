"""`harness report`: a run file -> one self-contained HTML page.

Refuses what is no finished run: a report of half a run would read like one of a whole run.
"""

from pathlib import Path

import click

from harness.errors import UnreadableError, UsageError
from harness.reporting.page import page
from harness.runs.run import Run
from harness.runs.store import read_run

DEFAULT_RUNS = Path("reports")


@click.command("report")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Where to write the page. Default: index.html beside the run.",
)
def report_command(runs: tuple[Path, ...], output: Path | None) -> None:
    """Write the HTML report of RUN, by default of the newest run in reports/.

    The page is one file: it opens from disk, asks no network and reads without script.
    """
    path = _one(runs)
    output = output or path.parent / "index.html"
    write_page(finished(read_run(path), path), output)
    click.echo(str(output))


def finished(run: Run, path: Path) -> Run:
    """Return `run` if it has a footer.

    Raises:
        UnreadableError: its process was killed before the run was finished.
    """
    if run.footer is None:
        raise UnreadableError(
            f"not a finished run: {len(run.results)} results and no footer",
            where=str(path),
            hint="Run it again with `harness run`; its process was killed or still runs.",
        )
    return run


def write_page(run: Run, output: Path) -> None:
    """Write the report of `run` to `output`; its folder is made where it is missing.

    Raises:
        UsageError: nothing can be written there.
    """
    text = page(run)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"cannot write the report: {error.strerror}",
            where=str(output),
            hint="Choose another place with -o.",
        ) from error


def _one(runs: tuple[Path, ...]) -> Path:
    if len(runs) > 1:
        raise UsageError(
            f"one RUN is shown at a time in this edition, found {len(runs)}",
            where="RUN",
            hint="Name one run; comparing several comes with a later edition.",
        )
    place = runs[0] if runs else DEFAULT_RUNS
    return _newest(place) if place.is_dir() or not runs else place


def _newest(folder: Path) -> Path:
    """Return the run in `folder` that was written last; of equal times the last name."""
    found = sorted(folder.glob("*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    if not found:
        raise UnreadableError(
            "no run here: expected a *.jsonl file",
            where=str(folder),
            hint="Make one with `harness run`, or name a run file.",
        )
    return found[-1]
