"""Define the evidence that the rules about cost check."""

from typing import Final

import msgspec

from harness.judging.rule import RuleMaker
from harness.project import ClientKind
from harness.results.cost import Cost
from harness.results.finding import Came


class CostEvidence(msgspec.Struct, frozen=True):
    """The evidence that a rule about cost checks: the measured cost and the kind of the client."""

    cost: Cost
    kind: ClientKind = "gateway"
    stopped: bool = False
    judged: frozenset[str] = frozenset()
    prefix: str = "cost."
    form: Came = ""
    unsent: bool = False


cost_rule: Final = RuleMaker[CostEvidence]()
