"""`harness audit`: secrets in cassettes; also a pre-commit hook."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.cli.options import format_option
from harness.errors import UnreadableError, UsageError
from harness.recording.secrets.scrubber import iter_leaks
from harness.reporting.visible import marked
from harness.shipped import bundled_folder
from harness.wire import cassette_file

_SUFFIXES = (".yaml", ".yml")


@click.command("audit")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE_OR_DIR]...")
@format_option("pretty", "json")
def audit_command(paths: tuple[Path, ...], style: str) -> int:
    """Search cassettes for keys, tokens, e-mail addresses, home folders and account ids.

    Default: the bundled cassettes. The output has the location and the kind of each secret, never
    its text. The command exits with code 1 if it finds a secret or cannot read a file.
    """
    files = list(_files(paths or (bundled_folder("cassettes"),)))
    found = {str(path): list(_leak_lines(path)) for path in files}
    wrong = {name: lines for name, lines in found.items() if lines}
    if style == "json":
        click.echo(json.dumps({"files": len(files), "found": wrong}, indent=2))
    else:
        for name, lines in wrong.items():
            click.echo("\n".join(marked(f"{name}: {line}") for line in lines))
        click.echo(f"{len(files)} cassettes, {len(wrong)} with secrets")
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
            raise UsageError(
                "no such file or folder", where=str(path), hint="Pass cassettes or folders of them."
            )
