"""What each provider of openai-chat writes is read back to the same turn."""

import json
from typing import Final

import pytest
from hypothesis import assume, given

from harness.dialects.openai_chat.write import WriterOptions, write
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
# Each with its evidence from recorded streams.
PROFILES: Final[dict[str, WriterOptions]] = {
    # 6 of 6 without [DONE], 4 of 5 calls in one chunk.
    "cerebras": WriterOptions(arguments="with-start", reasoning_field="reasoning", done=False),
    # The seed story (id and name once, then ""), and 1 of 1 stream with a call: "" as the later
    # id, the type in each delta. https://help.aliyun.com/zh/model-studio/qwen-function-calling
    "dashscope": WriterOptions(
        later_id="empty", later_name="empty", call_type="always", idle="null"
    ),
    # 0 of 47 streams have a chunk of usage alone. https://api-docs.deepseek.com/api/create-chat-completion
    "deepseek": WriterOptions(usage="with-finish"),
    # 5 of 5 streams with a call: whole, no index, the finish reason beside it; 12 of 12 without
    # [DONE] and without a role.
    "gpustack": WriterOptions(
        arguments="with-start", index="absent", finish="with-call", done=False, role="absent"
    ),
    # 18 of 18 streams with a call: each whole, in one chunk.
    "groq": WriterOptions(arguments="with-start", reasoning_field="reasoning"),
    # 8 of 8 streams with a call: whole; 9 of 17 name the role in each delta.
    "ollama": WriterOptions(arguments="with-start", reasoning_field="reasoning", role="each"),
    # 163 of 197 streams have the comment, 188 the role in each delta, 9 a chunk of usage alone.
    # https://openrouter.ai/docs/api-reference/streaming
    "openrouter": WriterOptions(
        comment=" OPENROUTER PROCESSING",
        reasoning_field="reasoning",
        role="each",
        usage="with-finish",
    ),
    # 2 of 2 streams with a call: null as the later id and name, the type in each delta.
    "venice": WriterOptions(later_id="null", later_name="null", call_type="always"),
    # Volcano Ark. https://www.volcengine.com/docs/82379/1449722: the role in each delta, a call
    # whole beside its finish reason, `[DONE]`; recorded chunks have `"usage": null` and no finish
    # reason before the last.
    "volcengine": WriterOptions(
        arguments="with-start",
        finish="with-call",
        role="each",
        open_finish="absent",
        open_usage="null",
        response_id="021760000000000000000000000000000000000000000000000",
    ),
    # 15 of 15 streams with a call: each whole, in one chunk.
    "xai": WriterOptions(arguments="with-start"),
    # 8 of 8 streams with a call: whole; 10 of 10 name the role in each delta.
    "zai": WriterOptions(arguments="with-start", role="each", usage="with-finish"),
}

each_profile = pytest.mark.parametrize("provider", sorted(PROFILES))
# As many examples in all as one property has, not as many for each provider.


def _wanted(script: TurnScript) -> Turn:
    finish = script.finish
    if script.calls and finish.reason is FinishReason.STOP:
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


def _may_have_been_cut(script: TurnScript) -> bool:
    cut = script.finish.reason in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)
    return cut and any(not fragments for _, _, fragments in script.calls)


@each_profile
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
