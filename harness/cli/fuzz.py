"""`harness fuzz`: search for inputs that a normalizer gets wrong, shrink them, keep them."""

import os
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import msgspec

from harness.cli.exits import EXIT_GATE_FAILED, EXIT_INTERRUPTED, EXIT_NOTHING_SELECTED
from harness.cli.under_test_options import under_test_options
from harness.errors import UsageError
from harness.reporting.findings_text import findings_lines
from harness.reporting.visible import marked
from harness.runs.select import select

if TYPE_CHECKING:
    from harness.fuzzing.found import FuzzFinding
    from harness.fuzzing.hunt import Hunt
    from harness.fuzzing.profiles import Profile
    from harness.fuzzing.targets import Options

DATABASE: Final = Path(".harness-fuzz")
_PROFILES: Final = ("dev", "ci", "deep")
Format = Literal["pretty", "json", "jsonl"]


@click.command("fuzz")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@under_test_options(usual=False)
@click.option("--profile", type=click.Choice(_PROFILES), default="dev", show_default=True)
@click.option("--examples", type=click.IntRange(min=1), help="Inputs for each process.")
@click.option("--seconds", type=click.FloatRange(min=0.1), help="Of searching.")
@click.option(
    "--seed", type=click.IntRange(min=0), help="The same gives the same draws. Default: any."
)
@click.option("--clean", is_flag=True, help="Start from scenarios without quirks only.")
@click.option(
    "--save",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write each broken MUST rule as cassette and scenario below this folder.",
)
@click.option(
    "--no-database", is_flag=True, help=f"Neither read nor write {DATABASE}, where findings stay."
)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=None, help="Processes. Default: all cores."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["pretty", "json", "jsonl"]),
    default="pretty",
    show_default=True,
)
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
    """Search for inputs that normalizers and agents get wrong, starting from PATHS.

    PATHS are scenarios, cassettes or folders of them; without any, the scenarios that ship.
    Leaves with 1 where a MUST rule is broken.
    """
    _require_hypothesis()
    _require_targets(names, agents)
    subjects = select(paths)
    if not subjects:
        click.echo("nothing selected: the paths hold no scenario and no cassette", err=True)
        return EXIT_NOTHING_SELECTED
    from harness.fuzzing import targets  # noqa: PLC0415 - needs hypothesis

    options = targets.Options(
        subjects,
        _profile(profile, examples, seconds),
        int.from_bytes(os.urandom(3)) if seed is None else seed,
        clean,
        jobs or os.cpu_count() or 1,
        None if no_database else DATABASE,
        save,
    )
    hunts = tuple(_hunts(names, agents, options))
    _print(tuple(_all_shown(hunts, options, paths)), style)
    return _left_with(hunts)


def _left_with(hunts: "tuple[Hunt, ...]") -> int:
    if any(hunt.interrupted for hunt in hunts):
        return EXIT_INTERRUPTED
    broken = any(each.fails_gate for hunt in hunts for each in hunt.findings)
    return EXIT_GATE_FAILED if broken or any(hunt.lost for hunt in hunts) else 0


def _all_shown(
    hunts: "tuple[Hunt, ...]", options: "Options", paths: tuple[Path, ...]
) -> "Iterator[Shown]":
    """Yield the findings of all searches, the worst first."""
    again = _again(paths, options.profile, clean=options.clean)
    found = [finding for hunt in hunts for finding in hunt.findings]
    for each in sorted(found, key=lambda finding: finding.rank):
        saved = options.folder if each.fails_gate else None
        yield _shown(each, saved or options.database, again)


def _hunts(names: tuple[str, ...], agents: tuple[str, ...], options: "Options") -> "Iterator[Hunt]":
    """Search one after the other, until somebody asks to stop."""
    from harness.fuzzing.targets import Target, search_target  # noqa: PLC0415 - as above

    normalizers = (Target("normalizer", name) for name in names)
    for target in (*normalizers, *(Target("agent", name) for name in agents)):
        hunt = search_target(target, options)
        _tell(target.name, hunt, options.random)
        yield hunt
        if hunt.interrupted:
            return


