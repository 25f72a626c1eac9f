"""`harness view`: serve the HTML report of a run on this machine, even before the run ends."""

import webbrowser
from pathlib import Path

import click
import msgspec

from harness.cli.live_server import Live, LiveServer
from harness.cli.options import open_option, port_option, wait_for_interrupt
from harness.cli.run_files import DEFAULT_RUNS, context_of
from harness.reporting.page import render_page
from harness.reporting.report import ReportContext
from harness.results.run import Run


@click.command("view")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@port_option
@open_option
def view_command(run: Path | None, *, port: int, open_page: bool) -> None:
    """Serve the report of RUN on 127.0.0.1 until interrupted.

    Default: the run in reports/. The page reloads while the run is in progress, and compares it
    with the runs before it, as the report does. The command prints the address of the page as the
    first line of standard output.
    """
    path = run or DEFAULT_RUNS
    if run is None or path.is_dir():
        path /= "run.jsonl"
    live = Live(path, lambda found: render_page(found, _live_context(path, found)))
    live.newest()  # so that the terminal shows an error, not the browser
    with LiveServer(live, port) as server:
        if open_page:
            webbrowser.open(server.address)
        wait_for_interrupt(server.address, server.limit_note)


def _live_context(path: Path, run: Run) -> ReportContext:
    return msgspec.structs.replace(context_of(path, run), live=True)
