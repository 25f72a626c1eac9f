"""What the rules about cost look at."""

from typing import Final

import msgspec

from harness.judging.rule import RuleMaker
from harness.project import ClientKind
from harness.results.cost import Cost
from harness.results.finding import Came


class CostEvidence(msgspec.Struct, frozen=True):
    """What a rule about cost looks at: a measured client, and what it promises."""

    cost: Cost
    kind: ClientKind = "gateway"
    stopped: bool = False
    judged: frozenset[str] = frozenset()
    prefix: str = "cost."
    form: Came = ""


cost_rule: Final = RuleMaker[CostEvidence]()
