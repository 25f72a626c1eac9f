"""`harness report`: write a self-contained HTML page of a run, and machine-readable files.

If the run was killed or interrupted, the report gives that as the first reason of its verdict.
"""

import webbrowser
from datetime import date
from pathlib import Path

import click

from harness.cli.gate import project_policy
from harness.cli.options import open_option, output_option, today_option
from harness.cli.run_files import (
    changes_of,
    claim,
    context_of,
    find_run,
    incomplete_reason,
    page_name,
    run_labels,
    write_text,
)
from harness.reporting.page import render_page
from harness.reporting.report import NamedRun
from harness.reporting.site import site_files
from harness.reporting.text.files import KINDS, files
from harness.reporting.visible import marked
from harness.results.store import read_run
from harness.verdicts.database import Questions
from harness.verdicts.gate import summarize

_PAGE = "html"
# The pages for coding agents are many files, so they are not written by default.
_DEFAULT_KINDS = (_PAGE, *(kind for kind in KINDS if kind != "agent"))


@click.command("report")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@output_option(
    "Folder, or a file name ending in .html for only the page. Default: the folder of RUN.",
    default=None,
    is_folder=False,
)
@click.option(
    "--format",
    "kinds",
    type=click.Choice([_PAGE, *KINDS]),
    multiple=True,
    help=f"What to write. Repeatable. Default: {', '.join(_DEFAULT_KINDS)}.",
)
@click.option(
    "--base",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Run to compare with: a run file, or a branch or commit of a run in reports/runs/. "
    "Default: the run before.",
)
@click.option(
    "--site",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a static site of all RUNs to this folder instead: rankings by dialect, a page and "
    "badges for each client, and a feed of changed verdicts.",
)
@open_option
@today_option
def report_command(  # noqa: PLR0913 - one parameter for each option
    runs: tuple[Path, ...],
    *,
    output: Path | None,
    kinds: tuple[str, ...],
    base: Path | None,
    site: Path | None,
    open_page: bool,
    today: date,
) -> None:
    """Write the HTML report of RUN.

    Default: the newest run in reports/. If you pass several RUNs, the oldest first, the report is
    of the last one and has trends over all of them. Otherwise the trends are over the runs that
    `harness run` kept in reports/runs/. The page is one file: it opens from disk, needs no network
    and is readable without script. The command also writes summary.md, junit.xml,
    results.csv, turns.csv, rankings.csv, badge.json and summary.json.
    """
    *history, path = map(find_run, runs or (None,))
    if site is not None:
        _write_site(site, [*history, path])
        return
    run = read_run(path)
    problem = incomplete_reason(run)
    if problem:
        click.echo(f"{marked(str(path))}: {problem}", err=True)
    alone = output is not None and output.suffix == ".html"
    folder = path.parent if output is None else output.parent if alone else output
    at = output if output is not None and alone else folder / page_name(run.header.selection)
    selected = (_PAGE,) if alone else kinds or _DEFAULT_KINDS
    policy = project_policy(today, tuple(map(Path, run.header.selection.paths)))
    with Questions(run) as questions:
        summary = summarize(run, policy, questions)
        context = context_of(path, run, base, history)
        changed = changes_of(context, run, base)
        chosen = [kind for kind in KINDS if kind in selected]
        texts = {
            name: text
            for kind in chosen
            for name, text in files(run, summary, kind, changed).items()
        }
        if not alone:
            claim(folder, *([at.name] if _PAGE in selected else []), *texts)
        if _PAGE in selected:
            write_text(at, render_page(run, context, summary.gate, questions))
            click.echo(str(at))
    for name, text in texts.items():
        write_text(folder / name, text)
        click.echo(str(folder / name))
    if open_page:
        webbrowser.open(at.resolve().as_uri())


def _write_site(folder: Path, paths: list[Path]) -> None:
    """Write the static site of the runs at `paths`, the oldest first."""
    labels = run_labels(paths)
    runs = [NamedRun(label, read_run(path)) for label, path in zip(labels, paths, strict=True)]
    texts = site_files(runs)
    claim(folder, *texts)
    for name, text in texts.items():
        write_text(folder / name, text)
    click.echo(str(folder / "index.html"))
