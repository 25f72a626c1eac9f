"""`harness cassettes`: write the emulated cassettes of scenarios, or accept edited bodies."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click

from harness import shipped
from harness.cli import EXIT_GATE_FAILED
from harness.cli.run_files import writing
from harness.emulation.recipe import ByHand
from harness.emulation.writing import cassette_path, is_stale, load_recipes, write_cassette
from harness.errors import UsageError
from harness.files.load import read_file
from harness.files.walk import is_yaml, walk_files
from harness.judging.scenario_file import find_scenarios
from harness.runs.selection import named_folder
from harness.wire.cassette_file import save_cassette
from harness.wire.edited import read_edited
from harness.wording import pluralize


@click.command("cassettes")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing, and exit with code 1 if any is stale.")
@click.option(
    "--accept-edits",
    is_flag=True,
    help="PATHS are cassettes whose bodies you edited: update their digests.",
)
def cassettes_command(paths: tuple[Path, ...], *, check: bool, accept_edits: bool) -> int:
    """Write the emulated cassettes of the scenarios at PATHS.

    The key `emulate` of a scenario describes its cassette. The cassette is written to the folder
    `cassettes` next to the folder `scenarios`, if its bytes change. Without PATHS, the bundled
    scenarios are used.

    With --accept-edits, PATHS are cassettes or folders of them. Their digests are updated. Reads
    that no longer add up to a body become synthetic.
    """
    if accept_edits:
        return _accept_edits(paths, check=check)
    found = find_scenarios(paths or (shipped.bundled_folder("scenarios"),))
    count, stale = 0, []
    for root, files in groupby(found, key=_root):
        folder = root.parent / "cassettes"
        for recipe in load_recipes(files, root):
            count += 1
            if not is_stale(recipe, folder):
                continue
            path = cassette_path(recipe, folder)
            if isinstance(recipe, ByHand) and not check:
                raise UsageError(
                    f"there is no cassette {path}",
                    where=recipe.where,
                    hint="`emulate: by-hand` keeps a cassette that exists. Write it by hand.",
                )
            if not isinstance(recipe, ByHand) and not check:
                write_cassette(recipe, folder)
            stale.append(path)
            click.echo(str(path))
    if not count:
        raise UsageError(
            "no scenario has the key `emulate`",
            hint="Add it: docs/reference/emulate.md describes it.",
        )
    done = "stale" if check else "written"
    click.echo(f"{pluralize(count, 'emulated cassette')}, {len(stale)} {done}", err=True)
    return EXIT_GATE_FAILED if check and stale else 0


def _root(scenario: Path) -> Path:
    """Return the folder `scenarios` that contains the file, or else the folder of the file."""
    return named_folder(scenario, "scenarios") or scenario.parent


def _accept_edits(paths: tuple[Path, ...], *, check: bool) -> int:
    """Adapt the stored hashes and reads to the edited bodies of cassettes at `paths`.

    It prints the path of each changed cassette. With `check`, it changes nothing.

    Returns:
        The exit code.
    """
    if not paths:
        raise UsageError(
            "expected cassettes", where="--accept-edits", hint="Name those that you edited."
        )
    count, edited = 0, 0
    for path in _cassette_files(paths):
        count += 1
        found = read_edited(read_file(path), path.stem, str(path))
        if not found.bodies and not found.reads:
            continue
        edited += 1
        if not check:
            with writing(path, hint="Check the permissions of the file."):
                save_cassette(found.cassette, path)
        click.echo(str(path))
        if found.reads:
            number = pluralize(len(found.reads), "response")
            click.echo(f"{path}: the reads of {number} are synthetic now", err=True)
    done = "edited" if check else "updated"
    click.echo(f"{pluralize(count, 'cassette')}, {edited} {done}", err=True)
    return EXIT_GATE_FAILED if check and edited else 0


def _cassette_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from map(Path, walk_files(str(path), is_yaml)) if path.is_dir() else [path]
