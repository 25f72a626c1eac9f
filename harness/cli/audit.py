"""`harness audit`: find secrets in cassettes. It is also a pre-commit hook."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.cli.options import format_option
from harness.errors import UnreadableError, UsageError
from harness.files.walk import is_yaml, walk_files
from harness.recording.secrets import second_net
from harness.recording.secrets.scrubber import iter_leaks
from harness.reporting.visible import marked
from harness.shipped import bundled_folder
from harness.wire import cassette_file
from harness.wire.cassette import Cassette
from harness.wording import pluralize


@click.command("audit")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE_OR_DIR]...")
@format_option("pretty", "json")
def audit_command(paths: tuple[Path, ...], style: str) -> int:
    """Search cassettes for keys, tokens, e-mail addresses, home folders and account ids.

    Default: the bundled cassettes. The output has the location and the kind of each secret, never
    its text. The command exits with code 1 if it finds a secret or cannot read a file. It also uses
    the detectors of detect-secrets, if the extra `audit` is installed.
    """
    files = list(_files(paths or (bundled_folder("cassettes"),)))
    found = {str(path): list(_leak_lines(path)) for path in files}
    wrong = {name: lines for name, lines in found.items() if lines}
    if style == "json":
        click.echo(json.dumps({"files": len(files), "found": wrong}, indent=2))
    else:
        for name, lines in wrong.items():
            click.echo("\n".join(marked(f"{name}: {line}") for line in lines))
        click.echo(f"{pluralize(len(files), 'cassette')}, {len(wrong)} with secrets")
        if not second_net.is_installed():
            click.echo(f"searched without detect-secrets. {second_net.INSTALL}", err=True)
    if not files:
        return EXIT_NOTHING_SELECTED
    return EXIT_GATE_FAILED if wrong else 0


def _leak_lines(path: Path) -> Iterator[str]:
    try:
        cassette = cassette_file.load_cassette(path)
        found = list(iter_leaks(cassette))
        yield from found
        if not found and second_net.is_installed():  # else it would report the same again
            yield from _further_leaks(cassette)
    except UnreadableError as error:
        yield f"cannot be read: {error.what}"


def _further_leaks(cassette: Cassette) -> Iterator[str]:
    for index, interaction in enumerate(cassette.interactions):
        for what in second_net.iter_further_leaks(interaction):
            yield f"{cassette.id}#{index}: {what}"


def _files(paths: tuple[Path, ...]) -> Iterator[Path]:
    for path in paths:
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from map(Path, walk_files(str(path), is_yaml))
        else:
            raise UsageError(
                "no such file or folder", where=str(path), hint="Pass cassettes or folders of them."
            )
