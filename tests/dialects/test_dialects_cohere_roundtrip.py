"""Any deltas, in any spelling of a Cohere stream, cut anywhere, fold to the same turn."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.cohere.write import write
from harness.dialects.cohere.writer_options import WriterOptions
from harness.fuzzing.strategies import TurnScript, turn_scripts, writer_options
from harness.turns.deltas import Finish, FinishReason, ReasoningDelta, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.scripted_turns import assert_same, read_turn

Json = dict[str, Any]
FINISHES = (
    Finish(FinishReason.STOP, "COMPLETE"),
    Finish(FinishReason.STOP, "STOP_SEQUENCE"),
    Finish(FinishReason.TOOL_CALLS, "TOOL_CALL"),
    Finish(FinishReason.LENGTH, "MAX_TOKENS"),
    Finish(FinishReason.CONTENT_FILTER, "ERROR_TOXIC"),
    Finish(FinishReason.OTHER, "none of ours"),
)
SPELLINGS = writer_options("cohere", response_id=("", "r1"))


def _wanted(script: TurnScript) -> Turn:
    finish = script.finish
    if script.calls and finish.reason in (FinishReason.STOP, FinishReason.OTHER):
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


def _may_have_been_cut(script: TurnScript) -> bool:
    """Without arguments, a call of a turn that was cut short may have been cut off before them."""
    whole = (FinishReason.STOP, FinishReason.TOOL_CALLS)
    return script.finish.reason not in whole and any(
        not fragments for _, _, fragments in script.calls
    )


@given(turn_scripts(FINISHES), SPELLINGS)
def test_what_is_written_in_any_spelling_is_read_to_the_same_turn(
    script: TurnScript, spelling: WriterOptions
) -> None:
    assume(not _may_have_been_cut(script))
    body = b"".join(write(script.deltas(), spelling))
    assert_same(read_turn("cohere", body), _wanted(script), ids=spelling.version == "v2")


def _text_of(script: TurnScript, kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(delta.text for delta in script.before if isinstance(delta, kind))


def _usage(script: TurnScript) -> Json:
    if script.usage is None:
        return {}
    tokens = {
        "input_tokens": script.usage.input_tokens,
        "output_tokens": script.usage.output_tokens,
    }
    return {"tokens": tokens, "billed_units": {"input_tokens": 1, "output_tokens": 1}}


@given(script=turn_scripts(FINISHES), plan=st.booleans())
def test_a_complete_response_of_v2_is_the_same_turn(script: TurnScript, *, plan: bool) -> None:
    assume(not _may_have_been_cut(script))
    thoughts = _text_of(script, ReasoningDelta)
    thinking = [] if plan else [{"type": "thinking", "thinking": thoughts}]
    calls = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": "".join(pieces)}}
        for i, name, pieces in script.calls
    ]
    content = [*thinking, {"type": "text", "text": _text_of(script, TextDelta)}]
    message: Json = {"role": "assistant", "content": content, "tool_calls": calls or None}
    message |= {"tool_plan": thoughts} if plan else {}
    value = {
        "id": "r1",
        "finish_reason": script.finish.raw,
        "message": message,
        "usage": _usage(script),
    }
    body = json.dumps(value, indent=1).encode()
    assert_same(read_turn("cohere", body), _wanted(script))


@given(turn_scripts(FINISHES))
def test_a_complete_response_of_v1_is_the_same_turn(script: TurnScript) -> None:
    assume(not _may_have_been_cut(script))
    # Its one text is the answer, or the plan where there are calls.
    kind = ReasoningDelta if script.calls else TextDelta
    before = tuple(delta for delta in script.before if isinstance(delta, kind))
    script = TurnScript(before, script.calls, script.usage, script.finish)
    calls = [
        {"name": name, "parameters": json.loads("".join(pieces) or "{}")}
        for _, name, pieces in script.calls
    ]
    value = {
        "generation_id": "g1",
        "text": _text_of(script, kind),
        "tool_calls": calls,
        "finish_reason": script.finish.raw,
        "meta": _usage(script),
    }
    turn = read_turn("cohere", json.dumps(value).encode())
    assert_same(turn, _wanted(script), ids=False)
