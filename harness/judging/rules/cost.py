"""Rules about cost. A limit is a ratio or a number of bytes, so that machines agree on it."""

from collections.abc import Iterator
from typing import Final

from harness.judging.cost import CostEvidence, cost_rule
from harness.judging.rule import Violation, findings
from harness.project import ClientKind
from harness.results.cost import Cost
from harness.results.finding import Finding
from harness.results.outcome import Outcome

# The floor is about 1 microsecond for a delta. At 500, one core reads 2,000 deltas in a second,
# which is about what the fastest providers send in one stream.
MOST_TIME: Final = 500.0
# 1.0 is linear, and 8.0 quadratic if the longest stream has 8 times the deltas. Beyond 1.75, half
# of the time of the longest stream is quadratic. A garbage collector alone takes up to 1.4.
MOST_GROWTH: Final = 1.75
# Once the body, and its text again. More is needed only by a client that keeps decoded events.
MOST_MEMORY: Final = 2.0
# One TLS record (RFC 8446, section 5.1): a client cannot decrypt less, so it may wait for it.
MOST_HELD_BACK: Final = 1 << 14


@cost_rule("COST-TIME", Outcome.MISMATCH, of="cost")
def _time(evidence: CostEvidence) -> Iterator[Violation]:
    """Check the shortest stream, because COST-GROWTH judges the influence of the length."""
    cost = evidence.cost
    if cost.time is not None and cost.time / (cost.growth or 1.0) > MOST_TIME:
        shortest = cost.time / (cost.growth or 1.0)
        yield Violation("time", f"at most {MOST_TIME:g} times the floor", f"{shortest:.0f} times")


@cost_rule("COST-GROWTH", Outcome.MISMATCH, of="cost")
def _growth(evidence: CostEvidence) -> Iterator[Violation]:
    cost = evidence.cost
    if cost.growth is not None and cost.growth > MOST_GROWTH:
        expected = f"at most {MOST_GROWTH:g} times from {cost.shortest} to {cost.deltas} deltas"
        yield Violation("growth", expected, f"{cost.growth:.2f} times")


@cost_rule("COST-MEMORY", Outcome.MISMATCH, of="cost")
def _memory(evidence: CostEvidence) -> Iterator[Violation]:
    memory = evidence.cost.memory
    if memory is not None and memory > MOST_MEMORY:
        expected = f"at most {MOST_MEMORY:g} bytes for each byte of the body"
        yield Violation("memory", expected, f"{memory:.1f} bytes")


@cost_rule("COST-FIRST-TEXT", Outcome.MISMATCH, of="cost")
def _first_text(evidence: CostEvidence) -> Iterator[Violation]:
    held_back = evidence.cost.held_back
    if held_back is not None and held_back > MOST_HELD_BACK:
        expected = f"at most {MOST_HELD_BACK} bytes held back"
        yield Violation("held_back", expected, f"{held_back} of {evidence.cost.body} bytes")


def cost_findings(cost: Cost, kind: ClientKind) -> list[Finding]:
    """Return the violations of a measured client of the kind `kind`."""
    return findings(cost_rule.of_module(__name__), CostEvidence(cost, kind))
