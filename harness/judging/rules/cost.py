"""Define rules about cost; `harness.results.cost` has the limits."""

from collections.abc import Iterator

from harness.judging.cost import CostEvidence, cost_rule
from harness.judging.rule import Violation, findings
from harness.project import ClientKind
from harness.results.cost import Cost, beyond_limits
from harness.results.finding import Finding
from harness.results.outcome import Outcome


@cost_rule("COST-TIME", Outcome.MISMATCH, of="cost")
def _time(evidence: CostEvidence) -> Iterator[Violation]:
    """Check the time for the shortest stream, because COST-GROWTH judges longer ones."""
    return _beyond(evidence, "time")


@cost_rule("COST-GROWTH", Outcome.MISMATCH, of="cost")
def _growth(evidence: CostEvidence) -> Iterator[Violation]:
    return _beyond(evidence, "growth")


@cost_rule("COST-MEMORY", Outcome.MISMATCH, of="cost")
def _memory(evidence: CostEvidence) -> Iterator[Violation]:
    return _beyond(evidence, "memory")


@cost_rule("COST-FIRST-TEXT", Outcome.MISMATCH, of="cost")
def _first_text(evidence: CostEvidence) -> Iterator[Violation]:
    return _beyond(evidence, "held_back")


# A client that holds the whole stream back violates only the rule about text.
@cost_rule("COST-FIRST-ARGUMENTS", Outcome.MISMATCH, of="cost", yields_to=("COST-FIRST-TEXT",))
def _first_arguments(evidence: CostEvidence) -> Iterator[Violation]:
    return _beyond(evidence, "held_arguments")


def _beyond(evidence: CostEvidence, field: str) -> Iterator[Violation]:
    found = beyond_limits(evidence.cost)
    if field in found:
        yield Violation(field, *found[field])


def cost_findings(cost: Cost, kind: ClientKind) -> list[Finding]:
    """Return the findings for the measured cost of a client of the kind `kind`."""
    return findings(cost_rule.of_module(__name__), CostEvidence(cost, kind))
