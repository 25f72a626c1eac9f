"""What the rules about cost look at."""

from typing import Final

import msgspec

from harness.judging.rule import RuleMaker
from harness.project import ClientKind
from harness.results.cost import Cost
from harness.results.finding import Came


class CostEvidence(msgspec.Struct, frozen=True):
    """The evidence for a rule about cost: a measured client, and the kind that it declares."""

    cost: Cost
    kind: ClientKind = "gateway"
    stopped: bool = False
    judged: frozenset[str] = frozenset()
    prefix: str = "cost."
    form: Came = ""


cost_rule: Final = RuleMaker[CostEvidence]()
