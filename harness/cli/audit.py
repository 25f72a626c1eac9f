"""`harness audit`: secrets in cassettes, whoever recorded them; for people and for pre-commit."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.errors import UnreadableError, UsageError
from harness.recording.secrets.scrubber import iter_leaks
from harness.reporting.visible import marked
from harness.shipped import bundled_folder
from harness.wire import cassette_file

_SUFFIXES = (".yaml", ".yml")


@click.command("audit")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE_OR_DIR]...")
@click.option(
    "--format", "form", type=click.Choice(["pretty", "json"]), default="pretty", show_default=True
)
def audit_command(paths: tuple[Path, ...], form: str) -> int:
    """Look for keys, tokens, e-mail addresses, home folders and account ids in cassettes.

    By default in those that ship. Never prints what it finds, only where and of what kind.
    Leaves with 1 where there is anything, or a file cannot be read.
    """
    files = list(_files(paths or (bundled_folder("cassettes"),)))
    found = {str(path): list(_leak_lines(path)) for path in files}
    wrong = {name: lines for name, lines in found.items() if lines}
    if form == "json":
        click.echo(json.dumps({"files": len(files), "found": wrong}, indent=2))
    else:
        for name, lines in wrong.items():
            click.echo("\n".join(marked(f"{name}: {line}") for line in lines))
        click.echo(f"{len(files)} cassettes, {len(wrong)} with something to remove")
    if not files:
        return EXIT_NOTHING_SELECTED
    return EXIT_GATE_FAILED if wrong else 0


def _leak_lines(path: Path) -> Iterator[str]:
    try:
        yield from iter_leaks(cassette_file.load_cassette(path))
    except UnreadableError as error:
        yield f"cannot be read: {error.what}"


def _files(paths: tuple[Path, ...]) -> Iterator[Path]:
    for path in paths:
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES)
        else:
            raise UsageError("no such file or folder", where=str(path))
