"""Any deltas, in any spelling of an Ollama stream, cut anywhere, fold to the same turn."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.ollama.write import write
from harness.dialects.ollama.writer_options import WriterOptions
from harness.fuzzing.strategies import TurnScript, turn_scripts, writer_options
from harness.turns.deltas import Finish, FinishReason
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.scripted_turns import assert_same, read_turn

Json = dict[str, Any]
FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.LENGTH, "length"),
    Finish(FinishReason.OTHER, "load"),
    Finish(FinishReason.OTHER, "none of ours"),
)
SPELLINGS = writer_options("ollama")


def _wanted(script: TurnScript, spelling: WriterOptions) -> Turn:
    finish = script.finish if spelling.done_reason else Finish(FinishReason.STOP, "")
    if script.calls and finish.reason in (FinishReason.STOP, FinishReason.OTHER):
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


def _may_have_been_cut(script: TurnScript) -> bool:
    """Without arguments, a call of a turn that was cut short may have been cut off before them."""
    return script.finish.reason is not FinishReason.STOP and any(
        not fragments for _, _, fragments in script.calls
    )


@given(turn_scripts(FINISHES), SPELLINGS)
def test_what_is_written_in_any_spelling_is_read_to_the_same_turn(
    script: TurnScript, spelling: WriterOptions
) -> None:
    assume(not _may_have_been_cut(script))
    body = b"".join(write(script.deltas(), spelling))
    turn = read_turn("ollama", body)
    assert_same(turn, _wanted(script, spelling), ids=spelling.call_id == "kept")


@given(script=turn_scripts(FINISHES), spelling=SPELLINGS, indented=st.booleans())
def test_the_complete_response_is_the_same_turn(
    script: TurnScript, spelling: WriterOptions, *, indented: bool
) -> None:
    assume(not _may_have_been_cut(script))
    lines = write(script.deltas(), spelling)
    stream = read_turn("ollama", b"".join(lines))
    whole = _complete([json.loads(line) for line in lines])
    body = json.dumps(whole, indent=2 if indented else None).encode()
    assert_same(read_turn("ollama", body), stream, ids=spelling.call_id == "kept")


def _complete(lines: list[Json]) -> Json:
    """Return the response that the server gives without `stream`: its last line, with all."""
    last = lines[-1]
    holders = [line.get("message", line) for line in lines]
    texts = {
        name: "".join(holder.get(name, "") for holder in holders)
        for name in ("content", "response", "thinking")
    }
    calls = [call for holder in holders for call in holder.get("tool_calls", ())]
    said: Json = {name: text for name, text in texts.items() if text}
    said |= {"tool_calls": calls} if calls else {}
    if "message" in last:
        return {**last, "message": {**last["message"], **said}}
    return {**last, **said}
