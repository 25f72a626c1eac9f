"""The suite's own gateway conforms in every API that passes through, and its answers keep B."""

import pytest

from harness.dialects.table import DIALECTS
from harness.judging.judge import judge_subject
from harness.normalizers.own_gateway import OwnGateway, own_gateway
from tests.judging.judging_samples import IS_DEEP, shipped_subjects

ASKED = sorted(name for name, dialect in DIALECTS.items() if dialect.build_request)
PAIRS = [*((name, name) for name in ASKED), ("openai-chat", "anthropic")]


@pytest.mark.parametrize(("upstream", "front"), PAIRS)
def test_the_own_gateway_conforms(upstream: str, front: str) -> None:
    gateway = own_gateway(OwnGateway(front), [upstream])
    assert (gateway.hides, gateway.policies) == (frozenset(), {})
    subjects = [
        each
        for each in shipped_subjects()
        if any(it.dialect == upstream for it in each.cassette.interactions)
    ]
    judged = 0
    for subject in subjects[:: 1 if IS_DEEP else 3]:
        result, _ = judge_subject(subject, gateway, cuts="whole")
        judged += result.outcome.conforms
        found = [each for each in result.findings if each.level == "MUST"]
        assert (result.outcome.fails, found) == (False, []), subject.id
    assert judged
