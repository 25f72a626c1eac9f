"""`harness repro`: write scripts that show failures of a library to its maintainers."""

import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import click

from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import jobs_option, peers_folder_option, safe_name
from harness.cli.replay import LAST_RUN, find_cell
from harness.cli.run_files import bundled_context, claim, write_text
from harness.errors import UsageError
from harness.judging.judge import LoadedSubject
from harness.peers.record import read_results
from harness.peers.scripts import ScriptRun, packages_of, run_script
from harness.reporting.report import ReportContext
from harness.reporting.visible import marked, plain
from harness.repro.code import load_driver, reproducible_clients
from harness.repro.gateway import gateway_script, server_script
from harness.repro.script import control_script, repro_script
from harness.results.case import Case
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import Run
from harness.results.store import read_run
from harness.runs.declared import declared_normalizer
from harness.runs.isolated import IsolatedJudge
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject, subject_id
from harness.runs.redaction import loaded_without_secrets
from harness.runs.selection import select_subjects
from harness.runs.versions import interpreter, versioned_normalizer
from harness.wording import pluralize

_CONTROLS: Final = 2  # for each client and dialect


@click.command("repro")
@click.argument("cell", required=False)
@click.option(
    "--in",
    "places",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File or folder of the scenario or cassette. Repeatable. Default: the paths of the run, "
    "and the bundled files.",
)
@click.option(
    "--all",
    "output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one script for each client and cause of failure of a run to this folder.",
)
@click.option(
    "--run",
    "source",
    type=click.Path(path_type=Path),
    default=LAST_RUN,
    help="The run of --all: a run file, or the output folder of `harness peers run`. Default: the "
    "last run in reports/.",
)
@click.option("--check", is_flag=True, help="Run the scripts of --all.")
@jobs_option("half the cores")
@peers_folder_option()
def repro_command(  # noqa: PLR0913 - one parameter for each option
    cell: str | None,
    *,
    places: tuple[Path, ...],
    output: Path | None,
    source: Path,
    check: bool,
    jobs: int | None,
    folder: Path,
) -> int:
    """Print a script that shows the failure of CELL without this package.

    The script contains the bytes, the library's own calls, the expected result and the rule with
    its source. It exits with 1 as long as the library fails. For a client of yours it is a server
    that plays the bytes, with a curl command, because only you can call your client. With --check,
    each script runs in the environment of its peer if that is installed, and else with this Python;
    the command exits with 1 if one does not show its failure. It also runs the scripts of some
    passing cells of each client (controls), which must exit with 0, because else its other scripts
    would prove nothing.
    """
    if (cell is None) == (output is None):
        raise UsageError("expected either CELL or --all, found both or neither")
    context = bundled_context()
    if output is None:
        click.echo(_script_of_cell(str(cell), places, context), nl=False)
        return 0
    runs = [(run, _subjects(run, places)) for run in _runs(source)]
    written = [
        it for run, subjects in runs for it in _write_scripts(run, subjects, output, context)
    ]
    as_expected = True
    if check:
        in_parallel = jobs or max(1, (os.cpu_count() or 1) // 2)
        as_expected = _check(written, folder, in_parallel)
        with tempfile.TemporaryDirectory() as name:
            clients = {script.result.normalizer for script in written}
            place = Path(name)
            controls = [it for each in runs for it in _write_controls(*each, clients, place)]
            as_expected = _check_controls(controls, folder, in_parallel) and as_expected
    else:
        for script in written:
            click.echo(f"{script.path}  {plain(script.result.title)}")
    click.echo(pluralize(len(written), "script"), err=True)
    return 0 if as_expected else EXIT_GATE_FAILED


class _Written(NamedTuple):
    path: Path
    result: Result


def _script_of_cell(cell: str, places: tuple[Path, ...], context: ReportContext) -> str:
    subject, name = find_cell(cell, places)
    if subject.conversation:
        raise UsageError(
            "a conversation of an agent has no script",
            where=cell,
            hint=f"Run `harness replay {cell}` to see its requests and responses.",
        )
    with closing(IsolatedJudge()) as apart:
        result, case, _ = apart.judge(Job(subject, name))
    if isinstance(case, Case) and case.crossing:
        loaded = _loaded(subject)
        return gateway_script(
            result, loaded.cassette.interactions[result.interaction], case.crossing
        )
    if case is None:
        why = "ended its process" if result.outcome is Outcome.CRASH else "does not fail"
        raise UsageError(f"the cell {why}: {result.outcome.value}", where=cell)
    if name not in reproducible_clients():
        return server_script(result, _loaded(subject).cassette.interactions[result.interaction])
    facts = versioned_normalizer(declared_normalizer(name))
    return _script(result, subject, context, _seen(facts.versions, interpreter()))


def _seen(versions: Mapping[str, str], python: str) -> tuple[str, ...]:
    """Return the versions with which a client failed, as words."""
    named = (f"{package} {version}" for package, version in versions.items())
    return tuple(filter(None, (*named, python)))


def _loaded(subject: Subject) -> LoadedSubject:
    """Return a loaded subject; raise an error if a script must not contain its bytes."""
    return loaded_without_secrets(load_subject(subject))


def _script(result: Result, subject: Subject, context: ReportContext, seen: tuple[str, ...]) -> str:
    loaded = _loaded(subject)
    return repro_script(
        result,
        loaded.cassette.interactions[result.interaction],
        loaded.expectations[result.interaction],
        context.quirks,
        packages_of(result.normalizer),
        seen=seen,
    )


def _runs(source: Path) -> list[Run]:
    if source.is_dir():
        return [each.run for each in read_results(source) if each.run is not None]
    return [read_run(source)]


def _subjects(run: Run, places: tuple[Path, ...]) -> Mapping[str, Subject]:
    """Return the subjects of a run by id; one below the run's paths replaces a bundled one."""
    paths = places or tuple(filter(Path.exists, map(Path, run.header.selection.paths)))
    return _subjects_in(paths)


@cache
def _subjects_in(paths: tuple[Path, ...]) -> Mapping[str, Subject]:
    each = (select_subjects(where, recordings=True) for where in ((), paths) if where or not paths)
    return {subject_id(subject): subject for found in each for subject in found}


def _write_scripts(
    run: Run, subjects: Mapping[str, Subject], output: Path, context: ReportContext
) -> Iterator[_Written]:
    """Write a script for each client and cause, for the first cell that a script can show."""
    clients = reproducible_clients()
    seen: set[tuple[str, str]] = set()
    left_out: Counter[str] = Counter()
    for result in run.results:
        key = (result.normalizer, result.cause)
        if not result.outcome.fails or key in seen:
            continue
        if result.normalizer not in clients:
            left_out[result.normalizer] += 1
            continue
        try:
            seen_with = _seen(run.header.versions_of(result.normalizer), run.header.interpreter)
            script = _script(result, _subject(result, subjects), context, seen_with)
        except UsageError as error:
            click.echo(f"no script: {marked(result.cell)}: {plain(error.what)}", err=True)
            continue
        seen.add(key)
        yield _write(script, f"{result.normalizer}-{result.cause}", result, output)
    for name, count in left_out.items():
        click.echo(f"no script: {plain(name)}: no template, {count} failing cells", err=True)


def _write(script: str, name: str, result: Result, output: Path) -> _Written:
    path = output / f"{safe_name(name)}{load_driver(result.normalizer).suffix}"
    claim(output, path.name)
    write_text(path, script)
    return _Written(path, result)


def _write_controls(
    run: Run, subjects: Mapping[str, Subject], clients: Collection[str], output: Path
) -> Iterator[_Written]:
    """Write scripts of some cells that passed and have calls, for each client and dialect."""
    counts: Counter[tuple[str, str]] = Counter()
    for result in run.results:
        key = (result.normalizer, result.dialect)
        passed = result.outcome is Outcome.PASS and not result.findings
        if not passed or result.normalizer not in clients or counts[key] == _CONTROLS:
            continue
        loaded = _loaded(_subject(result, subjects))
        if len(loaded.expectations) != 1 or not loaded.expectations[0].calls:
            continue
        (interaction,), (expectation,) = loaded.cassette.interactions, loaded.expectations
        try:
            script = control_script(
                result, interaction, expectation, packages_of(result.normalizer)
            )
        except UsageError:
            continue
        counts[key] += 1
        yield _write(script, f"{result.normalizer}-{result.scenario}", result, output)


def _subject(result: Result, subjects: Mapping[str, Subject]) -> Subject:
    name = result.cell.removesuffix(f"/{result.normalizer}")
    if name not in subjects:
        raise UsageError("there is no such scenario or cassette", where=name)
    return subjects[name]


def _check(written: list[_Written], folder: Path, jobs: int) -> bool:
    """Run the scripts, and return whether each shows the failure of its library."""
    as_expected = True
    for script, found in _run(written, folder, jobs):
        as_expected = as_expected and found.shows_failure
        state = found.state if found.shows_failure else found.state.upper()
        click.echo(f"{state:8} {script.path}  {plain(script.result.title)}")
        _explain(found)
    return as_expected


def _check_controls(controls: list[_Written], folder: Path, jobs: int) -> bool:
    """Run the scripts of passing cells, and return whether each exits with 0."""
    as_expected = True
    for script, found in _run(controls, folder, jobs):
        if found.state != "passes":
            as_expected = False
            click.echo(f"CONTROL  {script.result.cell}: a script of this client is wrong")
            _explain(found)
    click.echo(pluralize(len(controls), "control"), err=True)
    return as_expected


def _explain(found: ScriptRun) -> None:
    if found.state in {"broken", "not run"}:
        click.echo(f"         {plain(found.output.strip()[-200:])}", err=True)


def _run(written: list[_Written], folder: Path, jobs: int) -> Iterator[tuple[_Written, ScriptRun]]:
    def run(script: _Written) -> ScriptRun:
        return run_script(script.path, script.result.normalizer, folder)

    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(written, pool.map(run, written), strict=True)
