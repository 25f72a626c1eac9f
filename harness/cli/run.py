"""`harness run`: replay scenarios through normalizers and agents, rank them, apply the gate."""

import os
from collections.abc import Callable, Collection, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import click
from msgspec.structs import replace

from harness import __version__
from harness.cli import EXIT_INTERRUPTED, EXIT_NOTHING_SELECTED, EXIT_USAGE
from harness.cli.cassette_options import dialect_option
from harness.cli.gate import EXIT_CODES, project_policy, report_to_github, save_baseline
from harness.cli.history import keep_in_history
from harness.cli.options import (
    accept_option,
    evidence_option,
    format_option,
    jobs_option,
    on_option,
    only_once,
    output_option,
    target_options,
    today_option,
)
from harness.cli.run_files import (
    DEFAULT_RUNS,
    RUN_FILE,
    changes_of,
    claim,
    context_of,
    mark_start,
    page_name,
    write_text,
)
from harness.cli.run_imports import import_unread
from harness.cli.run_output import Format, print_problems, print_run, print_status
from harness.cli.run_progress import print_not_run, progress
from harness.cli.run_selection import (
    RunRequest,
    asks_about_models,
    empty_reason,
    only_failed,
    print_left_out,
    print_unread,
    read_last_run,
    request_of_last_run,
)
from harness.files.output import OutputFolder
from harness.judging.replaying import CUTS, Cuts
from harness.project import SelectedEvidence, project
from harness.reporting.page import render_page
from harness.repro.code import reproducible_clients
from harness.results.result import Result
from harness.results.run import SCHEMA, AnyCase, Header, NormalizerFacts, Selection
from harness.results.store import RunWriter, files_of_run, read_run
from harness.runs.declared import (
    declared_agent,
    declared_normalizer,
    share_a_port,
    third_party_clients,
)
from harness.runs.engine import Engine, open_engine
from harness.runs.execute import Progress, execute
from harness.runs.filters import FILTER_KEYS
from harness.runs.judge_job import crash_result, judge_if_readable
from harness.runs.plan import Job, cell_id, roots_of
from harness.runs.request import RequestedCells, SelectedClients, without_skipped
from harness.runs.versions import interpreter, versioned_agent, versioned_normalizer
from harness.verdicts.database import Questions
from harness.verdicts.gate import summarize
from harness.verdicts.policy import GatePolicy

_MIN_PARALLEL_JOBS = 64
_TIMING_PROCESSES = 6  # such clients mostly wait
_CUTS: dict[str, Cuts] = {name: name for name in CUTS}


