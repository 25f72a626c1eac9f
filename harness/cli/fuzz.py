"""`harness fuzz`: search for inputs on which a client fails, shrink them, and save them."""

import os
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED, EXIT_INTERRUPTED, EXIT_NOTHING_SELECTED
from harness.cli.options import format_option, target_options
from harness.errors import UsageError
from harness.reporting.text.cell import findings_lines
from harness.reporting.visible import marked
from harness.runs.selection import select_subjects

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
    help="Folder to write a cassette and a scenario of each violated MUST rule to.",
)
@click.option(
    "--no-database",
    is_flag=True,
    help=f"Do not read or write {DATABASE}, the folder with earlier findings.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=None,
    help="Number of processes. Default: all cores.",
)
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
    no_database: bool,
    jobs: int | None,
    style: Format,
) -> int:
    """Search for inputs on which normalizers and agents fail, starting from PATHS.

    PATHS are scenarios, cassettes or folders of them. Default: the bundled scenarios. The command
    exits with code 1 if it finds a violation of a MUST rule.
    """
    _require_hypothesis()
    _require_targets(names, agents)
    subjects = select_subjects(paths)
    if not subjects:
        click.echo("nothing selected: the paths have no scenario and no cassette", err=True)
        return EXIT_NOTHING_SELECTED
    from harness.fuzzing import targets  # noqa: PLC0415 - needs hypothesis

    options = targets.FuzzOptions(
        subjects,
        _profile(profile, examples, seconds),
        int.from_bytes(os.urandom(3)) if seed is None else seed,
        clean,
        jobs or os.cpu_count() or 1,
        None if no_database else DATABASE,
        save,
    )
    hunts = tuple(_iter_reports(names, agents, options))
    _print(tuple(_finding_rows(hunts, options, paths)), style)
    return _exit_code(hunts)


def _exit_code(hunts: "tuple[FuzzReport, ...]") -> int:
    if any(hunt.interrupted for hunt in hunts):
        return EXIT_INTERRUPTED
    broken = any(each.fails_gate for hunt in hunts for each in hunt.findings)
    return EXIT_GATE_FAILED if broken or any(hunt.crashed for hunt in hunts) else 0


def _finding_rows(
    hunts: "tuple[FuzzReport, ...]", options: "FuzzOptions", paths: tuple[Path, ...]
) -> "Iterator[FindingRow]":
    """Yield the findings of all searches, the worst first."""
    again = _search_command(paths, options.profile, clean=options.clean)
    found = [finding for hunt in hunts for finding in hunt.findings]
    for each in sorted(found, key=lambda finding: finding.rank):
        saved = options.folder if each.fails_gate else None
        yield _finding_row(each, saved or options.database, again)


def _iter_reports(
    names: tuple[str, ...], agents: tuple[str, ...], options: "FuzzOptions"
) -> "Iterator[FuzzReport]":
    """Search one target after the other, until the user interrupts."""
    from harness.fuzzing.targets import FuzzTarget, fuzz_target  # noqa: PLC0415 - as above

    normalizers = (FuzzTarget("normalizer", name) for name in names)
    for target in (*normalizers, *(FuzzTarget("agent", name) for name in agents)):
        hunt = fuzz_target(target, options)
        _print_counts(target.name, hunt, options.random)
        yield hunt
        if hunt.interrupted:
            return


def _require_hypothesis() -> None:
    if find_spec("hypothesis") is None:
        raise UsageError(
            "fuzzing needs Hypothesis, which is not installed",
            hint="Run pip install 'toolcall-harness[fuzz]'",
        )


def _require_targets(names: tuple[str, ...], agents: tuple[str, ...]) -> None:
    if not names and not agents:
        raise UsageError(
            "no client to search",
            where="-n",
            hint="Name a normalizer with -n or an agent with -a.",
        )


