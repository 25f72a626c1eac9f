"""`harness run`: replay scenarios through normalizers and agents, rank, report, gate."""

import os
import shlex
import sys
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness import __version__
from harness.cli.dialect_option import dialect_option
from harness.cli.exits import EXIT_INTERRUPTED, EXIT_NOTHING_SELECTED
from harness.cli.github import tell_github
from harness.cli.holding import (
    EXITS,
    accept_option,
    keep_baseline,
    policy_here,
    tell_gate,
    today_option,
)
from harness.cli.page_file import write_page
from harness.cli.progress import progress
from harness.conversation.discovery import load_agent
from harness.judging.chunkings import CUTS, Cuts
from harness.normalizers.discovery import load_normalizer
from harness.project import project
from harness.reporting.terminal import tables
from harness.reporting.visible import marked
from harness.runs.choose import Chosen, chosen_names
from harness.runs.execute import Progress, execute
from harness.runs.narrow import KEYS, narrow
from harness.runs.plan import Job, plan
from harness.runs.policy import project_paths, without_skipped
from harness.runs.recorded import Recorded, recorded_conversations
from harness.runs.run import SCHEMA, Header, Run, Selection, facts_of, facts_of_agent
from harness.runs.select import select, unused
from harness.runs.store import RunWriter, read_run
from harness.runs.summary import Summary, summarize
from harness.runs.worker import crashed, judge_job

_FEW = 64
_OURS = "harness."

Format = Literal["pretty", "json", "jsonl", "markdown"]


@click.command("run")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-n",
    "--normalizer",
    "names",
    multiple=True,
    metavar="NAME",
    help="A normalizer's name or module:callable; repeatable. "
    "Default: all meant to pass, unless agents are named.",
)
@click.option(
    "-a",
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    help="An agent's name or module:callable, for conversations; repeatable. "
    "Default: all meant to pass, unless normalizers are named.",
)
@click.option(
    "--cuts",
    type=click.Choice(CUTS),
    default="standard",
    show_default=True,
    help="quick: whole, recorded, each byte. standard: seams too. every: each single cut.",
)
@click.option(
    "--select",
    "words",
    default=None,
    metavar="WORDS",
    help=f"Only what fits each word KEY:GLOB; keys: {', '.join(KEYS)}. "
    "Default: the project's, where no PATHS are given.",
)
@dialect_option("Read every cassette")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=None, help="Processes. Default: as fits."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports"),
    show_default=True,
    help="Folder for run.jsonl and index.html.",
)
@click.option("--no-report", is_flag=True, help="Do not write index.html.")
@accept_option
@today_option
@click.option(
    "--format",
    "style",
    type=click.Choice(["pretty", "json", "jsonl", "markdown"]),
    default="pretty",
    show_default=True,
)
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
    """Replay PATHS through normalizers and agents, print the ranking, write a run, apply the gate.

    PATHS are scenarios, cassettes, logged conversations (JSON Lines) or folders of them; without
    any, the scenarios and recordings that ship. A log is only counted, in the rankings.
    """
    chosen = chosen_names(names, agents)
    if words is None:  # what is named is wanted whole
        words = "" if paths else project().table.select
    paths = paths or project_paths()
    subjects = tuple(narrow(select(paths, dialect or "", recordings=True), words))
    _warn_of_unused(paths)
    if not subjects:
        none = f"nothing fits {words!r}" if words else "the paths hold no scenario, cassette or log"
        click.echo(f"nothing selected: {none}", err=True)
        return EXIT_NOTHING_SELECTED
    path = output / "run.jsonl"
    policy = policy_here(today, paths, accept_new=accept_new)
    selection = Selection(
        tuple(path.as_posix() for path in paths), cuts, dialect or "", select=words
    )
    recorded = recorded_conversations(subjects) if chosen.agents else Recorded()
    if paths:  # what ships is known
        _tell_refused(recorded)
    planned = plan((*subjects, *recorded.subjects), chosen.normalizers, chosen.agents).jobs
    if not planned:
        click.echo("nothing selected: no cell for what was named with -n and -a", err=True)
        return EXIT_NOTHING_SELECTED
    planned, skipped = without_skipped(planned, policy)
    selection = msgspec.structs.replace(selection, skipped=skipped)
    header = _header(selection, chosen, len(subjects), planned)
    done = _execute(header, planned, cuts, jobs, path)
    if not done.done:  # the run that stands at `path` is an older one
        click.echo(f"nothing to show: 0 of {done.total} cells ran", err=True)
        return EXIT_INTERRUPTED if done.interrupted else EXIT_NOTHING_SELECTED
    run = read_run(path)
    summary = summarize(run, policy)
    if not no_report:
        write_page(run, output / "index.html", summary.gate)
    _print(run, summary, style)
    _tell(done, summary, output, report=not no_report)
    keep_baseline(run, summary.gate, policy)
    tell_github(run, summary)
    if done.interrupted:
        return EXIT_INTERRUPTED
    return EXITS[summary.gate.verdict]


