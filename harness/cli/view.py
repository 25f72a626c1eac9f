"""`harness view`: the dashboard of a run on this machine, live while the run goes on."""

import signal
import webbrowser
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from harness.cli.run_files import DEFAULT_RUNS, bundled_context
from harness.reporting.live_server import Live, LiveServer
from harness.reporting.page import render_page


@click.command("view")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    help="0 for any that is free.",
)
@click.option("--open", "look", is_flag=True, help="Open the page in a browser.")
def view_command(run: Path | None, *, port: int, look: bool) -> None:
    """Serve the page of RUN, finished or not, on 127.0.0.1 until interrupted.

    By default that is the run in reports/. The page renews itself while the run goes on. The
    first line of standard output is its address.
    """
    place = run or DEFAULT_RUNS
    path = place / "run.jsonl" if place.is_dir() or run is None else place
    beside = msgspec.structs.replace(bundled_context(), live=True)
    live = Live(path, lambda found: render_page(found, beside))
    live.newest()  # what cannot be shown is told here, not in a browser
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with LiveServer(live, port) as server, suppress(KeyboardInterrupt):
        click.echo(server.address)
        if look:
            webbrowser.open(server.address)
        server.serve_forever(0.1)
