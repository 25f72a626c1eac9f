"""`harness run`: replay scenarios through normalizers and agents, rank them, apply the gate."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Collection
from datetime import date
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Literal

import click
import msgspec

from harness import __version__
from harness.cli import EXIT_INTERRUPTED, EXIT_NOTHING_SELECTED, EXIT_USAGE, print_error
from harness.cli.gate import EXIT_CODES, print_gate, project_policy, report_to_github, save_baseline
from harness.cli.history import keep_in_history
from harness.cli.options import (
    accept_option,
    dialect_option,
    format_option,
    jobs_option,
    output_option,
    progress,
    target_options,
    today_option,
)
from harness.cli.run_files import context_of, write_text
from harness.judging.replaying import CUTS, Cuts
from harness.reporting.page import render_page
from harness.reporting.text.terminal import tables
from harness.reporting.visible import marked
from harness.runs.cells import RequestedCells, SelectedClients, requested_cells, selected_clients
from harness.runs.declared import declared_agent, declared_normalizer, third_party_clients
from harness.runs.execute import Progress, execute
from harness.runs.gate import Summary, summarize, with_cells
from harness.runs.plan import Job
from harness.runs.policy import GatePolicy, without_skipped
from harness.runs.questions import Questions
from harness.runs.run import SCHEMA, Header, Run, Selection, facts_of, facts_of_agent, pluralize
from harness.runs.selection import FILTER_KEYS, unrecognized_files
from harness.runs.store import RunWriter, read_run
from harness.runs.worker import crash_result, judge_if_readable

_MIN_PARALLEL_JOBS = 64
_MOST_SHOWN = 20

Format = Literal["pretty", "json", "jsonl", "markdown"]


@click.command("run")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@target_options(has_default=True)
@click.option(
    "--cuts",
    type=click.Choice(CUTS),
    default="standard",
    show_default=True,
    help="Chunkings of each body. whole: unsplit. quick: also as recorded, and each byte. "
    "standard: also at seams, which are split points likely to break a parser. "
    "every: also each single split.",
)
@click.option(
    "--select",
    "words",
    metavar="FILTERS",
    help=f"Select what matches all filters KEY:GLOB, separated by spaces. Keys: "
    f"{', '.join(FILTER_KEYS)}. Default: the filters of the project, if you pass no PATHS.",
)
@dialect_option("Parse every cassette as this dialect and skip detection.")
@jobs_option("chosen by the number of cells")
@output_option("Folder for run.jsonl and index.html.", default="reports")
@click.option("--no-report", is_flag=True, help="Do not write index.html.")
@accept_option
@today_option
@format_option("pretty", "json", "jsonl", "markdown")
def run_command(  # noqa: PLR0913 - one parameter for each option
    paths: tuple[Path, ...],
    *,
    names: tuple[str, ...],
    agents: tuple[str, ...],
    cuts: Cuts,
    words: str | None,
    dialect: str | None,
    jobs: int | None,
    output: Path,
    no_report: bool,
    accept_new: bool,
    today: date,
    style: Format,
) -> int:
    """Replay PATHS through normalizers and agents, write a run and its report, apply the gate.

    PATHS are scenarios, cassettes, logged conversations (JSON Lines) or folders of them. Default:
    the paths of the project, or else the bundled scenarios and recordings. Logs are not replayed:
    they count in the rankings of models only. The exit code is that of `harness gate`, or 2 if a
    file cannot be used; all others are judged.
    """
    chosen = selected_clients(names, agents)
    found = requested_cells(chosen, paths, words, dialect or "")
    _print_left_out(found)
    if not found.jobs:
        click.echo(f"nothing selected: {_empty_reason(found, chosen)}", err=True)
        return EXIT_NOTHING_SELECTED
    policy = project_policy(today, found.paths, accept_new=accept_new)
    planned, skipped = without_skipped(found.jobs, policy)
    named = tuple(path.as_posix() for path in found.paths)
    selection = Selection(named, cuts, dialect or "", skipped, found.words)
    header = _header(selection, chosen, len(found.subjects), planned)
    path, started = output / "run.jsonl", monotonic()
    done = _execute(header, planned, cuts, jobs, path)
    for each in done.unreadable:
        print_error(each.error)
    if not done.done:  # a run file at `path` is from an earlier run
        click.echo(f"no results: 0 of {done.total} cells ran", err=True)
        code = EXIT_INTERRUPTED if done.interrupted else EXIT_NOTHING_SELECTED
    else:
        page, seconds = None if no_report else output / "index.html", monotonic() - started
        code = _finish_run(path, policy, page, style, seconds)
    return EXIT_USAGE if done.unreadable else code


def _print_left_out(found: RequestedCells) -> None:
    """Print the unrecognized files, and why agents cannot replay some recorded conversations."""
    for file in unrecognized_files(found.paths):
        click.echo(f"skipped: {marked(str(file))}: neither a scenario nor a cassette", err=True)
    if found.refused:
        count = sum(found.refused.values())
        what = pluralize(count, "cassette")
        click.echo(f"agents cannot replay {what} of several requests:", err=True)
    for why, count in found.refused.items():
        click.echo(f"{count:>8}  {marked(why)}", err=True)


def _empty_reason(found: RequestedCells, chosen: SelectedClients) -> str:
    recordings = [subject for subject in found.subjects if subject.kind == "cassette"]
    if recordings and not chosen.normalizers:
        return (
            f"no conversation that agents can replay in {pluralize(len(recordings), 'recording')}: "
            "it needs several requests that follow one another.\n"
            "  To judge the turns, add a normalizer, such as -n reference."
        )
    if found.subjects:
        return (
            "no selected scenario is supported by the normalizers and agents given with -n and -a"
        )
    if found.words:
        return f"nothing matches {found.words!r}"
    return "the paths have no scenario, cassette or log"


def _header(
    selection: Selection, chosen: SelectedClients, scenario_count: int, planned: tuple[Job, ...]
) -> Header:
    agents = chosen.agents if any(job.subject.conversation for job in planned) else ()
    options = [option for name in chosen.normalizers for option in ("-n", name)]
    options += [option for name in agents for option in ("-a", name)]
    return Header(
        schema=SCHEMA,
        harness=__version__,
        normalizers=tuple(facts_of(declared_normalizer(name)) for name in chosen.normalizers),
        selection=selection,
        command=(
            *("harness", "run", *selection.paths, *options, "--cuts", selection.cuts),
            *(("--select", selection.select) if selection.select else ()),
            *selection.options,
        ),
        scenario_count=scenario_count,
        agents=tuple(facts_of_agent(declared_agent(name)) for name in agents),
        cell_count=len(planned),
    )


def _execute(
    header: Header, planned: tuple[Job, ...], cuts: Cuts, jobs: int | None, path: Path
) -> Progress:
    others = third_party_clients(planned)
    with RunWriter(path) as writer, progress() as show:
        writer.header(header)
        done = execute(
            planned,
            partial(judge_if_readable, cuts=cuts, lead=header.lead),
            jobs_in_parallel=_processes(planned, jobs, others),
            on_result=writer.add,
            on_progress=show,
            crashed=crash_result,
            apart=lambda job: job.normalizer if job.normalizer in others else "",
        )
        writer.finish(
            interrupted=done.interrupted, not_run=done.not_run, unreadable=done.unreadable
        )
    return done


def _processes(planned: tuple[Job, ...], jobs: int | None, others: Collection[str]) -> int:
    """Return the number of worker processes; 0 if they would cost more time than they save.

    Third-party code never runs in this process, because it may end the process or block it.

    Args:
        planned: all jobs.
        jobs: as the user asked; None for a number that suits.
        others: the third-party clients.
    """
    cores = os.cpu_count() or 1
    few = (jobs or cores) == 1 or (jobs is None and len(planned) < _MIN_PARALLEL_JOBS)
    return 0 if few and not others else jobs or max(2, cores)


def _finish_run(
    path: Path, policy: GatePolicy, page: Path | None, style: Format, seconds: float
) -> int:
    """Judge the run at `path`, write and print its results, and return the exit code."""
    run = read_run(path)
    keep_in_history(run, path, seconds)
    with Questions(run) as questions:
        summary = summarize(run, policy, questions)
        if page is not None:
            write_text(page, render_page(run, context_of(path, run), summary.gate, questions))
    _print(run, summary, style)
    _print_status(run, summary, page)
    save_baseline(run, summary.gate, policy)
    report_to_github(run, summary)
    return EXIT_CODES[summary.gate.verdict] if run.complete else EXIT_INTERRUPTED


def _print(run: Run, summary: Summary, style: Format) -> None:
    if style == "json":
        click.echo(msgspec.json.encode(with_cells(summary, run)).decode())
    elif style == "jsonl":
        for result in run.results:
            click.echo(msgspec.json.encode(result).decode())
    else:
        click.echo(tables(summary, style))


def _print_status(run: Run, summary: Summary, page: Path | None) -> None:
    print_gate(summary.gate)
    if run.footer is not None and run.footer.interrupted:
        done, total = run.footer.results, run.footer.results + run.footer.not_run
        click.echo(f"interrupted: {done} of {total} cells are in the run", err=True)
    unchecked = Counter(
        turn.unchecked for result in run.results for turn in result.turns if turn.unchecked
    )
    for why, count in unchecked.most_common(_MOST_SHOWN):
        click.echo(f"{marked(why)} ({pluralize(count, 'turn')})", err=True)
    if page is not None:
        click.echo(f"report: {shlex.quote(str(page))}", err=True)
    sys.stderr.flush()
