"""Group failures by their cause.

A cell fails for one cause, the cause of its worst finding. Violated SHOULD rules do not make a
cell fail, and each of their findings has a cause.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from harness.results.cause import inherited_from
from harness.results.duties import load_duties
from harness.results.finding import LEVELS, Level
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.scenario_evidence import ScenarioEvidence, evidence_rank

_Key: TypeAlias = tuple[Level, str, str]


class _Violation(NamedTuple):
    """A violation in one cell, and what shows that a server sends its stream."""

    result: Result
    outcome: Outcome
    evidence: ScenarioEvidence | None


class FailureCause(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cause for which cells of a normalizer or agent fail or violate a SHOULD rule.

    Fields:
        cause: the cause as text, as in `Result.causes`; "" if the cells failed without a finding.
        outcome: the worst outcome of these cells.
        cells: the number of these cells.
        cell: the id of the first of these cells.
        evidence: the best evidence of these cells that a server sends such a stream; None if no
            cell states any.
        level: MUST if the cells fail for this cause, else the level of the violated rule.
        quirks: the quirks of these cells, sorted.
        all_cells: the ids of these cells, those with the best evidence first.
    """

    normalizer: str
    cause: str
    outcome: Outcome
    cells: int
    cell: str
    level: Level = "MUST"
    evidence: ScenarioEvidence | None = None
    quirks: tuple[str, ...] = ()
    all_cells: tuple[str, ...] = ()

    @property
    def inherited_from(self) -> str:
        """The client whose library raised the exception; "" if it is the library under test."""
        return inherited_from(self.cause, self.normalizer)

    @property
    def text(self) -> str:
        """The cause, and the client from which this one inherits it; the outcome without one."""
        owner = self.inherited_from
        cause = self.cause or f"{self.outcome.value} without a finding"
        return f"{cause} (inherited from {owner})" if owner else cause

    @property
    def name(self) -> str:
        """What the client does, as the end of a sentence: `executes a call that was cut off`."""
        return cause_name(self.cause) or f"fails without a finding ({self.outcome.value})"

    @property
    def summary(self) -> "FailureCause":
        """This cause without `quirks` and `all_cells`, for machine-readable output."""
        return msgspec.structs.replace(self, quirks=(), all_cells=())


def cause_name(cause: str) -> str:
    """Return a cause as words; a cause of a rule that this harness does not know stays as it is."""
    head, _, detail = cause.partition(" · ")
    duty = load_duties().get(head)
    raised, separator, _ = head.partition(" in ")
    if separator and " " not in raised:
        return f"raises {raised}"
    if duty is None or not duty.fault:
        return cause
    is_message = head.endswith(("NO-CRASH", "NOT-INVENTED"))
    detail = detail.removeprefix("executed ")
    return f"{duty.fault} ({detail})" if detail and not is_message else duty.fault


def group_causes(results: Iterable[Result]) -> tuple[FailureCause, ...]:
    """Return all causes of `results`: MUST first, then the worst outcome, then the best evidence.

    Of these, the causes with the most cells come first.
    """
    found: dict[_Key, list[_Violation]] = defaultdict(list)
    for result in results:
        if result.outcome.fails:
            worst = result.evidence_of(result.findings[0]) if result.findings else result.evidence
            key: _Key = ("MUST", result.cause, result.normalizer)
            found[key].append(_Violation(result, result.outcome, worst))
        for finding, cause in result.causes:
            if finding.level != "MUST":
                key = (finding.level, cause, result.normalizer)
                evidence = result.evidence_of(finding)
                found[key].append(_Violation(result, finding.outcome, evidence))
    return tuple(sorted((_cause(*item) for item in found.items()), key=_worst_first))


def failing_causes(results: Iterable[Result]) -> tuple[FailureCause, ...]:
    """Return the causes for which cells fail, in the order of `group_causes`."""
    return tuple(each for each in group_causes(results) if each.level == "MUST")


def _cause(key: _Key, violations: Sequence[_Violation]) -> FailureCause:
    level, cause, normalizer = key
    ordered = sorted(violations, key=lambda it: (evidence_rank(it.evidence), it.result.cell))
    cells = tuple(dict.fromkeys(each.result.cell for each in ordered))
    return FailureCause(
        normalizer=normalizer,
        cause=cause,
        outcome=min((each.outcome for each in violations), key=lambda each: each.badness),
        cells=len(cells),
        cell=cells[0],
        level=level,
        evidence=ordered[0].evidence,
        quirks=tuple(sorted({quirk for each in violations for quirk in each.result.quirks})),
        all_cells=cells,
    )


def _worst_first(each: FailureCause) -> tuple[int, int, float, int, str, str]:
    worst = LEVELS.index(each.level), each.outcome.badness, evidence_rank(each.evidence)
    return *worst, -each.cells, each.cause, each.normalizer
