"""Group the failures of a run by cause, as the page and every text output list them.

Violated SHOULD rules come last, because they do not make a cell fail.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from harness.results.finding import Finding
from harness.results.result import Result
from harness.results.run import Run, Selection
from harness.results.scenario_evidence import ScenarioEvidence
from harness.verdicts.causes import FailureCause, group_causes
from harness.verdicts.gate import Gate, replay_command

FAILING_NO_CELL: Final = "SHOULD rules violated, which fail no cell"


class Failure(msgspec.Struct, frozen=True):
    """The cells of one normalizer or agent that fail for one cause.

    Fields:
        group: the cause and its cells.
        cell: the first cell, if possible one that the gate counts.
        title: the title of its scenario.
        example: a finding in that cell; None for a failure without a finding.
        evidence: what shows that a server sends the stream of that finding; None if not known.
        command: the command that replays that cell.
        accepted: how many of the cells the gate accepts.
    """

    group: FailureCause
    cell: str
    title: str
    example: Finding | None
    evidence: ScenarioEvidence | None
    command: str
    accepted: int

    @property
    def is_must(self) -> bool:
        """Whether the cause makes cells fail; a violated SHOULD rule does not."""
        return self.group.level == "MUST"

    @property
    def headline(self) -> str:
        """One line that names the cause."""
        found = self.group
        level = "" if self.is_must else f"{found.level} "
        cause = found.cause or "without a finding"
        return f"{found.normalizer}: {found.outcome.value}, {level}{cause}"


def list_failures(run: Run, gate: Gate) -> tuple[Failure, ...]:
    """Return the failures of `run`: MUST rules first, and of these first the ones not accepted."""
    accepted = {each.cell for each in gate.excused}
    results = {result.cell: result for result in run.results}
    selection = run.header.selection
    found = (failure_of(each, results, selection, accepted) for each in group_causes(run.results))
    return tuple(
        sorted(found, key=lambda each: (not each.is_must, each.accepted == each.group.cells))
    )


def failure_of(
    group: FailureCause,
    results: Mapping[str, Result],
    selection: Selection,
    accepted: Collection[str] = (),
) -> Failure:
    """Return the failure for `group`, with an example cell and the command that replays it.

    Args:
        group: the cause and its cells.
        results: cell -> result.
        selection: the selection of the run.
        accepted: cells that the gate accepts.
    """
    cell = next((cell for cell in group.all_cells if cell not in accepted), group.cell)
    result = results[cell]
    matching = (
        each for each, cause in result.causes if each.level == group.level and cause == group.cause
    )
    example = next(matching, None)
    return Failure(
        group=group,
        cell=cell,
        title=result.title,
        example=example,
        evidence=result.evidence_of(example) if example else result.evidence,
        command=replay_command(cell, selection.paths, selection.options),
        accepted=sum(cell in accepted for cell in group.all_cells),
    )
