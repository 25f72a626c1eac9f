"""`harness report`: run files -> one self-contained HTML page, and the same for machines.

Refuses what is no finished run: a report of half a run would read like one of a whole run.
"""

import webbrowser
from datetime import date
from pathlib import Path

import click

from harness.cli.gate import project_policy, today_option
from harness.cli.run_files import context_of, find_run, read_finished_run, write_page, write_text
from harness.reporting.text.files import KINDS, files
from harness.runs.summary import summarize

_PAGE = "html"
# The pages for coding agents are many; whoever wants them says so.
_USUAL = (_PAGE, *(kind for kind in KINDS if kind != "agent"))


@click.command("report")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=None,
    help="A folder, or a file that ends in .html for the page alone. Default: beside the run.",
)
@click.option(
    "--format",
    "kinds",
    type=click.Choice([_PAGE, *KINDS]),
    multiple=True,
    help=f"What to write; repeatable. Default: {', '.join(_USUAL)}.",
)
@click.option(
    "--base",
    type=click.Path(path_type=Path),
    default=None,
    metavar="RUN",
    help="A run to compare with: what broke, what was fixed.",
)
@click.option("--open", "look", is_flag=True, help="Open the page in a browser.")
@today_option
def report_command(  # noqa: PLR0913 - one parameter for each option
    runs: tuple[Path, ...],
    *,
    output: Path | None,
    kinds: tuple[str, ...],
    base: Path | None,
    look: bool,
    today: date,
) -> None:
    """Write the HTML report of RUN, by default of the newest run in reports/.

    Of several RUNs, the oldest first, the last is shown, with its trends over all of them. The
    page is one file: it opens from disk, asks no network and reads without script. Beside it lie
    summary.md, junit.xml, results.csv, turns.csv, badge.json and summary.json.
    """
    *history, path = map(find_run, runs or (None,))
    run = read_finished_run(path)
    alone = output is not None and output.suffix == ".html"
    folder = path.parent if output is None else output.parent if alone else output
    at = output if output is not None and alone else folder / "index.html"
    wanted = (_PAGE,) if alone else kinds or _USUAL
    policy = project_policy(today, tuple(map(Path, run.header.selection.paths)))
    summary = summarize(run, policy)
    if _PAGE in wanted:
        beside = context_of(path, find_run(base) if base else None, history)
        write_page(run, at, summary.gate, beside)
        click.echo(str(at))
    for kind in KINDS:
        if kind in wanted:
            for name, text in files(run, summary, kind).items():
                write_text(folder / name, text)
                click.echo(str(folder / name))
    if look:
        webbrowser.open(at.resolve().as_uri())
