from hypothesis import given, settings, HealthCheck
from tests.judging.test_judging_strict_anthropic import *
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=True)
@given(BODIES)
def test_f(body):
    assert_agrees(interaction(body))
    ends = sse(ended("end_turn"), STOPPED)
    assert_agrees(interaction(sse(STARTED)+body+ends))
