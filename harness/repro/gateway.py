"""Write a script that plays the bytes of a failure on a port, without this package.

For a gateway, it plays the upstream, sends the request to the gateway with curl, and prints what
arrived upstream and what the gateway answered. For a client without a driver, in any language, it
only plays the bytes.
"""

from importlib import resources
from string import Template
from typing import Final

from harness.dialects.table import DIALECTS
from harness.playback.matching import path_of
from harness.reporting.visible import plain
from harness.repro.code import literal, reads_literal
from harness.results.case import Crossing
from harness.results.duties import load_duties
from harness.results.result import Result
from harness.wire.cuts import split
from harness.wire.interaction import Interaction

_GATEWAY: Final = "gateway.py.txt"
_SERVER: Final = "server.py.txt"
_MOST_FINDINGS: Final = 5


def gateway_script(result: Result, interaction: Interaction, crossing: Crossing) -> str:
    """Return the source of a script that shows the findings of `result`.

    Args:
        result: the result of a cell of a gateway that failed.
        interaction: the response of the upstream on which it failed.
        crossing: the request to the gateway.
    """
    return _script(
        _GATEWAY,
        result,
        interaction,
        url=literal(crossing.uri, ".py"),
        request=literal(crossing.asked, ".py"),
    )


def server_script(result: Result, interaction: Interaction) -> str:
    """Return the source of a server that plays the bytes to any client, in any language.

    Args:
        result: the result of a cell that failed.
        interaction: the response on which it failed.
    """
    path = path_of(interaction.request.uri)
    base = DIALECTS[interaction.dialect].base_of(path)
    return _script(_SERVER, result, interaction, path=path, base=base)


def _script(template: str, result: Result, interaction: Interaction, **more: str) -> str:
    text = resources.files(__package__).joinpath(template).read_text(encoding="utf-8")
    shown = result.reported[:_MOST_FINDINGS]
    lines = [
        f"{each.rule} at {plain(each.path)}: expected {plain(each.expected)}, "
        f"found {plain(each.actual)}"
        for each in shown
    ]
    return Template(text).substitute(
        more,
        title=_comment(result.title),
        duty=_comment(load_duties()[shown[0].rule].duty) if shown else "",
        findings=_comment("\n".join(lines)),
        scenario=plain(result.scenario),
        status=interaction.status,
        content_type=literal(interaction.header("content-type") or "text/event-stream", ".py"),
        reads=reads_literal(split(interaction.body, result.chunking), ".py"),
        breaks_off=literal(bool(interaction.broken), ".py"),
    )


def _comment(text: str) -> str:
    """Return `text` so that it cannot end the docstring of the script."""
    lines = (plain(line) for line in text.splitlines())
    return "\n".join(lines).replace("\\", "\\\\").replace('"', "'")
