"""`harness serve`: play recordings as a provider on this machine, for clients in any language.

If the user names one cassette, the server plays its interactions in order, each once. Otherwise it
plays each selected scenario and recording under its own base URL, to any number of clients. The
first line of standard output is the base URL.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED, EXIT_USAGE, print_error
from harness.cli.cassette_options import resolve_cassette
from harness.cli.options import port_option, wait_for_interrupt
from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.files.yaml_text import load_yaml
from harness.judging.conversations.session import tools_of_cassette
from harness.judging.expected import expectation_from
from harness.judging.judge import LoadedSubject
from harness.judging.scenario_text import turn_lines
from harness.judging.timing.script import responses_of
from harness.playback.delivery import CUTS, FAULTS, RECORDED, Delivery
from harness.playback.matching import NAMES, ORDER, path_of
from harness.playback.playback import Playback
from harness.playback.selection import INDEX_NAME, Recording, SelectionServer
from harness.playback.server import (
    MOST_CONNECTIONS,
    AnswerServer,
    check_sendable,
    deliver,
)
from harness.playback.timed import TimedPlayback
from harness.reporting.visible import marked
from harness.results.run import UnreadableFile
from harness.runs.filters import FILTER_KEYS
from harness.runs.judge_job import unreadable_file
from harness.runs.load import load_subject
from harness.runs.request import SelectedClients, requested_cells
from harness.runs.selection import select_subjects
from harness.wire.interaction import Interaction, Request
from harness.wording import pluralize


def _delivery_option(name: str, metavar: str, text: str) -> Callable[..., Any]:
    """Return a command-line option that changes how answers are delivered, such as `--cuts`."""

    def read(_context: object, _option: object, value: str | None) -> str | None:
        if value is not None:
            Delivery().with_option(name, value)
        return value

    return click.option(f"--{name}", metavar=metavar, callback=read, help=text)


@click.command("serve")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--select",
    "words",
    metavar="FILTERS",
    help="Play what matches all filters KEY:GLOB, separated by spaces. "
    f"Keys: {', '.join(FILTER_KEYS)}.",
)
@port_option
@_delivery_option("cuts", "CUTS", f"Chunking: {', '.join(CUTS)}, or offsets such as 10,20,35.")
@_delivery_option("delay", "MS", f"Milliseconds before each read, or {RECORDED!r}.")
@_delivery_option(
    "fault", "FAULT", f"{', '.join(FAULTS)} in the middle of each body, or at an offset: reset@300."
)
@click.option("--delays", is_flag=True, help=f"Short for --delay {RECORDED}.")
@click.option(
    "--connections",
    type=click.IntRange(1, 10_000),
    default=MOST_CONNECTIONS,
    show_default=True,
    help="Most open connections; a client beyond it gets status 503.",
)
@click.option(
    "--match",
    multiple=True,
    type=click.Choice(NAMES),
    metavar="NAME",
    help="For one cassette: what must be equal in a request and the recorded one: "
    f"{', '.join(NAMES)}. Repeatable. Without `order`, the first matching interaction that is left "
    f"answers. Default: {ORDER}.",
)
def serve_command(  # noqa: PLR0913 - one parameter for each option
    paths: tuple[Path, ...],
    *,
    words: str | None,
    port: int,
    cuts: str | None,
    delay: str | None,
    fault: str | None,
    delays: bool,
    connections: int,
    match: tuple[str, ...],
) -> int:
    """Serve recordings on 127.0.0.1 until interrupted. The first line is the base URL.

    One PATH, a cassette or the id of a bundled one, is played in order, to one client. At the end,
    the command prints surplus requests and unplayed interactions. If there are any, it exits with
    code 1.

    With --select, a folder, a scenario, several PATHS or none, each scenario and recording has its
    own base URL, BASE/ID, for any number of clients. Its id is also a model name below BASE. GET
    BASE lists all as JSON. Options may precede the ID: BASE/cuts=each-byte/fault=reset@300/ID. The
    PATHS default to those of the project, or else to the bundled scenarios and recordings.
    """
    given = {"cuts": cuts, "delay": RECORDED if delays else delay, "fault": fault}
    delivery = Delivery()
    for name, value in given.items():
        delivery = delivery if value is None else delivery.with_option(name, value)
    if words is None and len(paths) == 1 and not _is_selection(paths[0]):
        return _serve_cassette(paths[0], match or (ORDER,), delivery, port, connections)
    if match:
        raise UsageError(
            "--match is for one cassette: each base URL of a selection answers every request",
            hint="Remove --match, or name one cassette.",
        )
    unreadable: list[UnreadableFile] = []
    recordings = tuple(_recordings(paths, words, unreadable))
    if not recordings and unreadable:
        return EXIT_USAGE
    if not recordings:
        click.echo(f"nothing selected: nothing to play matches {words or 'the paths'!r}", err=True)
        return EXIT_NOTHING_SELECTED
    _serve_selection(recordings, delivery, port, connections)
    return EXIT_USAGE if unreadable else 0


def _is_selection(path: Path) -> bool:
    """Return whether `path` is a folder or a scenario, and not a single cassette."""
    return path.is_dir() or (
        path.is_file() and any(each.kind == "scenario" for each in select_subjects([path]))
    )


def _serve_cassette(
    path: Path, match: tuple[str, ...], delivery: Delivery, port: int, connections: int
) -> int:
    playback = Playback(resolve_cassette(path), match, delivery.cuts)
    check_sendable(playback.cassette)
    for place, interaction in enumerate(playback.cassette.interactions):
        click.echo(f"interaction {place}: {_answer(interaction)}", err=True)
    answer = partial(deliver, playback, delivery)
    with AnswerServer(answer, port=port, most_connections=connections) as server:
        _print_settings(
            (each.dialect, server.base_url + _base_path(each))
            for each in playback.cassette.interactions
        )
        wait_for_interrupt(server.base_url, server.limit_note)
    for line in _summary_lines(playback):
        click.echo(line)
    return EXIT_GATE_FAILED if playback.surplus_count or playback.unplayed() else 0


def _serve_selection(
    recordings: tuple[Recording, ...], delivery: Delivery, port: int, connections: int
) -> None:
    server = SelectionServer(recordings, delivery, port=port, most_connections=connections)
    with server:
        index = f"{server.base_url}/{INDEX_NAME}"
        click.echo(f"{len(recordings)} scenarios and recordings; index: {index}", err=True)
        _print_settings((each.cassette.dialect, server.url_of(each)) for each in recordings)
        wait_for_interrupt(server.base_url, server.limit_note)
    click.echo(f"{pluralize(server.played, 'request')} played, {server.refused} refused")


def _base_path(interaction: Interaction) -> str:
    row = DIALECTS.get(interaction.dialect)
    return row.base_of(path_of(interaction.request.uri)) if row else ""


def _print_settings(addresses: Iterable[tuple[str, str]]) -> None:
    """Print, for the first address of each API, what makes a client send its requests there."""
    first: dict[str, str] = {}
    for dialect, address in addresses:
        first.setdefault(dialect, address)
    for dialect, address in sorted(first.items()):
        row = DIALECTS.get(dialect)
        variable = row.base_url_variable if row else ""
        setting = f"set {variable}=" if variable else "the base URL of the client is "
        click.echo(f"{marked(dialect or 'unknown API')}: {setting}{marked(address)}", err=True)


def _recordings(
    paths: tuple[Path, ...], words: str | None, unreadable: list[UnreadableFile]
) -> Iterator[Recording]:
    """Yield the selected recordings that can be played; print why others are skipped.

    Unusable files are added to `unreadable`.
    """
    for subject in requested_cells(SelectedClients((), ()), paths, words).subjects:
        if subject.kind == "log":
            continue
        if broken := unreadable_file(subject):
            print_error(broken.error)
            unreadable.append(broken)
            continue
        loaded = load_subject(subject)
        try:
            check_sendable(loaded.cassette)
        except UsageError as error:
            click.echo(f"skipped: {marked(loaded.id)}: {marked(error.what)}", err=True)
            continue
        if loaded.cassette.interactions:
            yield Recording(loaded.id, loaded.cassette, partial(_describe, loaded), _timed(loaded))


def _timed(loaded: LoadedSubject) -> TimedPlayback | None:
    """Return the playback of a timing scenario, which begins again after its last response."""
    scenario = loaded.scenario
    if scenario is None or scenario.timing is None:
        return None
    return TimedPlayback(responses_of(scenario.timing, loaded.cassette), repeats=True)


def _describe(loaded: LoadedSubject) -> dict[str, Any]:
    """Return further facts about a recording for the index: its tools and expected turns.

    Each turn has the keys of `expect` in a scenario. For the turns of a conversation, the oracle
    gives the expected result.
    """
    scenario = loaded.scenario
    turns = loaded.expectations or tuple(map(expectation_from, loaded.oracle_readings))
    lines = (line for turn in turns for line in turn_lines(turn))
    tools = scenario.tools if scenario and scenario.tools is not None else None
    return {
        "title": scenario.title if scenario else "",
        "quirks": scenario.quirks if scenario else (),
        "capabilities": scenario.capabilities if scenario else (),
        "conversation": scenario is not None and scenario.conversation is not None,
        "timing": msgspec.to_builtins(scenario.timing) if scenario and scenario.timing else None,
        "tools": msgspec.to_builtins(tools or tools_of_cassette(loaded.cassette)),
        "expect": load_yaml("\n".join(lines), loaded.id),
    }


def _summary_lines(playback: Playback) -> Iterator[str]:
    interactions = playback.cassette.interactions
    unplayed, surplus = playback.unplayed(), playback.surplus()
    yield f"{len(interactions) - len(unplayed)} of {len(interactions)} interactions played"
    yield from (f"surplus: {_address(each.request)}: {marked(each.reason)}" for each in surplus)
    more = playback.surplus_count - len(surplus)
    if more:
        yield f"surplus: {more} more requests"
    for place in unplayed:
        yield f"unplayed: interaction {place}, {_answer(interactions[place])}"


def _answer(interaction: Interaction) -> str:
    size = f"{len(interaction.body)} bytes"
    return f"{_address(interaction.request)} -> {interaction.status}, {size}"


def _address(request: Request) -> str:
    return marked(f"{request.method} {request.uri or '(address not recorded)'}")
