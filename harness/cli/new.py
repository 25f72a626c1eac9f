"""`harness new`: a cassette that shows a quirk, and the scenario that a person confirms.

The bytes are those of a dialect's own writer; what must come out is what the strict reading
finds in them, which knows nothing of the writer.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from harness import shipped
from harness.cli.cassette_argument import load_cassette
from harness.cli.dialect_option import dialect_option
from harness.cli.file_names import safe
from harness.cli.new_cassette import cassette_of, offered, pattern_for, spelling_of, turn
from harness.cli.quirks import require_quirk
from harness.cli.record_scenarios import write_scenario
from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.judging.catalogue import Quirk, load_catalogue
from harness.turns.deltas import FinishReason
from harness.wire import cassette_file
from harness.wire.cassette import Cassette


@click.command("new")
@click.argument("quirk")
@dialect_option("Write it")
@click.option("--like", metavar="CASSETTE", help="Take the request of this one; a file or an id.")
@click.option(
    "--call", "calls", metavar="NAME=ARGUMENTS", multiple=True, help="A call; repeatable."
)
@click.option("--text", default="", help="What the turn says before its calls.")
@click.option(
    "--finish",
    type=click.Choice([reason.value for reason in FinishReason]),
    help="Default: the one that fits.",
)
@click.option(
    "--spell", metavar="SWITCH=VALUE", multiple=True, help="A switch of the writer; repeatable."
)
@click.option("--name", default="", help="Of both files. Default: the quirk's id.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="The folder of cassettes/ and scenarios/. Default: this one.",
)
def new_command(quirk: str, output: Path, **asked: Any) -> None:  # noqa: ANN401 - options
    """Write a cassette that is to show QUIRK, and its scenario to confirm.

    Without --like the request is that of a cassette that ships; without --call and --text the
    turn calls the first tool that it offers.
    """
    known = load_catalogue(shipped.folder("catalogue") / "quirks")
    require_quirk(quirk, tuple(known))
    made = _made(quirk, _Asked(**asked))
    stem = made.id.rpartition("/")[2]
    scenario = output / "scenarios" / safe(made.provider) / f"{stem}.yaml"
    _write(made, known[quirk], output / "cassettes" / f"{made.id}.yaml", scenario)


class _Asked(msgspec.Struct, frozen=True):
    """The options, as they were given."""

    dialect: str | None
    like: str | None
    calls: tuple[str, ...]
    text: str
    finish: str | None
    spell: tuple[str, ...]
    name: str

    @property
    def words(self) -> Iterator[str]:
        """Those that make the bytes what they are."""
        options = {
            "--call": self.calls,
            "--text": (self.text,),
            "--finish": (self.finish or "",),
            "--spell": self.spell,
        }
        for option, values in options.items():
            for value in filter(None, values):
                yield from (option, value)


def _made(quirk: str, asked: _Asked) -> Cassette:
    pattern = _pattern(quirk, asked.dialect or "", asked.like)
    calls = [_call(word) for word in asked.calls]
    deltas = turn(calls, asked.text, asked.finish or "", offered(pattern))
    spelling = spelling_of(pattern.dialect, asked.spell, pattern.model)
    stem = safe(asked.name or quirk.lower())
    place = f"{safe(pattern.provider)}/{safe(pattern.model)}/{stem}"
    source = shlex.join(["harness", "new", quirk, "--like", pattern.id, *asked.words])
    return cassette_of(pattern, place, deltas, spelling, source)


def _pattern(quirk: str, dialect: str, like: str | None) -> Cassette:
    found = load_cassette(Path(like)) if like else pattern_for(quirk, dialect)
    if not found.interactions:
        raise UsageError("the cassette holds no interaction", where=f"--like {like}")
    said = found.in_dialect(dialect) if dialect else found
    if said.dialect not in DIALECTS:
        raise UsageError(
            "the cassette names no dialect", where=f"--like {like}", hint="Name it by --dialect."
        )
    return said


def _call(word: str) -> tuple[str, str]:
    name, equals, arguments = word.partition("=")
    if not name or not equals:
        raise UsageError(
            "expected NAME=ARGUMENTS",
            where=f"--call {word}",
            hint="""As in --call 'get_weather={"city": "Oslo"}'; the arguments may be any text.""",
        )
    return name, arguments


def _write(made: Cassette, quirk: Quirk, cassette: Path, scenario: Path) -> None:
    for path in (cassette, scenario):
        if path.exists():
            raise UsageError("the file is there already", where=str(path), hint="Choose a --name.")
    cassette_file.save(made, cassette)
    write_scenario(made, scenario, quirk.title, (quirk.id,))
    click.echo(f"{cassette}\n{scenario}")
    shown, run = shlex.quote(str(cassette)), shlex.quote(str(scenario))
    click.echo(f"look at it: harness show {shown}\njudge it: harness run {run}", err=True)
