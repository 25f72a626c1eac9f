"""Group the failures of a run by cause, as the page and every text output list them.

Violated SHOULD rules come last, because they do not make a cell fail.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from harness.results.finding import Finding
from harness.results.result import Result
from harness.results.run import Header, Run
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
        repro: the command that writes a script which shows its failure; "" if there is none.
        accepted: how many of the cells the gate accepts.
    """

    group: FailureCause
    cell: str
    title: str
    example: Finding | None
    evidence: ScenarioEvidence | None
    command: str
    repro: str
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
        rule = "" if found.name == found.cause else f": {found.cause.partition(' · ')[0]}"
        return f"{found.normalizer}: {found.outcome.value}, {level}{found.name}{rule}".rstrip(": ")

    @property
    def to_copy(self) -> str:
        """The command that shows the failure to its reader: a script if there is one."""
        return self.repro or self.command


def list_failures(run: Run, gate: Gate) -> tuple[Failure, ...]:
    """Return the failures of `run`: MUST rules first, and of these first the ones not accepted."""
    accepted = {each.cell for each in gate.excused}
    results = {result.cell: result for result in run.results}
    found = (failure_of(each, results, run.header, accepted) for each in group_causes(run.results))
    return tuple(
        sorted(found, key=lambda each: (not each.is_must, each.accepted == each.group.cells))
    )


def failure_of(
    group: FailureCause,
    results: Mapping[str, Result],
    header: Header,
    accepted: Collection[str] = (),
) -> Failure:
    """Return the failure for `group`, with an example cell and the command that replays it.

    Args:
        group: the cause and its cells.
        results: cell -> result.
        header: the header of the run.
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
        command=replay_command(cell, header.selection.paths, header.selection.options),
        repro=repro_command(
            result, header.selection.paths, has_script=header.has_script(result.normalizer)
        ),
        accepted=sum(cell in accepted for cell in group.all_cells),
    )


def repro_command(result: Result, places: Sequence[str], *, has_script: bool) -> str:
    """Return the command that writes a script which shows the failure of `result`.

    It is "" for conversations and for clients without scripts.
    """
    if result.kind != "turns" or not has_script:
        return ""
    return replay_command(result.cell, places).replace("harness replay", "harness repro", 1)
