"""`harness new`: write a cassette that shows a quirk, and a draft of its scenario.

The writer of the dialect produces the bytes, or a person pasted them. The oracle, which shares no
code with the writer, decides the expected result from the bytes, and a person confirms it.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from harness import shipped
from harness.checks.lint import lint_cassette
from harness.cli.cassette_options import dialect_option, resolve_cassette
from harness.cli.options import output_option, safe_name
from harness.cli.pasted import pasted_cassette
from harness.cli.quirks import require_quirk
from harness.cli.run_files import require_writable, writing
from harness.dialects.table import DIALECTS, oracle_reading, read_request
from harness.emulation.deltas import iter_deltas, writer_options
from harness.emulation.recipe import CallEntry, DeltaEntry
from harness.errors import UsageError
from harness.files.write import write_file
from harness.judging.expected import expectation_from
from harness.judging.required import shown_capabilities
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.judging.scenario_text import dialect_of, scenario_text
from harness.judging.turn_duties import written_dialect
from harness.recording.importing import Labels
from harness.reporting.visible import marked
from harness.results.catalogue import Quirk, load_catalogue
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.turn import Tool
from harness.wire import cassette_file
from harness.wire.cassette import Cassette, Origin

_DEFAULT_DIALECT: Final = "openai-chat"
_HELLO: Final = "Hello."
# Parameters whose options have other names.
_FLAGS: Final = {"calls": "call", "options": "set"}
# A value of each type that a tool's parameter may have.
_EXAMPLES: Final[dict[str, object]] = {
    "string": "Oslo",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "array": [],
    "object": {},
}


class _NewOptions(msgspec.Struct, frozen=True):
    """The options of the command that decide the bytes."""

    dialect: str | None
    like: str | None
    calls: tuple[str, ...]
    text: str
    finish: str | None
    options: tuple[str, ...]

    def words(self) -> Iterator[str]:
        """Yield the command-line arguments that produce the same turn again."""
        options = (
            *(("--call", call) for call in self.calls),
            ("--text", self.text),
            ("--finish", self.finish or ""),
            *(("--set", option) for option in self.options),
        )
        for option, value in options:
            yield from (option, value) if value else ()


@click.command("new")
@click.argument("quirk", required=False)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Text with a stream, pasted from curl, devtools or a log. - for standard input.",
)
@click.option(
    "--request",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="JSON body of the request, or its curl command, with --from. Default: found in the text.",
)
@click.option("--provider", default="", help="Provider label, with --from.")
@click.option("--model", default="", help="Model label, with --from.")
@dialect_option("Dialect of the new cassette.")
@click.option("--like", metavar="CASSETTE", help="File or id of the cassette with the request.")
@click.option(
    "--call", "calls", metavar="NAME=ARGUMENTS", multiple=True, help="Tool call. Repeatable."
)
@click.option("--text", default="", help="Text of the turn before its calls.")
@click.option(
    "--finish",
    type=click.Choice([reason.value for reason in FinishReason]),
    help="Finish reason. Default: tool_calls or stop.",
)
@click.option(
    "--set",
    "options",
    metavar="OPTION=VALUE",
    multiple=True,
    help="Option of the writer of the dialect. Repeatable.",
)
@click.option(
    "--name", default="", help="Name of both files. Default: the id of the quirk, or that of FILE."
)
@output_option("Folder that has the folders cassettes/ and scenarios/.", default=".")
def new_command(  # noqa: PLR0913 - one parameter for each option
    quirk: str | None,
    *,
    source: Path | None,
    request: Path | None,
    provider: str,
    model: str,
    output: Path,
    name: str,
    **options: Any,  # noqa: ANN401 - see _NewOptions
) -> None:
    """Write a cassette that shows QUIRK, and a draft of its scenario.

    Without --like, the request is that of a bundled cassette. Without --call and --text, the turn
    calls the first tool of the request. With --from, the cassette is the stream in a pasted text,
    and QUIRK is what it shows, if you know it.
    """
    quirks = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    if quirk is not None:
        require_quirk(quirk, tuple(quirks))
    _check_source(quirk, source, request, options)
    if source is not None:
        labels = Labels(provider=provider, model=model, dialect=options["dialect"] or "")
        made = pasted_cassette(source, name, labels, request)
    else:
        made = _new_cassette(
            quirk or "", safe_name(name or str(quirk).lower()), _NewOptions(**options)
        )
    cassette = output / "cassettes" / f"{made.id}.yaml"
    scenario = output / "scenarios" / safe_name(made.provider) / cassette.name
    for path in (cassette, scenario):
        if path.exists():
            hint = "Choose another name with --name."
            raise UsageError("file already exists", where=str(path), hint=hint)
        require_writable(path.parent)
    with writing(cassette):
        cassette_file.save_cassette(made, cassette)
    shown = (quirk,) if quirk else _shown_quirks(made, quirks)
    with writing(scenario):
        write_scenario(made, scenario, quirks[quirk].title if quirk else "", shown)
    click.echo(f"{cassette}\n{scenario}")
    for reason in open_reasons(made):
        click.echo(f"open: {marked(reason)}", err=True)
    click.echo(f"print it: harness show {shlex.quote(str(cassette))}", err=True)
    click.echo(f"confirm it: check `expect` in {scenario}, then remove its first line", err=True)
    click.echo(f"judge it: harness run {shlex.quote(str(scenario))}", err=True)


def _shown_quirks(made: Cassette, catalogue: Mapping[str, Quirk]) -> tuple[str, ...]:
    """Return the quirks that the oracle and `harness lint` find in a new cassette."""
    found = {quirk for each in made.interactions for quirk in oracle_reading(each).quirks}
    found.update(each.quirk for each in lint_cassette(made.id, made, dict(catalogue)).findings)
    return tuple(sorted(found & catalogue.keys()))


def _check_source(
    quirk: str | None, source: Path | None, request: Path | None, options: dict[str, Any]
) -> None:
    """Reject the options if they name no source of bytes, or two sources."""
    if source is None and quirk is None:
        hint = "Name a quirk of `harness quirks`, or pass a pasted stream with --from FILE."
        raise UsageError("expected a quirk or --from", hint=hint)
    if request is not None and source is None:
        raise UsageError("--request needs --from", hint="Pass the pasted stream with --from FILE.")
    given = {name for name, value in options.items() if value and name != "dialect"}
    if source is not None and given:
        names = ", ".join(sorted(f"--{_FLAGS.get(name, name)}" for name in given))
        hint = "Leave them out: the pasted stream already contains the turn."
        raise UsageError(f"--from cannot be used with {names}", hint=hint)


def cassette_of_quirk(quirk: str, dialect: str, stem: str, options: Sequence[str]) -> Cassette:
    """Return a cassette of `dialect` with one call that shows `quirk`.

    Args:
        quirk: an id of the catalogue.
        dialect: the dialect of the cassette.
        stem: the last part of the cassette's id.
        options: options of the dialect's writer, each as `OPTION=VALUE`.
    """
    return _new_cassette(quirk, stem, _NewOptions(dialect, None, (), "", None, tuple(options)))


def _new_cassette(quirk: str, stem: str, options: _NewOptions) -> Cassette:
    """Return a cassette: the first request of a bundled one, answered by the turn of `options`."""
    pattern = _load_pattern(quirk, options.dialect or "", options.like)
    first, row = pattern.interactions[0], DIALECTS[pattern.interactions[0].dialect]
    writer = parse_writer_options(row.name, options.options, pattern.model)
    deltas = _turn_deltas(options, _offered_tools(pattern))
    try:
        made = row.interaction(deltas, writer, first.request, tools=first.tools)
    except ValueError as error:
        hint = "Change --text or --call, or choose another --dialect."
        raise UsageError(str(error), hint=hint) from None
    return Cassette(
        f"{safe_name(pattern.provider)}/{safe_name(pattern.model)}/{stem}",
        (made,),
        Origin(
            "emulated",
            by="harness new",
            source=shlex.join(["harness", "new", quirk, "--like", pattern.id, *options.words()]),
        ),
        provider=pattern.provider,
        model=pattern.model,
        prompt=pattern.prompt,
    )


def _load_pattern(quirk: str, dialect: str, like: str | None) -> Cassette:
    found = resolve_cassette(Path(like)) if like else _bundled_pattern(quirk, dialect)
    found = found.with_each(dialect=dialect) if dialect else found
    where = f"--like {like}"
    if not found.interactions:
        raise UsageError("the cassette has no interaction", where=where, hint="Choose another one.")
    if found.dialect not in DIALECTS:
        raise UsageError("the cassette has no dialect", where=where, hint="Add --dialect NAME.")
    return found


def _bundled_pattern(quirk: str, dialect: str) -> Cassette:
    """Return the bundled cassette whose request a new cassette of `quirk` uses.

    It is the first cassette that shows the quirk, or else the first of the dialect. Cassettes with
    tools come before cassettes without tools.

    Args:
        quirk: an id of the catalogue.
        dialect: the dialect; "" for the dialect of the first cassette that shows the quirk, or else
            `openai-chat`.

    Raises:
        UsageError: no bundled cassette has the dialect.
    """
    root, folder = shipped.bundled_folder("scenarios"), shipped.bundled_folder("cassettes")
    scenarios = [load_scenario(path, root) for path in find_scenarios([root])]
    shows = [each.cassette for each in scenarios if quirk in each.quirks]
    others = [each.cassette for each in scenarios if each.cassette not in shows]
    dialect = dialect or (resolve_cassette(Path(shows[0])).dialect if shows else _DEFAULT_DIALECT)
    without_tools: Cassette | None = None
    for name in (*shows, *others):
        cassette = cassette_file.load_cassette(folder / f"{name}.yaml", folder)
        if cassette.dialect == dialect and _offered_tools(cassette):
            return cassette
        if cassette.dialect == dialect and without_tools is None:
            without_tools = cassette
    if without_tools is None:
        hint = "Name a cassette with --like."
        raise UsageError(f"no bundled cassette has the dialect {dialect!r}", hint=hint)
    return without_tools


def _offered_tools(pattern: Cassette) -> tuple[Tool, ...]:
    first = pattern.interactions[0]
    return read_request(first.dialect, first.request).tools


def _turn_deltas(options: _NewOptions, tools: Sequence[Tool]) -> tuple[Delta, ...]:
    """Return the deltas of the turn; without calls and text, it calls the first of `tools`."""
    calls, text = [_parse_call(word) for word in options.calls], options.text
    if not calls and not text:
        calls, text = ([_example_call(tools[0])], "") if tools else ([], _HELLO)
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    entries = (DeltaEntry(call=CallEntry(name, arguments=given)) for name, given in calls)
    return (
        *([TextDelta(text)] if text else []),
        *iter_deltas(entries),
        Finish(FinishReason(options.finish) if options.finish else reason, ""),
    )


def _parse_call(word: str) -> tuple[str, str]:
    name, equals, arguments = word.partition("=")
    if not name or not equals:
        raise UsageError(
            "expected NAME=ARGUMENTS",
            where=f"--call {word}",
            hint="""Write --call 'get_weather={"city": "Oslo"}'. The arguments may be any text.""",
        )
    return name, arguments


def _example_call(tool: Tool) -> tuple[str, str]:
    """Return the name of `tool`, and arguments with a value for each required parameter."""
    properties = tool.parameters.get("properties", {})
    values = {
        name: _EXAMPLES.get(str(properties.get(name, {}).get("type")), None)
        for name in tool.parameters.get("required", ())
    }
    return tool.name, msgspec.json.format(msgspec.json.encode(values), indent=0).decode()


def parse_writer_options(dialect: str, words: Sequence[str], model: str) -> Any:  # noqa: ANN401 - of any dialect
    """Parse command-line values, and return the options of the writer of `dialect`.

    Args:
        dialect: the name of a dialect.
        words: the values, each as `OPTION=VALUE`.
        model: the model that the stream names, unless an option names another one.

    Raises:
        UsageError: the writer has no such option, or the option has no such value.
    """
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            hint = "Write --set later_id=empty."
            raise UsageError("expected OPTION=VALUE", where=f"--set {word}", hint=hint)
        options[name] = value
    return writer_options(dialect, options, model, "--set", from_text=True)


def write_scenario(
    cassette: Cassette, path: Path, title: str = "", quirks: Sequence[str] = ()
) -> None:
    """Write a draft of the scenario of `cassette`, with the expected result of the oracle.

    Args:
        cassette: a recorded or emulated cassette.
        path: the new scenario file.
        title: the title, one line; "" for a title that names the model.
        quirks: the quirks that the bytes of the cassette show.
    """
    readings = [oracle_reading(interaction) for interaction in cassette.interactions]
    expected = list(map(expectation_from, readings))
    dialects = (*map(dialect_of, expected), *map(written_dialect, cassette.interactions, readings))
    more = {
        "text_dialect": next(filter(None, dialects), ""),
        "capabilities": sorted(shown_capabilities(cassette.interactions, readings)),
        "evidence": {} if cassette.origin.kind == "emulated" else {"recorded": cassette.id},
    }
    text = scenario_text(
        title or f"{cassette.model} answers {path.stem}",
        cassette.id,
        expected,
        quirks,
        more,
        reasons=open_reasons(cassette),
    )
    write_file(path, text.encode("utf-8"))


def open_reasons(cassette: Cassette) -> tuple[str, ...]:
    """Return why parts of the turns of `cassette` are ambiguous, each reason once."""
    readings = map(oracle_reading, cassette.interactions)
    pairs = (pair for reading in readings for pair in reading.unknown)
    return tuple(dict.fromkeys(f"{part}: {reason}" for part, reason in pairs))
