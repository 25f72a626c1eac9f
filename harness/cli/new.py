"""`harness new`: a cassette that shows a quirk, and the scenario that a person confirms.

The bytes are those of a dialect's own writer; what must come out is what the strict reading
finds in them, which knows nothing of the writer.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from harness import shipped
from harness.cli.options import dialect_option, resolve_cassette, safe_name
from harness.cli.quirks import require_quirk
from harness.dialects.table import DIALECTS, oracle_reading, read_request
from harness.emulation.deltas import iter_deltas, writer_options
from harness.emulation.recipe import CallEntry, DeltaEntry
from harness.errors import UsageError
from harness.judging.catalogue import Quirk, load_catalogue
from harness.judging.expected import expectation_from
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.judging.scenario_text import scenario_text
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.turn import Tool
from harness.wire import cassette_file
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction
from harness.wire.reads import synthetic_reads

_DEFAULT_DIALECT: Final = "openai-chat"
_HELLO: Final = "Hello."
# A value of each type that a tool's parameter may have.
_EXAMPLES: Final[dict[str, object]] = {
    "string": "Oslo",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def pattern_for(quirk: str, dialect: str) -> Cassette:
    """Return the cassette that ships whose request a new one of `quirk` takes.

    The first that shows the quirk, else the first of the dialect; those that offer tools before
    those that offer none.

    Args:
        quirk: an id of the catalogue.
        dialect: "" for that of the first cassette that shows the quirk, else `openai-chat`.

    Raises:
        UsageError: no cassette of the dialect ships.
    """
    root, ships = shipped.bundled_folder("scenarios"), shipped.bundled_folder("cassettes")
    scenarios = [load_scenario(path, root) for path in find_scenarios([root])]
    shows = [each.cassette for each in scenarios if quirk in each.quirks]
    wanted = dialect or (_load_shipped(shows[0]).dialect if shows else _DEFAULT_DIALECT)
    others = [each.cassette for each in scenarios if each.cassette not in shows]
    bare: Cassette | None = None
    for name in (*shows, *others):
        cassette = cassette_file.load_cassette(ships / f"{name}.yaml", ships)
        if cassette.dialect == wanted and offered_tools(cassette):
            return cassette
        bare = bare or (cassette if cassette.dialect == wanted else None)
    if bare is None:
        raise UsageError(f"no cassette of the dialect {wanted!r} ships", hint="Name one by --like.")
    return bare


def _load_shipped(name: str) -> Cassette:
    ships = shipped.bundled_folder("cassettes")
    return cassette_file.load_cassette(ships / f"{name}.yaml", ships)


def offered_tools(pattern: Cassette) -> tuple[Tool, ...]:
    """Return the tools that the request of `pattern` declares."""
    first = pattern.interactions[0]
    return read_request(first.dialect, first.request).tools


def turn_deltas(
    calls: Sequence[tuple[str, str]], text: str, finish: str, tools: Sequence[Tool]
) -> tuple[Delta, ...]:
    """Return the deltas of one turn.

    Args:
        calls: name and arguments of each, the arguments as any text.
        text: before the calls.
        finish: a finish reason; "" for the one that fits.
        tools: where neither calls nor text are given, the first of them is called.
    """
    if not calls and not text:
        calls, text = ([_example_call(tools[0])], "") if tools else ((), _HELLO)
    fits = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    said = [TextDelta(text)] if text else []
    entries = (DeltaEntry(call=CallEntry(name, arguments=given)) for name, given in calls)
    return (*said, *iter_deltas(entries), Finish(FinishReason(finish) if finish else fits, ""))


def _example_call(tool: Tool) -> tuple[str, str]:
    """Return a call of `tool` with a value for each parameter that it requires."""
    known = tool.parameters.get("properties", {})
    values = {
        name: _EXAMPLES.get(str(known.get(name, {}).get("type")), None)
        for name in tool.parameters.get("required", ())
    }
    return tool.name, msgspec.json.format(msgspec.json.encode(values), indent=0).decode()


def parse_writer_options(dialect: str, words: Sequence[str], model: str) -> Any:  # noqa: ANN401 - of any dialect
    """Return the options of the writer of `dialect` that `words` set.

    Args:
        dialect: a name of the table.
        words: `OPTION=VALUE` each.
        model: as the stream names it, unless an option names it.

    Raises:
        UsageError: no such option, or it has no such value.
    """
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            hint = "As in --set later_id=empty."
            raise UsageError("expected OPTION=VALUE", where=f"--set {word}", hint=hint)
        options[name] = value
    return writer_options(dialect, options, model, "--set", from_text=True)


def build_cassette(
    pattern: Cassette,
    cassette_id: str,
    deltas: Sequence[Delta],
    writer: Any,  # noqa: ANN401 - of any dialect
    source: str,
) -> Cassette:
    """Return the cassette `cassette_id`: the first request of `pattern`, answered by `deltas`.

    Raises:
        UsageError: the API has no way to say them.
    """
    first = pattern.interactions[0]
    dialect = DIALECTS[first.dialect]
    try:
        body = b"".join(dialect.write(deltas, writer))
    except ValueError as error:
        raise UsageError(
            str(error), hint="Say it by --text and --call otherwise, or in another --dialect."
        ) from None
    interaction = Interaction(
        first.request,
        200,
        (("content-type", dialect.content_type),),
        body,
        synthetic_reads(body),
        reads_kept=False,
        dialect=dialect.name,
        tools=first.tools,
    )
    return Cassette(
        cassette_id,
        (interaction,),
        Origin("emulated", by="harness new", source=source),
        provider=pattern.provider,
        model=pattern.model,
        prompt=pattern.prompt,
    )


def write_scenario(
    cassette: Cassette, path: Path, title: str = "", quirks: Sequence[str] = ()
) -> None:
    """Write the scenario of `cassette` to `path`.

    Args:
        cassette: as it was recorded or written.
        path: the new scenario file.
        title: one line; "" for one that names the model.
        quirks: those that its bytes show.
    """
    expected = [
        expectation_from(oracle_reading(interaction)) for interaction in cassette.interactions
    ]
    title = title or f"{cassette.model} answers {path.stem}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scenario_text(title, cassette.id, expected, quirks), "utf-8")


@click.command("new")
@click.argument("quirk")
@dialect_option("Dialect of the new cassette.")
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
    "--set",
    "options",
    metavar="OPTION=VALUE",
    multiple=True,
    help="Set an option of the dialect's writer; repeatable.",
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
    known = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    require_quirk(quirk, tuple(known))
    made = _build_cassette(quirk, _NewOptions(**asked))
    stem = made.id.rpartition("/")[2]
    scenario = output / "scenarios" / safe_name(made.provider) / f"{stem}.yaml"
    _write_files(made, known[quirk], output / "cassettes" / f"{made.id}.yaml", scenario)


class _NewOptions(msgspec.Struct, frozen=True):
    """The options, as they were given."""

    dialect: str | None
    like: str | None
    calls: tuple[str, ...]
    text: str
    finish: str | None
    options: tuple[str, ...]
    name: str

    @property
    def words(self) -> Iterator[str]:
        """Those that make the bytes what they are."""
        options = {
            "--call": self.calls,
            "--text": (self.text,),
            "--finish": (self.finish or "",),
            "--set": self.options,
        }
        for option, values in options.items():
            for value in filter(None, values):
                yield from (option, value)


def _build_cassette(quirk: str, asked: _NewOptions) -> Cassette:
    pattern = _load_pattern(quirk, asked.dialect or "", asked.like)
    calls = [_parse_call(word) for word in asked.calls]
    deltas = turn_deltas(calls, asked.text, asked.finish or "", offered_tools(pattern))
    writer = parse_writer_options(pattern.dialect, asked.options, pattern.model)
    stem = safe_name(asked.name or quirk.lower())
    place = f"{safe_name(pattern.provider)}/{safe_name(pattern.model)}/{stem}"
    source = shlex.join(["harness", "new", quirk, "--like", pattern.id, *asked.words])
    return build_cassette(pattern, place, deltas, writer, source)


def _load_pattern(quirk: str, dialect: str, like: str | None) -> Cassette:
    found = resolve_cassette(Path(like)) if like else pattern_for(quirk, dialect)
    if not found.interactions:
        raise UsageError("the cassette holds no interaction", where=f"--like {like}")
    said = found.in_dialect(dialect) if dialect else found
    if said.dialect not in DIALECTS:
        raise UsageError(
            "the cassette names no dialect", where=f"--like {like}", hint="Name it by --dialect."
        )
    return said


def _parse_call(word: str) -> tuple[str, str]:
    name, equals, arguments = word.partition("=")
    if not name or not equals:
        raise UsageError(
            "expected NAME=ARGUMENTS",
            where=f"--call {word}",
            hint="""As in --call 'get_weather={"city": "Oslo"}'; the arguments may be any text.""",
        )
    return name, arguments


def _write_files(made: Cassette, quirk: Quirk, cassette: Path, scenario: Path) -> None:
    for path in (cassette, scenario):
        if path.exists():
            raise UsageError("the file is there already", where=str(path), hint="Choose a --name.")
    cassette_file.save_cassette(made, cassette)
    write_scenario(made, scenario, quirk.title, (quirk.id,))
    click.echo(f"{cassette}\n{scenario}")
    shown, run = shlex.quote(str(cassette)), shlex.quote(str(scenario))
    click.echo(f"look at it: harness show {shown}\njudge it: harness run {run}", err=True)
