"""Write a script that shows a failure of a gateway to its maintainers, without this package.

It plays the bytes of the upstream on a port, sends the request to the gateway with curl, and prints
what arrived upstream and what the gateway answered.
"""

from importlib import resources
from string import Template
from typing import Final

from harness.reporting.visible import plain
from harness.repro.code import literal, reads_literal
from harness.results.case import Crossing
from harness.results.duties import load_duties
from harness.results.result import Result
from harness.wire.cuts import split
from harness.wire.interaction import Interaction

_TEMPLATE: Final = "gateway.py.txt"
_MOST_FINDINGS: Final = 5


def gateway_script(result: Result, interaction: Interaction, crossing: Crossing) -> str:
    """Return the source of a script that shows the findings of `result`.

    Args:
        result: the result of a cell of a gateway that failed.
        interaction: the response of the upstream on which it failed.
        crossing: the request to the gateway.
    """
    text = resources.files(__package__).joinpath(_TEMPLATE).read_text(encoding="utf-8")
    shown = result.reported[:_MOST_FINDINGS]
    duty = load_duties()[shown[0].rule]
    lines = [
        f"{each.rule} at {plain(each.path)}: expected {plain(each.expected)}, "
        f"found {plain(each.actual)}"
        for each in shown
    ]
    return Template(text).substitute(
        title=_comment(result.title),
        duty=_comment(duty.duty),
        findings=_comment("\n".join(lines)),
        scenario=plain(result.scenario),
        url=literal(crossing.uri, ".py"),
        request=literal(crossing.asked, ".py"),
        status=interaction.status,
        content_type=literal(interaction.header("content-type") or "text/event-stream", ".py"),
        reads=reads_literal(split(interaction.body, result.chunking), ".py"),
        breaks_off=literal(bool(interaction.broken), ".py"),
    )


def _comment(text: str) -> str:
    """Return `text` so that it cannot end the docstring of the script."""
    lines = (plain(line) for line in text.splitlines())
    return "\n".join(lines).replace("\\", "\\\\").replace('"', "'")