class _RunCommand(click.Command):
    """Marks a start also if the command line is wrong, so that an older run does not count."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **more: Any,  # noqa: ANN401 - click's own
    ) -> click.Context:
        """Parse the command line."""
        given = list(args)
        try:
            return super().make_context(info_name, args, parent, **more)
        except click.UsageError:
            mark_start(_output_in(given))
            raise


def _output_in(args: Sequence[str]) -> Path:
    """Return the output folder that a wrong command line names."""
    for at, arg in enumerate(args):
        if arg in ("-o", "--output"):
            return Path(*args[at + 1 : at + 2])
        for prefix in ("--output=", "-o"):
            if arg.startswith(prefix):
                return Path(arg.removeprefix(prefix))
    return DEFAULT_RUNS


@click.command("run", cls=_RunCommand)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@target_options(has_default=True)
@click.option(
    "--cuts",
    type=click.Choice(CUTS),
    help="Chunkings of each body. Default: that of the project, or else standard. "
    "whole: unsplit. quick: also as recorded, and each byte. "
    "standard: also at seams, which are split points likely to break a parser. "
    "every: also each single split.",
)
@click.option(
    "--select",
    "words",
    metavar="FILTERS",
    multiple=True,
    callback=only_once,
    help=f"Select what matches all filters KEY:GLOB, separated by spaces. Keys: "
    f"{', '.join(FILTER_KEYS)}. Default: the filters of the project, if you pass no PATHS.",
)
@click.option(
    "--set",
    "requirement_set",
    multiple=True,
    callback=only_once,
    metavar="NAME",
    help="Judge only the bundled files and by the rules of this requirement set, such as 2026.12. "
    "Your own files are always judged. Default: that of the project, or else everything.",
)
@evidence_option
@dialect_option("Parse every cassette as this dialect and skip detection.")
@on_option
@jobs_option("chosen by the number of cells, or on a cluster all of its threads")
@output_option("Folder for run.jsonl and index.html.", default="reports")
@click.option("--no-report", is_flag=True, help="Do not write index.html.")
@click.option(
    "--lf",
    "--last-failed",
    "last_failed",
    is_flag=True,
    help="Run only the cells that failed in the last run of the output folder, or all if none "
    "did. PATHS, filters, clients and --cuts are those of that run if you pass none.",
)
@click.option(
    "--rankings",
    is_flag=True,
    help="Print the tables of normalizers, agents, models and prompts. Default: only if you select "
    "recordings or models.",
)
@accept_option
@today_option
@format_option("pretty", "json", "jsonl", "markdown")
def run_command(  # noqa: PLR0913 - one parameter for each option
    paths: tuple[Path, ...],
    *,
    names: tuple[str, ...],
    agents: tuple[str, ...],
    cuts: Cuts | None,
    words: str | None,
    requirement_set: str | None,
    evidence: SelectedEvidence,
    dialect: str | None,
    on: str,
    jobs: int | None,
    output: Path,
    no_report: bool,
    last_failed: bool,
    rankings: bool,
    accept_new: bool,
    today: date,
    style: Format,
) -> int:
    """Replay PATHS through normalizers and agents, print the failures, apply the gate.

    PATHS are scenarios, cassettes, recordings of other tools, logged conversations (JSON Lines) or
    folders of them. Recordings are imported to the folder `imported` of the output. The path
    `bundled` selects the bundled scenarios and recordings. Default: the paths of the project, or
    else `bundled`. Logged conversations cannot be replayed, so they count only in the rankings of
    models. The exit code is that of `harness gate`, or 2 if a file cannot be used. All other files
    are judged even then.
    """
    mark_start(output)
    given = import_unread(paths, output)
    found, selection, policy = _selected(
        RunRequest(
            *(SelectedClients(names, agents), given.paths, words, dialect or "", cuts),
            *(requirement_set, evidence, given.files),
        ),
        output / RUN_FILE if last_failed else None,
        partial(project_policy, today, accept_new=accept_new),
    )
    print_left_out(found)
    if not found.jobs:
        click.echo(f"nothing selected: {empty_reason(found)}", err=True)
        return EXIT_NOTHING_SELECTED
    planned, skipped = without_skipped(found.jobs, policy)
    cells = tuple(map(cell_id, planned)) if selection.last_failed else ()
    selection = replace(selection, skipped=skipped, cells=cells)
    header = _header(selection, found.clients, len(found.subjects), planned)
    path, started = output / RUN_FILE, monotonic()
    page = None if no_report else output / page_name(selection)
    claim(output, *files_of_run(path), *([] if page is None else [page.name]))
    clients = (header.names_of_normalizers, header.names_of_agents)
    with open_engine(on, *clients, roots_of(found.subjects)) as engine:
        done = _execute(header, planned, jobs, path, engine, policy=policy)
    OutputFolder(output).release(*files_of_run(path))
    print_problems(done)
    if not done.done:  # a run file at `path` is from an earlier run
        click.echo(f"no results: 0 of {done.total} cells ran", err=True)
        code = EXIT_INTERRUPTED if done.interrupted else EXIT_NOTHING_SELECTED
    else:
        seconds = monotonic() - started
        ranked = rankings or style == "markdown" or asks_about_models(found)
        code = _finish_run(path, policy, page, style, seconds, planned=planned, ranked=ranked)
    return EXIT_USAGE if done.unreadable or given.damaged else code


def _selected(
    asked: RunRequest, lf: Path | None, read_policy: Callable[[tuple[Path, ...]], GatePolicy]
) -> tuple[RequestedCells, Selection, GatePolicy]:
    """Return the cells to run, the options that select them, and the project's gate.

    Args:
        asked: the request of the user.
        lf: the run whose failed cells to run again; None to run all selected cells.
        read_policy: returns the project's gate for the selected paths.
    """
    last = read_last_run(lf) if lf is not None else None
    if last is not None:
        asked = request_of_last_run(asked, last)
    found = asked.cells
    policy = read_policy(found.paths)
    if last is not None:
        found = only_failed(found, last, policy)
    named = tuple(path.as_posix() for path in found.paths)
    cuts = asked.cuts or project().table.cuts
    selection = Selection(
        named,
        cuts,
        asked.dialect,
        select=found.words,
        requirement_set=found.requirement_set,
        last_failed=last is not None,
        evidence=found.evidence,
        left_out=tuple(map(cell_id, found.left_out)),
        recordings=asks_about_models(found),
    )
    return found, selection, policy


def _header(
    selection: Selection, chosen: SelectedClients, scenario_count: int, planned: tuple[Job, ...]
) -> Header:
    own = project().table.agents  # each of them must be judged
    has_conversations = any(job.subject.conversation for job in planned)
    agents = tuple(name for name in chosen.agents if has_conversations or name in own)
    options = [option for name in chosen.normalizers for option in ("-n", name)]
    options += [option for name in agents for option in ("-a", name)]
    return Header(
        schema=SCHEMA,
        harness=__version__,
        normalizers=tuple(map(_normalizer_facts, chosen.normalizers)),
        selection=selection,
        command=(
            *("harness", "run", *selection.paths, *options, "--cuts", selection.cuts),
            *(("--select", selection.select) if selection.select else ()),
            *(("--set", selection.requirement_set) if selection.requirement_set else ()),
            *(("--evidence", selection.evidence) if selection.evidence else ()),
            *(("--lf",) if selection.last_failed else ()),
            *selection.options,
        ),
        scenario_count=scenario_count,
        agents=tuple(map(versioned_agent, map(declared_agent, agents))),
        cell_count=len(planned),
        interpreter=interpreter(),
    )


def _normalizer_facts(name: str) -> NormalizerFacts:
    facts = versioned_normalizer(declared_normalizer(name))
    return replace(facts, has_script=name in reproducible_clients())


def _execute(  # noqa: PLR0913 - one run: what it judges, how, where and by which policy
    header: Header,
    planned: tuple[Job, ...],
    jobs: int | None,
    path: Path,
    engine: Engine,
    *,
    policy: GatePolicy,
) -> Progress:
    others = third_party_clients(planned)
    processes = _processes(planned, jobs, others, engine)
    with RunWriter(path) as writer, progress(processes or 1, policy.accepts) as shown:
        writer.header(header)

        def keep(result: Result, case: AnyCase | None, output: str) -> None:
            writer.add(result, case, output)
            shown.note(result)

        done = execute(
            planned,
            partial(judge_if_readable, cuts=_CUTS[header.selection.cuts], lead=header.lead),
            jobs_in_parallel=processes,
            on_result=keep,
            on_progress=shown.show,
            crashed=crash_result,
            apart=lambda job: job.normalizer if job.normalizer in others else "",
            open_pool=engine.open_pool,
        )
        writer.finish(
            interrupted=done.interrupted, not_run=done.not_run, unreadable=done.unreadable
        )
    return done


def _processes(
    planned: tuple[Job, ...], jobs: int | None, others: Collection[str], engine: Engine
) -> int:
    """Return the number of worker processes; 0 if they would cost more time than they save.

    Third-party code never runs in this process, because it may end the process or block it.

    Args:
        planned: all jobs.
        jobs: the number that the user requested; None for a suitable number.
        others: the third-party clients.
        engine: the engine that starts the processes.
    """
    if share_a_port(planned):
        return 1  # they share one port, the upstream of a gateway
    if not engine.is_local:
        return jobs or engine.threads
    cores = os.cpu_count() or 1
    if jobs is None and any(job.subject.timing for job in planned):
        return max(_TIMING_PROCESSES, cores)
    few = (jobs or cores) == 1 or (jobs is None and len(planned) < _MIN_PARALLEL_JOBS)
    return 0 if few and not others else jobs or max(2, cores)


def _finish_run(  # noqa: PLR0913 - what the options say
    path: Path,
    policy: GatePolicy,
    page: Path | None,
    style: Format,
    seconds: float,
    *,
    planned: tuple[Job, ...],
    ranked: bool,
) -> int:
    """Apply the gate to the run at `path`, write and print results, and return the exit code."""
    run = read_run(path)
    keep_in_history(run, path, seconds)
    with Questions(run) as questions:
        summary = summarize(run, policy, questions)
        context = context_of(path, run)
        if page is not None:
            write_text(page, render_page(run, context, summary.gate, questions))
        print_run(run, summary, style, ranked=ranked)
    print_unread(run, dict.fromkeys(job.subject for job in planned))
    if run.footer is not None and run.footer.interrupted:
        print_not_run(planned, run.results, path.parent)
    changed = changes_of(context, run)
    print_status(run, summary, page, changed)
    save_baseline(run, summary.gate, policy)
    report_to_github(run, summary, changed)
    return EXIT_CODES[summary.gate.verdict] if run.complete else EXIT_INTERRUPTED
