"""Each provider's spelling of openai-chat reads back to the same turn, and is used."""

import json

import pytest
from hypothesis import assume, given, settings

from harness.dialects.openai_chat.write import write
from harness.dialects.openai_chat.writer_options import PROFILES, WriterOptions
from harness.fuzzing.strategies import TurnScript, turn_scripts
from harness.providers import PROVIDER_NAMES
from harness.turns.deltas import Finish, FinishReason, ToolCallEnd, ToolCallStart
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.scripted_turns import assert_same, read_turn

FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    Finish(FinishReason.LENGTH, "length"),
    Finish(FinishReason.CONTENT_FILTER, "content_filter"),
)
each_profile = pytest.mark.parametrize("provider", sorted(PROFILES))
# As many examples in all as one property has, not as many for each provider.
fewer_examples = settings(max_examples=max(10, settings().max_examples // 4))


def _wanted(script: TurnScript) -> Turn:
    finish = script.finish
    if script.calls and finish.reason is FinishReason.STOP:
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


def _may_have_been_cut(script: TurnScript) -> bool:
    cut = script.finish.reason in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)
    return cut and any(not fragments for _, _, fragments in script.calls)


@each_profile
@fewer_examples
@given(script=turn_scripts(FINISHES))
def test_each_profile_reads_back_to_the_same_turn(provider: str, script: TurnScript) -> None:
    assume(not _may_have_been_cut(script))
    body = b"".join(write(script.deltas(), PROFILES[provider]))
    assert_same(read_turn("openai-chat", body), _wanted(script))


@each_profile
def test_each_profile_is_of_a_known_provider_and_says_something(provider: str) -> None:
    assert provider in PROVIDER_NAMES
    assert PROFILES[provider] != WriterOptions()


def test_ark_spells_a_call_whole_beside_its_finish_reason_and_names_the_role_each_time() -> None:
    deltas = (ToolCallStart(0, "c1", "f"), ToolCallEnd(0), Finish(FinishReason.TOOL_CALLS, ""))
    call, done = write(deltas, PROFILES["volcengine"])
    choice = json.loads(call.removeprefix(b"data: "))["choices"][0]
    function = {"name": "f", "arguments": ""}
    assert choice == {
        "index": 0,
        "delta": {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}],
        },
        "finish_reason": "tool_calls",
    }
    assert done == b"data: [DONE]\n\n"
