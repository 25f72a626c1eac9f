"""A run -> workflow commands that GitHub shows as annotations: nine at most, and "N more".

A line of ours is one command, whatever a stream or a name says: line ends and the signs of the
syntax are escaped.
"""

from collections.abc import Iterator

from harness.reporting.failing import Failing, decides, failing, headline
from harness.reporting.visible import marked, plain
from harness.runs.counted import counted
from harness.runs.gate import Gate
from harness.runs.run import Run

# GitHub shows ten errors of a step; the tenth says how many there are.
MOST = 9

_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_TITLE = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def annotations(run: Run, gate: Gate) -> Iterator[str]:
    """Yield the commands; none where the gate passes."""
    if gate.verdict == "pass":
        return
    failed = [
        each
        for each in failing(run, gate)
        if decides(each.signature) and each.excused < each.signature.count
    ]
    told = [*map(_failure, failed)] or [_command("gate", reason) for reason in gate.reasons]
    yield from told[:MOST]
    if len(told) > MOST:
        yield _command("harness", f"{len(told) - MOST} more kinds of failure: see the report")


def _failure(each: Failing) -> str:
    found = each.example
    differs = f"\nexpected {plain(found.expected)}, actual {plain(found.actual)}" if found else ""
    text = f"{counted(each.signature.count, 'cell')}, such as {marked(each.cell)}{differs}"
    return _command(headline(each.signature), f"{text}\n{marked(each.command)}")


def _command(title: str, text: str) -> str:
    return f"::error title={_escaped(plain(title), _IN_TITLE)}::{_escaped(text, _IN_TEXT)}"


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(char, char) for char in text)
