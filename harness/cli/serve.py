"""`harness serve`: a cassette as a provider on this machine, for a client in any language.

The first line of standard output is the base URL. When the command is interrupted or terminated,
it prints surplus requests and unplayed interactions.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import port_option, resolve_cassette, wait_for_interrupt
from harness.playback.matching import NAMES, ORDER
from harness.playback.playback import CUTS, Playback
from harness.playback.server import PlaybackServer
from harness.reporting.visible import marked
from harness.wire.interaction import Interaction, Request


@click.command("serve")
@click.argument("cassette", type=click.Path(path_type=Path))
@port_option
@click.option(
    "--match",
    multiple=True,
    type=click.Choice(NAMES),
    metavar="NAME",
    default=(ORDER,),
    show_default=True,
    help=f"What must be equal in a request and the recorded one: {', '.join(NAMES)}. Repeatable. "
    "Without `order`, the first matching interaction that is left answers.",
)
@click.option(
    "--cuts",
    type=click.Choice(list(CUTS)),
    default="recorded",
    show_default=True,
    help="Chunking of the responses.",
)
@click.option("--delays", is_flag=True, help="Delay each read as recorded.")
def serve_command(
    cassette: Path, *, port: int, match: tuple[str, ...], cuts: str, delays: bool
) -> int:
    """Serve CASSETTE, a file or the id of a bundled one, on 127.0.0.1 until interrupted.

    The command prints the base URL, and at the end surplus requests and unplayed interactions. If
    there are any, it exits with code 1.
    """
    playback = Playback(resolve_cassette(cassette), match, CUTS[cuts])
    for place, interaction in enumerate(playback.cassette.interactions):
        click.echo(f"interaction {place}: {_answer(interaction)}", err=True)
    with PlaybackServer(playback, port=port, delays=delays) as server:
        wait_for_interrupt(server.base_url)
    for line in _summary_lines(playback):
        click.echo(line)
    return EXIT_GATE_FAILED if playback.surplus_count or playback.unplayed() else 0


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
