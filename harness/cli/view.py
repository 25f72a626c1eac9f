"""`harness view`: the report of a run, served on this machine, also while it is in progress."""

import webbrowser
from pathlib import Path

import click
import msgspec

from harness.cli.options import open_option, port_option, wait_for_interrupt
from harness.cli.run_files import DEFAULT_RUNS, bundled_context
from harness.reporting.live_server import Live, LiveServer
from harness.reporting.page import render_page


@click.command("view")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@port_option
@open_option
def view_command(run: Path | None, *, port: int, open_page: bool) -> None:
    """Serve the report of RUN on 127.0.0.1 until interrupted.

    Default: the run in reports/. The page reloads while the run is in progress. The command prints
    the address of the page as the first line of standard output.
    """
    path = run or DEFAULT_RUNS
    if run is None or path.is_dir():
        path /= "run.jsonl"
    context = msgspec.structs.replace(bundled_context(), live=True)
    live = Live(path, lambda found: render_page(found, context))
    live.newest()  # so that the terminal shows an error, not the browser
    with LiveServer(live, port) as server:
        if open_page:
            webbrowser.open(server.address)
        wait_for_interrupt(server.address, server.limit_note)
