"""The cause of a finding is what the client did, in words that are equal for one bug."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import adapters
from harness.results.cause import OWNERS, cause_of, inherited_from
from harness.results.finding import Finding
from harness.results.outcome import Outcome

NUMBERS = st.integers(0, 10**6)


def found(rule: str, expected: str = "a", actual: str = "b", raised: str = "") -> Finding:
    return Finding(rule, "MUST", Outcome.MISMATCH, "turns[0].x", expected, actual, raised=raised)


@pytest.mark.parametrize(
    ("rule", "expected", "actual", "cause"),
    [
        ("CALL-NAME-EXACT", "read", "readread", "CALL-NAME-EXACT · doubled"),
        ("CALL-NAME-EXACT", "read", "readme", "CALL-NAME-EXACT · with more"),
        ("CALL-ARGUMENTS-EXACT", '{"a":1}', "{}", "CALL-ARGUMENTS-EXACT · lost"),
        ("TEXT-EXACT", "Hello", "Hel", "TEXT-EXACT · a part"),
        ("TEXT-EXACT", "", "Hello", "TEXT-EXACT · invented"),
        ("TEXT-EXACT", "Hello", "Howdy", "TEXT-EXACT · changed"),
        *[
            ("BROKEN-CALL-NOT-RUN", "nothing", f"read {arguments}", f"BROKEN-CALL-NOT-RUN · {what}")
            for arguments, what in (
                ("{}", "executed without arguments"),
                ('{"path": "a"}', "executed with a part"),
            )
        ],
        ("FAILURE-REPORTED", "1301", "none", "FAILURE-REPORTED · lost: the error of the provider"),
        ("FAILURE-REPORTED", "refusal", "none", "FAILURE-REPORTED · lost: refusal"),
        ("FINISH-REASON", "stop", "other", "FINISH-REASON · other for stop"),
        ("CUT-INVARIANT", "x", "y", "CUT-INVARIANT"),
    ],
)
def test_what_came_out(rule: str, expected: str, actual: str, cause: str) -> None:
    assert cause_of(found(rule, expected, actual)) == cause


def test_a_lost_call_differs_by_what_came_out_in_its_place() -> None:
    lost = found("CALLS-KEPT")
    causes = [cause_of(lost, 0, "stop"), cause_of(lost, 0, ""), cause_of(lost, 1, "stop")]
    assert causes == [
        "CALLS-KEPT · no call, finish stop",
        "CALLS-KEPT · no call, finish none",
        "CALLS-KEPT · other calls came out",
    ]


@given(NUMBERS, NUMBERS)
def test_the_values_in_a_message_do_not_make_another_cause(one: int, other: int) -> None:
    def raised(number: int, kind: str = "TypeError") -> Finding:
        message = f"{kind}: bad value '{number}' at {number}"
        return found("NO-CRASH", actual=message, raised=f"{kind} in lib:read")

    assert cause_of(raised(one)) == cause_of(raised(other))
    assert cause_of(raised(one)) == "TypeError in lib:read · bad value … at …"
    assert cause_of(raised(one, "JSONDecodeError")) == "JSONDecodeError in lib:read"


def test_two_messages_of_one_function_are_two_causes() -> None:
    messages = ("ValueError: no index", "ValueError: no content")
    causes = {cause_of(found("NO-CRASH", actual=it, raised="ValueError in m:f")) for it in messages}
    assert len(causes) == len(messages)


@pytest.mark.parametrize(
    ("cause", "client", "owner"),
    [
        ("TypeError in openai._streaming:read · no", "haystack", "openai-sdk"),
        ("TypeError in openai._streaming:read", "openai-sdk", ""),
        ("TypeError in openai.lib.responses:read", "openai-sdk-responses", ""),
        ("TypeError in agents.run:Runner.run", "openai-agents-loop", ""),
        ("TypeError in mine:read", "mine", ""),
        ("TEXT-EXACT · lost", "haystack", ""),
        ("FAILURE-NOT-INVENTED · key in openai: x", "haystack", ""),
    ],
)
def test_a_cause_is_inherited_from_the_client_that_tests_the_package(
    cause: str, client: str, owner: str
) -> None:
    assert inherited_from(cause, client) == owner


def test_each_adapter_owns_the_package_that_it_tests() -> None:
    found = [it for it in vars(adapters).values() if isinstance(it, Normalizer)]
    owners = {it.needs[0].partition(".")[0]: it.name for it in reversed(found)}
    assert {package: OWNERS[package] for package in owners} == owners
