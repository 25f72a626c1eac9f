"""The failures of a run by signature, as the page and every text output list them.

Violated SHOULD and MAY rules come last: they are reported, and fail no cell.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from harness.judging.results import Finding, Result
from harness.runs.gate import Gate, replay_command
from harness.runs.questions import FailureSignature, Questions
from harness.runs.run import Run, Selection

FAILING_NO_CELL: Final = "SHOULD and MAY rules violated, which fail no cell"


class Failure(msgspec.Struct, frozen=True):
    """Cells that fail with one signature.

    Fields:
        cell: the first cell, if possible one that the gate counts.
        title: of its scenario.
        example: its finding; None for a failure without one.
        command: replays that cell.
        accepted: how many of the cells the gate does not count.
    """

    signature: FailureSignature
    cell: str
    title: str
    example: Finding | None
    command: str
    accepted: int

    @property
    def is_must(self) -> bool:
        """Whether the rule fails cells: SHOULD and MAY rules do not."""
        return self.signature.level == "MUST"

    @property
    def headline(self) -> str:
        """One line that names the signature."""
        found = self.signature
        rule = found.rule or "without a finding"
        return f"{found.normalizer}: {found.outcome.value}, {found.level} {rule}"


def list_failures(run: Run, gate: Gate) -> tuple[Failure, ...]:
    """Return the failures of `run`: MUST rules first, and of them first those not accepted."""
    with Questions(run) as store:
        signatures = store.failures_by_signature()
    accepted = {each.cell for each in gate.excused}
    results = {result.cell: result for result in run.results}
    found = (failure_of(each, results, run.header.selection, accepted) for each in signatures)
    return tuple(
        sorted(found, key=lambda each: (not each.is_must, each.accepted == each.signature.count))
    )


def failure_of(
    signature: FailureSignature,
    results: Mapping[str, Result],
    selection: Selection,
    accepted: Collection[str] = (),
) -> Failure:
    """Return the failure of `signature`.

    Args:
        signature: as the database groups failures.
        results: by cell.
        selection: of the run.
        accepted: cells that the gate does not count.
    """
    cell = next((cell for cell in signature.cells if cell not in accepted), signature.cells[0])
    key = (signature.rule, signature.level, signature.outcome)
    matching = (
        each for each in results[cell].findings if (each.rule, each.level, each.outcome) == key
    )
    return Failure(
        signature=signature,
        cell=cell,
        title=results[cell].title,
        example=next(matching, None),
        command=replay_command(cell, selection.paths, selection.options),
        accepted=sum(cell in accepted for cell in signature.cells),
    )
