"""A verdict -> badge.json, in the schema of an endpoint badge of shields.io."""

from typing import Literal

import msgspec

from harness.judging.results import Outcome
from harness.runs.gate import Gate, Verdict
from harness.runs.run import Run

_COLOURS: dict[Verdict, str] = {
    "pass": "brightgreen",
    "fail": "red",
    "inconclusive": "yellow",
    "nothing": "lightgrey",
}


class Badge(msgspec.Struct, frozen=True, rename="camel"):
    """The keys that the badge service reads."""

    label: str
    message: str
    color: str
    schema_version: Literal[1] = 1


def badge(run: Run, gate: Gate) -> Badge:
    """Return the verdict and how many cells conform."""
    judged = [each for each in run.results if each.outcome is not Outcome.UNSUPPORTED]
    conform = sum(each.outcome.conforms for each in judged)
    message = f"{gate.verdict}, {conform}/{len(judged)} conform"
    return Badge("tool calls", message, _COLOURS[gate.verdict])
