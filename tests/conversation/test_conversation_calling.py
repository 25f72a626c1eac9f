"""Calls of one turn: each gets one result, in order, and the budget counts by value."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.conversation.calling import CallBudget, run_calls
from harness.conversation.task import ToolFailed
from harness.turns.deltas import ToolCall
from tests.conversation.conversation_provider import FAILING, TOOLS, WEATHER, Provider, said

NAMES = st.sampled_from([*(tool.name for tool in TOOLS), "nope", ""])
ARGUMENTS = st.sampled_from(['{"city": "Oslo"}', '{"city":"Oslo" }', "{}", "", "Oslo", '{"a'])
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS), max_size=6).map(
    lambda pairs: tuple(ToolCall(f"c{at}", *pair) for at, pair in enumerate(pairs))
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=5,
)


@given(calls=CALLS, most=st.integers(1, 3))
def test_every_call_within_the_budget_gets_one_result_and_only_good_ones_run(
    calls: tuple[ToolCall, ...], most: int
) -> None:
    provider = Provider(said("-"))
    ran = run_calls(provider.task(), calls, CallBudget(most))
    budget = CallBudget(most)
    within = [call.id for call in calls if budget.spend(call.name, call.arguments)]
    assert [result.call_id for result in ran.results] == within
    assert len(ran.executed) == len(provider.executed)
    by_id = {call.id: call for call in calls}
    assert [by_id[call_id].name for call_id in ran.executed] == [
        name for name, _ in provider.executed
    ]
    for result in ran.results:
        good = result.call_id in ran.executed and result.name != FAILING.name
        assert bool(result.error) is not good
    made = [json.dumps(call, sort_keys=True) for call in provider.executed]
    assert all(made.count(call) <= most for call in made)


@given(value=st.dictionaries(st.text(max_size=3), VALUES, max_size=3), most=st.integers(1, 3))
def test_two_spellings_of_one_value_are_the_same_call(value: dict[str, Any], most: int) -> None:
    budget = CallBudget(most)
    spellings = (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1))
    spent = [budget.spend("f", spellings[turn % 2]) for turn in range(most + 1)]
    assert spent == [True] * most + [False]
    assert budget.exhausted
    assert budget.spend("g", spellings[0])


def test_a_tool_that_is_declared_and_does_not_exist_did_not_run() -> None:
    def call_tool(name: str, arguments: dict[str, Any]) -> object:
        raise KeyError(name, arguments)

    task = Provider(said("-")).task()
    calls = (ToolCall("c", WEATHER.name, '{"city": "Oslo"}'),)
    ran = run_calls(
        replace(task, call_tool=call_tool), calls, CallBudget(1), shown_names=("get_weather",)
    )
    assert ran.executed == ()
    assert "The tools are: get_weather." in ran.results[0].error


def test_a_failure_without_words_is_an_error_too() -> None:
    def call_tool(name: str, arguments: dict[str, Any]) -> object:
        del name, arguments
        raise ToolFailed

    task = replace(Provider(said("-")).task(), call_tool=call_tool)
    ran = run_calls(task, (ToolCall("c", FAILING.name, "{}"),), CallBudget(1))
    assert (ran.executed, ran.results[0].error) == (("c",), "ToolFailed")


def test_the_input_of_a_custom_tool_is_free_text() -> None:
    provider = Provider(said("-"))
    run_calls(provider.task(), (ToolCall("c", FAILING.name, "ls -l", "custom"),), CallBudget(1))
    assert provider.executed == [(FAILING.name, {"input": "ls -l"})]


def test_an_action_of_the_client_is_answered_and_not_executed_by_a_tool_of_its_name() -> None:
    provider = Provider(said("-"))
    action = ToolCall("c", WEATHER.name, '{"city": "Oslo"}', "action")
    ran = run_calls(provider.task(), (action,), CallBudget(1))
    assert (provider.executed, ran.executed) == ([], ())
    assert ran.results[0].error