def _require_hypothesis() -> None:
    if find_spec("hypothesis") is None:
        raise UsageError(
            "fuzzing needs Hypothesis, which is not installed",
            hint="pip install 'toolcall-harness[fuzz]'",
        )


def _require_targets(names: tuple[str, ...], agents: tuple[str, ...]) -> None:
    if not names and not agents:
        raise UsageError("nothing to search", where="-n", hint="name a normalizer or an agent")


def _profile(name: str, examples: int | None, seconds: float | None) -> "Profile":
    from harness.fuzzing.profiles import find_profile  # noqa: PLC0415 - as above

    found = find_profile(name)
    if examples is not None:  # then time does not count, so that the search can be repeated
        found = msgspec.structs.replace(found, examples=examples, seconds=_FOR_EVER)
    if seconds is not None:
        found = msgspec.structs.replace(found, seconds=seconds)
        if examples is None:
            found = msgspec.structs.replace(found, examples=_NO_END)
    return found


_FOR_EVER: Final = 24 * 3600.0
_NO_END: Final = 1 << 40


class Shown(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding as it is printed; one object of the JSON formats."""

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


def _again(paths: tuple[Path, ...], profile: "Profile", *, clean: bool) -> tuple[str, ...]:
    """Return the words of the command that searches in the same way."""
    said = [*map(str, paths), *(["--clean"] if clean else [])]
    return ("harness", "fuzz", *said, "--no-database", "-j", "1", "--profile", profile.name)


def _shown(finding: "FuzzFinding", folder: Path | None, again: tuple[str, ...]) -> Shown:
    from harness.fuzzing.saving import command_of  # noqa: PLC0415 - as above

    if folder is not None:
        command = command_of(finding, folder)
    else:
        option = "-a" if finding.room == "conversation" else "-n"
        more = (option, finding.normalizer, "--seed", str(finding.random))
        command = shlex.join([*again, *more, "--examples", str(finding.examples)])
    found = finding.finding
    return Shown(
        id=finding.slug,
        target=finding.normalizer,
        rule=found.rule,
        level=found.level,
        outcome=found.outcome.value,
        blame=finding.blame,
        dialect=finding.room,
        path=found.path,
        expected=found.expected,
        actual=found.actual,
        parent=finding.parent,
        steps=tuple(map(str, finding.trail)),
        bytes=len(finding.interaction.body),
        cuts=finding.chunking,
        examples=finding.examples,
        seed=finding.random,
        command=command,
        again=finding.again,
    )


def _print(found: tuple[Shown, ...], style: Format) -> None:
    match style:
        case "json":
            click.echo(msgspec.json.encode(found).decode())
        case "jsonl":
            for each in found:
                click.echo(msgspec.json.encode(each).decode())
        case "pretty":
            for line in _lines(found):
                click.echo(line)


def _lines(found: tuple[Shown, ...]) -> Iterator[str]:
    for each in found:
        cuts = f"cut at {', '.join(map(str, each.cuts[:8]))}" if each.cuts else "uncut"
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


def _finding(shown: Shown) -> Any:  # noqa: ANN401 - what findings_lines reads of a finding
    return shown


def _tell(name: str, hunt: "Hunt", random: int) -> None:
    said = f"{hunt.examples:,} inputs, {hunt.chunkings:,} replays, seed {random}"
    click.echo(f"{marked(name)}: {len(hunt.findings)} findings in {said}", err=True)
    if hunt.interrupted:  # then nothing else is known of it
        return
    if not hunt.examples:
        click.echo(f"{marked(name)}: nothing fits what it declares", err=True)
    if hunt.lost:
        click.echo(f"{marked(name)}: {hunt.lost} processes did not survive it", err=True)