def _profile(name: str, examples: int | None, seconds: float | None) -> "Profile":
    from harness.fuzzing.search import find_profile  # noqa: PLC0415 - as above

    found = find_profile(name)
    if examples is not None:  # without a time limit, the search is repeatable
        found = msgspec.structs.replace(found, examples=examples, seconds=_NO_TIME_LIMIT)
    if seconds is not None:
        found = msgspec.structs.replace(found, seconds=seconds)
        if examples is None:
            found = msgspec.structs.replace(found, examples=_NO_INPUT_LIMIT)
    return found


_NO_TIME_LIMIT: Final = 24 * 3600.0
_NO_INPUT_LIMIT: Final = 1 << 40


class FindingRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding as the command prints it; one object of the JSON formats."""

    id: str
    target: str
    rule: str
    level: str
    outcome: str
    blame: str
    dialect: str
    path: str
    expected: str
    actual: str
    parent: str
    steps: tuple[str, ...]
    bytes: int
    cuts: tuple[int, ...]
    examples: int
    seed: int
    command: str
    again: bool = False


def _search_command(paths: tuple[Path, ...], profile: "Profile", *, clean: bool) -> tuple[str, ...]:
    """Return the start of the command that repeats the search."""
    said = [*map(str, paths), *(["--clean"] if clean else [])]
    return ("harness", "fuzz", *said, "--no-database", "-j", "1", "--profile", profile.name)


def _finding_row(finding: "FuzzFinding", folder: Path | None, again: tuple[str, ...]) -> FindingRow:
    from harness.fuzzing.saving import command_of  # noqa: PLC0415 - as above

    if folder is not None:
        command = command_of(finding, folder)
    else:
        option = "-a" if finding.dialect_key == "conversation" else "-n"
        more = (option, finding.normalizer, "--seed", str(finding.random))
        command = shlex.join([*again, *more, "--examples", str(finding.examples)])
    found = finding.finding
    return FindingRow(
        id=finding.slug,
        target=finding.normalizer,
        rule=found.rule,
        level=found.level,
        outcome=found.outcome.value,
        blame=finding.blame,
        dialect=finding.dialect_key,
        path=found.path,
        expected=found.expected,
        actual=found.actual,
        parent=finding.parent,
        steps=tuple(map(str, finding.steps)),
        bytes=len(finding.interaction.body),
        cuts=finding.chunking,
        examples=finding.examples,
        seed=finding.random,
        command=command,
        again=finding.found_before,
    )


def _print(found: tuple[FindingRow, ...], style: Format) -> None:
    match style:
        case "json":
            click.echo(msgspec.json.encode(found).decode())
        case "jsonl":
            for each in found:
                click.echo(msgspec.json.encode(each).decode())
        case "pretty":
            for line in _lines(found):
                click.echo(line)


def _lines(found: tuple[FindingRow, ...]) -> Iterator[str]:
    for each in found:
        cuts = f"split at {', '.join(map(str, each.cuts[:8]))}" if each.cuts else "unsplit"
        old = ", found before" if each.again else ""
        yield (
            f"{each.outcome}, blame {each.blame}: {marked(each.target)} on {each.dialect}, "
            f"{each.bytes} bytes, {cuts}{old}"
        )
        yield from findings_lines([_finding(each)])
        yield f"    from     {marked(each.parent)}"
        for step in each.steps:
            yield f"    step     {marked(step)}"
        yield f"  {marked(each.command)}"
        yield ""


def _finding(shown: FindingRow) -> Any:  # noqa: ANN401 - what findings_lines reads of a finding
    return shown


def _print_counts(name: str, hunt: "FuzzReport", random: int) -> None:
    said = f"{hunt.examples:,} inputs, {hunt.chunkings:,} replays, seed {random}"
    click.echo(f"{marked(name)}: {len(hunt.findings)} findings in {said}", err=True)
    if hunt.interrupted:  # then nothing else is known of it
        return
    if not hunt.examples:
        click.echo(f"{marked(name)}: no selected input is supported", err=True)
    if hunt.crashed:
        click.echo(f"{marked(name)}: {hunt.crashed} processes crashed", err=True)