def _warn_of_unused(paths: tuple[Path, ...]) -> None:
    """Name the files in the given folders that look like scenarios or cassettes and are none."""
    for file in unused(paths):
        click.echo(f"not used: {marked(str(file))}: neither scenario nor cassette", err=True)


def _tell_refused(recorded: Recorded) -> None:
    """Say which recordings of several requests agents cannot have, and why."""
    if recorded.refused:
        count = sum(recorded.refused.values())
        click.echo(
            f"no conversation for agents in {count} cassettes of several requests:", err=True
        )
    for why, count in recorded.refused.items():
        click.echo(f"{count:>8}  {marked(why)}", err=True)


def _header(
    selection: Selection, chosen: Chosen, scenario_count: int, planned: tuple[Job, ...]
) -> Header:
    agents = chosen.agents if any(job.subject.conversation for job in planned) else ()
    options = [option for name in chosen.normalizers for option in ("-n", name)]
    options += [option for name in agents for option in ("-a", name)]
    return Header(
        schema=SCHEMA,
        harness=__version__,
        normalizers=tuple(facts_of(load_normalizer(name)) for name in chosen.normalizers),
        selection=selection,
        command=(
            *("harness", "run", *selection.paths, *options, "--cuts", selection.cuts),
            *(("--select", selection.select) if selection.select else ()),
            *selection.options,
        ),
        scenario_count=scenario_count,
        agents=tuple(facts_of_agent(load_agent(name)) for name in agents),
    )


def _execute(
    header: Header, planned: tuple[Job, ...], cuts: Cuts, jobs: int | None, path: Path
) -> Progress:
    with RunWriter(path) as writer, progress() as show:
        writer.header(header)
        done = execute(
            planned,
            partial(judge_job, cuts=cuts),
            jobs_in_parallel=jobs or _processes(planned),
            on_result=writer.add,
            on_progress=show,
            crashed=crashed,
        )
        writer.finish(interrupted=done.interrupted, not_run=done.not_run)
    return done


def _processes(jobs: tuple[Job, ...]) -> int:
    """Return 1 where starting processes would cost more than it saves.

    Foreign code may do anything, even end its process: it never runs in this one.
    """
    judged = [job for job in jobs if job.subject.kind != "log"]
    sources = {_source(job.normalizer, agent=job.subject.conversation) for job in judged}
    foreign = any(not source.startswith(_OURS) for source in sources)
    cores = os.cpu_count() or 1
    return max(2, cores) if foreign else 1 if len(jobs) < _FEW else cores


@cache
def _source(name: str, *, agent: bool) -> str:
    """Return the module that the code under a name comes from."""
    code = load_agent(name).converse if agent else load_normalizer(name).normalize
    return getattr(code, "__module__", "")


def _print(run: Run, summary: Summary, style: Format) -> None:
    if style == "json":
        click.echo(msgspec.json.encode(summary).decode())
    elif style == "jsonl":
        for result in run.results:
            click.echo(msgspec.json.encode(result).decode())
    else:
        click.echo(tables(summary, style))


def _tell(done: Progress, summary: Summary, output: Path, *, report: bool) -> None:
    tell_gate(summary.gate)
    if done.interrupted:
        click.echo(f"interrupted: {done.done} of {done.total} cells are in the run", err=True)
    if report:
        click.echo(f"report: {shlex.quote(str(output / 'index.html'))}", err=True)
    sys.stderr.flush()
