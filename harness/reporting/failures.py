"""A run -> its failures by signature, worst first, as every text output tells them.

Broken SHOULD and MAY rules come last: they are told, and fail no cell.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from harness.judging.results import Finding, Outcome
from harness.runs.gate import Gate, replay_command
from harness.runs.questions import FailureSignature, Questions
from harness.runs.run import Run


class Failure(msgspec.Struct, frozen=True):
    """Cells that fail in the same way.

    Fields:
        cell: the first of them.
        title: of its scenario.
        example: its finding; None for a failure without one.
        command: replays that cell.
        excused: how many of the cells the gate does not count.
    """

    signature: FailureSignature
    cell: str
    title: str
    example: Finding | None
    command: str
    excused: int


def list_failures(run: Run, gate: Gate) -> tuple[Failure, ...]:
    """Return what broke in `run`: first what fails cells, and of it first what is not excused."""
    with Questions(run) as questions:
        found = questions.failures_by_signature()
    told = tuple(_iter_failures(run, gate, found))
    return tuple(sorted(told, key=_sort_key))


def _sort_key(each: Failure) -> tuple[bool, bool]:
    return not is_must(each.signature), each.excused == each.signature.count


def _iter_failures(
    run: Run, gate: Gate, signatures: tuple[FailureSignature, ...]
) -> Iterator[Failure]:
    excused = {each.cell for each in gate.excused}
    results = {result.cell: result for result in run.results}
    selection = run.header.selection
    for signature in signatures:
        cell = next((cell for cell in signature.cells if cell not in excused), signature.cells[0])
        wanted = (signature.rule, signature.level, signature.outcome)
        matching = (
            each
            for each in results[cell].findings
            if (each.rule, each.level, each.outcome) == wanted
        )
        yield Failure(
            signature=signature,
            cell=cell,
            title=results[cell].title,
            example=next(matching, None),
            command=replay_command(cell, selection.paths, selection.options),
            excused=sum(cell in excused for cell in signature.cells),
        )


# What stands over them.
FAILING_NO_CELL: Final = "SHOULD and MAY rules broken, which fail no cell"


def is_must(signature: FailureSignature) -> bool:
    """Whether it is a way to fail: of the other rules none decides an outcome."""
    return signature.level == "MUST"


def headline(signature: FailureSignature) -> str:
    """Return one line that names a signature."""
    rule = signature.rule or "without a finding"
    outcome: Outcome = signature.outcome
    return f"{signature.normalizer}: {outcome.value}, {signature.level} {rule}"
