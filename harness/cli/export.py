"""`harness export`: write the data of the suite as plain files for other tools."""

from pathlib import Path

import click

from harness.checks.text_fixtures import format_fixture, text_fixtures
from harness.cli import EXIT_USAGE, print_error
from harness.cli.run_files import claim, write_text
from harness.errors import UsageError
from harness.runs.judge_job import readable_subjects
from harness.runs.selection import select_subjects
from harness.wording import pluralize


@click.group("export")
def export_command() -> None:
    """Write scenarios as plain JSON, for tests in other languages."""


@export_command.command("text-fixtures")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("text-fixtures"),
    show_default=True,
    help="The folder to write to: one file for each scenario.",
)
def text_fixtures_command(paths: tuple[Path, ...], output: Path) -> int:
    """Write each scenario of PATHS with calls in the text as a JSON file.

    A file has the pieces of text that a reader gets, the offered tools and the expected turn.
    Without PATHS, the bundled scenarios are written.
    """
    subjects = select_subjects(paths)
    subjects, unreadable = readable_subjects(subjects) if paths else (subjects, ())
    for each in unreadable:
        print_error(each.error)
    texts = {f"{it.scenario}.json": format_fixture(it) for it in text_fixtures(subjects)}
    claim(output, *texts)
    for name, text in texts.items():
        write_text(output / name, text)
    if not texts and not unreadable:
        raise UsageError(
            "no scenario has calls in the text",
            hint="Give scenarios with the key `text_dialect`, or none for the bundled ones.",
        )
    click.echo(f"{pluralize(len(texts), 'fixture')} in {output}")
    return EXIT_USAGE if unreadable else 0
