"""`harness fuzz`: search for inputs on which a client fails, shrink them, and save them."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import msgspec

from harness.cli import (
    EXIT_GATE_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOTHING_SELECTED,
    EXIT_USAGE,
    print_error,
)
from harness.cli.options import format_option, jobs_option, on_option, target_options
from harness.cli.run_files import require_writable
from harness.errors import UsageError
from harness.reporting.visible import marked, plain
from harness.runs.engine import Engine, open_engine
from harness.runs.judge_job import readable_subjects
from harness.runs.plan import Subject, roots_of
from harness.runs.selection import select_subjects
from harness.wording import pluralize
from harness.workers.process import FAILED

if TYPE_CHECKING:
    from harness.fuzzing.found import FuzzFinding, FuzzReport
    from harness.fuzzing.search import Profile
    from harness.fuzzing.targets import FuzzOptions

DATABASE: Final = Path(".harness-fuzz")
_PROFILES: Final = ("dev", "ci", "deep")
Format = Literal["pretty", "json", "jsonl"]


@click.command("fuzz")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@target_options(has_default=False)
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default="dev",
    show_default=True,
    help="How long to search.",
)
@click.option("--examples", type=click.IntRange(min=1), help="Number of inputs for each process.")
@click.option("--seconds", type=click.FloatRange(min=0.1), help="Duration of the search.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Random seed. Use the same seed to repeat a search. Default: random.",
)
@click.option("--clean", is_flag=True, help="Start only from scenarios without quirks.")
@click.option(
    "--save",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write a cassette and a scenario of each finding to.",
)
@click.option(
    "--save-level",
    type=click.Choice(("MUST", "SHOULD"), case_sensitive=False),
    default="MUST",
    show_default=True,
    help="Least strict level of the findings that --save writes.",
)
@click.option(
    "--no-database",
    is_flag=True,
    help=f"Do not read or write {DATABASE}, the folder with earlier findings.",
)
@on_option
@jobs_option("all cores, or all threads of the cluster")
@format_option("pretty", "json", "jsonl")
def fuzz_command(  # noqa: PLR0913 - one parameter for each option
    paths: tuple[Path, ...],
    *,
    names: tuple[str, ...],
    agents: tuple[str, ...],
    profile: str,
    examples: int | None,
    seconds: float | None,
    seed: int | None,
    clean: bool,
    save: Path | None,
    save_level: Literal["MUST", "SHOULD"],
    no_database: bool,
    on: str,
    jobs: int | None,
    style: Format,
) -> int:
    """Search for inputs on which normalizers and agents fail, starting from PATHS.

    PATHS are scenarios, cassettes or folders of them. Default: the bundled scenarios. The command
    exits with code 1 if it finds a violation of a MUST rule, and with code 2 if a file cannot be
    used; the search starts from all others.
    """
    if find_spec("hypothesis") is None:
        raise UsageError(
            "fuzzing needs Hypothesis, which is not installed",
            hint="Run pip install 'toolcall-harness[fuzz]'.",
        )
    if not names and not agents:
        raise UsageError(
            "no client to search", where="-n", hint="Name a normalizer with -n or an agent with -a."
        )
    database = None if no_database else DATABASE
    _require_writable(save, database)
    subjects, unreadable = _readable_seeds(paths)
    if not subjects and not unreadable:
        click.echo("nothing selected: the paths have no scenario and no cassette", err=True)
    if not subjects:
        return EXIT_USAGE if unreadable else EXIT_NOTHING_SELECTED
    from harness.fuzzing import targets  # noqa: PLC0415 - needs hypothesis

    with open_engine(on, names, agents, roots_of(subjects)) as engine:
        options = targets.FuzzOptions(
            subjects,
            _profile(profile, examples, seconds),
            int.from_bytes(os.urandom(3)) if seed is None else seed,
            clean,
            jobs or engine.threads or os.cpu_count() or 1,
            database,
            save,
            save_level,
        )
        reports = tuple(_iter_reports(names, agents, options, engine))
    found = [finding for report in reports for finding in report.findings]
    rows = [_json_row(each, options, paths) for each in sorted(found, key=lambda each: each.rank)]
    _print(rows, style)
    unsaved = [report.unsaved for report in reports if report.unsaved]
    if unsaved:
        raise UsageError(unsaved[0], hint="Free disk space, or choose a folder that is writable.")
    return _exit_code(reports, complete=not unreadable)


def _exit_code(reports: "Sequence[FuzzReport]", *, complete: bool) -> int:
    if any(report.interrupted for report in reports):
        return EXIT_INTERRUPTED
    if not complete:
        return EXIT_USAGE
    failed = any(it.crashed or any(each.fails_gate for each in it.findings) for it in reports)
    return EXIT_GATE_FAILED if failed else 0


def _require_writable(save: Path | None, database: Path | None) -> None:
    if save is not None:
        require_writable(save, "Choose another folder with --save.")
    if database is not None:
        require_writable(database, "Run the command in another folder, or pass --no-database.")


def _readable_seeds(paths: tuple[Path, ...]) -> tuple[tuple[Subject, ...], bool]:
    """Return the usable scenarios and cassettes, and whether a file is unusable; print errors."""
    subjects = select_subjects(paths)
    subjects, unreadable = readable_subjects(subjects) if paths else (subjects, ())
    for each in unreadable:
        print_error(each.error)
    return subjects, bool(unreadable)


def _iter_reports(
    names: tuple[str, ...], agents: tuple[str, ...], options: "FuzzOptions", engine: Engine
) -> "Iterator[FuzzReport]":
    """Search for failures of one client after the other, until the user interrupts."""
    from harness.fuzzing.targets import FuzzTarget, fuzz_target  # noqa: PLC0415 - as above

    normalizers = (FuzzTarget("normalizer", name) for name in names)
    for target in (*normalizers, *(FuzzTarget("agent", name) for name in agents)):
        report = fuzz_target(target, options, engine)
        _print_counts(marked(target.name), report, options.random)
        yield report
        if report.interrupted:
            return


def _profile(name: str, examples: int | None, seconds: float | None) -> "Profile":
    from harness.fuzzing.search import find_profile  # noqa: PLC0415 - as above

    found = find_profile(name)
    if examples is not None:  # without a time limit, the search is repeatable
        limit = _NO_TIME_LIMIT if seconds is None else seconds
        return msgspec.structs.replace(found, examples=examples, seconds=limit)
    if seconds is not None:  # a slow client needs as long to be shrunk as to be searched
        shrinking = max(seconds, found.shrinking)
        return msgspec.structs.replace(
            found, examples=_NO_INPUT_LIMIT, seconds=seconds, shrinking=shrinking
        )
    return found


_MOST_SHOWN: Final = 4_000
_NO_TIME_LIMIT: Final = 24 * 3600.0
_NO_INPUT_LIMIT: Final = 1 << 40


def _command(each: "FuzzFinding", options: "FuzzOptions", paths: tuple[Path, ...]) -> str:
    """Return the command that replays a saved finding, or that searches again."""
    from harness.fuzzing.saving import command_of  # noqa: PLC0415 - as above

    folder = options.folder_of(each)
    if folder is not None:
        return command_of(each, folder)
    search = ("harness", "fuzz", *map(str, paths), *(["--clean"] if options.clean else []))
    target = ("-a" if each.dialect_key == "conversation" else "-n", each.normalizer)
    repeat = ("--no-database", "-j", "1", "--profile", options.profile.name, *target)
    limits = ("--seed", str(each.random), "--examples", str(each.examples))
    return shlex.join([*search, *repeat, *limits])


def _json_row(
    each: "FuzzFinding", options: "FuzzOptions", paths: tuple[Path, ...]
) -> dict[str, Any]:
    """Return a finding as an object for the JSON formats."""
    found = each.finding
    return {
        "id": each.slug,
        "target": each.normalizer,
        "rule": found.rule,
        "level": found.level,
        "outcome": found.outcome.value,
        "blame": each.blame,
        "dialect": each.dialect_key,
        "path": found.path,
        "expected": found.expected,
        "actual": found.actual,
        "parent": each.parent.id,
        "steps": tuple(map(str, each.steps)),
        "realism": each.realism,
        "cause": each.cause,
        "bytes": len(each.interaction.body),
        "stream": each.interaction.body.decode("utf-8", "backslashreplace"),
        "cuts": each.chunking,
        "examples": each.examples,
        "seed": each.random,
        "command": _command(each, options, paths),
        **({"again": True} if each.found_before else {}),
        **({"unchanged": True} if each.is_unchanged else {}),
        **({"every_seed": each.every_seed} if each.every_seed else {}),
    }


def _print(rows: list[dict[str, Any]], style: Format) -> None:
    if style == "json":
        click.echo(msgspec.json.encode(rows).decode())
    if style == "jsonl":
        for row in rows:
            click.echo(msgspec.json.encode(row).decode())
    if style == "pretty":
        for row in rows:
            if "unchanged" not in row:
                click.echo("\n".join(_lines(row)))
        unchanged = Counter(row["target"] for row in rows if "unchanged" in row)
        for name, count in unchanged.items():
            shown = f"`harness run` shows {'it' if count == 1 else 'them'}"
            found = f"{pluralize(count, 'finding')} on unchanged scenarios and recordings"
            click.echo(f"{marked(name)}: {found}; {shown}")


def _lines(row: dict[str, Any]) -> Iterator[str]:
    from harness.fuzzing.saving import REALISM_LABELS  # noqa: PLC0415 - as above

    if "every_seed" in row:
        yield f"All {row['every_seed']} seeds fail in this way. Fix it before the other findings:"
    cuts = f"split at {', '.join(map(str, row['cuts'][:8]))}" if row["cuts"] else "unsplit"
    before = ", found before" if "again" in row else ""
    where = f"{marked(row['target'])} on {row['dialect']}, {row['bytes']} bytes"
    yield f"{row['outcome']}, blame {row['blame']}: {where}, {cuts}{before}"
    yield f"  {row['level']} {row['rule']} at {marked(row['path'])}"
    yield f"    expected {plain(row['expected'])}"
    yield f"    actual   {plain(row['actual'])}"
    yield f"    cause    {marked(row['cause'])}"
    yield f"    from     {marked(row['parent'])}"
    yield from (f"    step     {marked(step)}" for step in row["steps"])
    yield f"    realism  {REALISM_LABELS[row['realism']]}"
    yield from _stream_lines(row["stream"])
    yield from (f"  {marked(row['command'])}", "")


def _stream_lines(stream: str) -> Iterator[str]:
    """Yield the lines of a stream that a terminal can show."""
    shown = stream[:_MOST_SHOWN]
    for number, line in enumerate(shown.splitlines()):
        yield f"    {'' if number else 'stream':<9}{marked(line)}".rstrip()
    if len(stream) > len(shown):
        yield f"{'':<13}... and {len(stream) - len(shown):,} more characters"


def _print_counts(name: str, report: "FuzzReport", random: int) -> None:
    counts = f"{report.examples:,} inputs, {report.chunkings:,} replays, seed {random}"
    causes = len({each.cause for each in report.findings})
    found = f"{pluralize(len(report.findings), 'finding')}, {pluralize(causes, 'cause')}"
    click.echo(f"{name}: {found} in {counts}", err=True)
    if report.interrupted:  # the other counts are incomplete
        return
    if not report.examples and not report.crashed:
        click.echo(f"{name}: no selected input is supported", err=True)
    if report.crashed:
        times = pluralize(report.crashed, "time")
        click.echo(f"{name}: the client ended the process that searched, {times}", err=True)
    if report.trace:
        lines = "\n".join(map(plain, report.trace.splitlines()))
        click.echo(f"{name}: {FAILED}\n{lines}", err=True)
