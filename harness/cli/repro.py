"""`harness repro`: scripts that show failures of a library to its maintainers."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import safe_name
from harness.cli.replay import LAST_RUN, find_cell
from harness.cli.run_files import bundled_context, write_text
from harness.errors import UsageError
from harness.judging.case import expected_turn
from harness.judging.judge import judge_subject
from harness.judging.results import Result
from harness.normalizers.discovery import load_normalizer
from harness.reporting.report import ReportContext
from harness.reporting.text.repro import repro_script, reproducible_clients
from harness.reporting.visible import marked, plain
from harness.runs.store import read_run
from harness.runs.worker import load_subject

_CHECK_SECONDS: Final = 60.0


@click.command("repro")
@click.argument("cell", required=False)
@click.option(
    "--in",
    "places",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File or folder of the scenario or cassette. Repeatable. Default: the paths of the last "
    "run in reports/, and the bundled files.",
)
@click.option(
    "--all",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one script for each cause of failure of the last run in reports/ to this folder.",
)
@click.option("--check", is_flag=True, help="Run the scripts of --all with this Python.")
def repro_command(
    cell: str | None, *, places: tuple[Path, ...], folder: Path | None, check: bool
) -> int:
    """Print a script that shows the failure of CELL without this package.

    The script contains the bytes, the library's own calls, the expected result and the rule with
    its source. It exits with 1 as long as the library fails. With --check, the command exits with
    1 if a script does not.
    """
    if (cell is None) == (folder is None):
        raise UsageError("expected either CELL or --all, found both or neither")
    context = bundled_context()
    if folder is None:
        click.echo(_script(str(cell), places, context), nl=False)
        return 0
    written = 0
    as_expected = True
    for result in _one_for_each_cause(read_run(LAST_RUN).results):
        try:
            script = _script(result.cell, places, context)
        except UsageError as error:
            click.echo(f"no script: {marked(result.cell)}: {plain(error.what)}", err=True)
            continue
        path = folder / f"{safe_name(f'{result.normalizer}-{result.cause}')}.py"
        write_text(path, script)
        written += 1
        failed = _fails(path) if check else None
        as_expected = as_expected and failed is not False
        status = {True: "fails   ", False: "PASSES  ", None: ""}[failed]
        click.echo(f"{status}{path}  {plain(result.title)}")
    click.echo(f"{written} scripts", err=True)
    return 0 if as_expected else EXIT_GATE_FAILED


def _one_for_each_cause(results: tuple[Result, ...]) -> Iterator[Result]:
    """Yield the first failing cell of each client and cause, if there can be a script for it."""
    clients = reproducible_clients()
    seen: set[tuple[str, str]] = set()
    for result in results:
        key = (result.normalizer, result.cause)
        if result.outcome.fails and result.normalizer in clients and key not in seen:
            seen.add(key)
            yield result


def _script(cell: str, places: tuple[Path, ...], context: ReportContext) -> str:
    subject, name = find_cell(cell, places)
    loaded = load_subject(subject)
    result, case = judge_subject(loaded, load_normalizer(name))
    if case is None:
        raise UsageError(f"the cell does not fail: {result.outcome.value}", where=cell)
    interaction = loaded.cassette.interactions[result.interaction]
    expected = expected_turn(loaded.expectations[result.interaction])
    return repro_script(result, interaction, result.chunking, expected, context.quirks)


def _fails(script: Path) -> bool:
    """Run a script, and return whether it exits with 1 and not by another error."""
    command = [sys.executable, "-I", str(script)]
    try:
        done = subprocess.run(  # noqa: S603 - a script that this command wrote
            command, capture_output=True, text=True, timeout=_CHECK_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return True  # a hang is a failure of the library
    return done.returncode == 1 and "WRONG" in done.stdout
