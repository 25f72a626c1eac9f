"""A declared policy takes from what bytes make one expect, and from nothing that authors say."""

import pytest
from msgspec.structs import replace

from harness.judging.declared import as_declared
from harness.judging.expectation import ALL_FIELDS, Expectation, ExpectedCall, ExpectedRejection
from harness.turns.deltas import FinishReason

DROPS = {"nameless": "drop"}
NAMELESS = Expectation(
    "strict", rejected=(ExpectedRejection(),), finish=FinishReason.TOOL_CALLS, judged=ALL_FIELDS
)
CALL = ExpectedCall("search", {})


@pytest.mark.parametrize("policies", [{}, {"nameless": "reject"}])
def test_who_declares_nothing_reports_all(policies: dict[str, str]) -> None:
    assert as_declared(NAMELESS, policies) == NAMELESS


def test_what_an_author_says_stands() -> None:
    authored = replace(NAMELESS, source="scenario")
    assert as_declared(authored, DROPS) == authored


def test_a_turn_of_nothing_but_nameless_calls_may_end_in_any_way() -> None:
    left = as_declared(NAMELESS, DROPS).judged
    assert left == ALL_FIELDS - {"rejected", "failure", "finish", "finish_raw"}
    failed = as_declared(replace(NAMELESS, failure="interrupted"), DROPS).judged
    assert failed == ALL_FIELDS - {"rejected"}


def test_beside_other_calls_only_the_report_is_left_open() -> None:
    beside = replace(NAMELESS, calls=(CALL,))
    assert as_declared(beside, DROPS).judged == ALL_FIELDS - {"rejected"}
    named = replace(NAMELESS, rejected=(ExpectedRejection("search"),))
    assert as_declared(named, DROPS) == named
