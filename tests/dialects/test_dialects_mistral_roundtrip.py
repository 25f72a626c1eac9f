"""Any deltas, in any spelling of a Mistral stream, cut anywhere, fold to the same turn."""

import itertools
from collections.abc import Callable

import msgspec
from hypothesis import assume, given

from harness.dialects.mistral.write import write
from harness.dialects.mistral.writer_options import WriterOptions
from harness.fuzzing.strategies import TurnScript, turn_scripts, writer_options
from harness.turns.deltas import Finish, FinishReason
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.scripted_turns import assert_same, read_turn

FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    Finish(FinishReason.LENGTH, "length"),
    Finish(FinishReason.LENGTH, "model_length"),
    Finish(FinishReason.OTHER, "none of ours"),
)
SPELLINGS = writer_options("mistral", response_id=("", "r1"))


def _tells_no_place(spelling: WriterOptions) -> bool:
    return spelling.call_id != "kept" and spelling.index != "kept"


def _some_neighbours_share_a_name(script: TurnScript, spelling: WriterOptions) -> bool:
    in_fragments = spelling.calls == "fragments" and not spelling.document
    return any(
        one == two and (in_fragments or not first or not second)
        for (_, one, first), (_, two, second) in itertools.pairwise(script.calls)
    )


CONTRADICTIONS: dict[str, Callable[[TurnScript, WriterOptions], bool]] = {
    "neither id nor index, and the same name again: fragments of one call, or another one": (
        lambda c, s: _tells_no_place(s) and _some_neighbours_share_a_name(c, s)
    ),
    "the limit stopped a call before its arguments began, or it has none": (
        lambda c, _: (
            c.finish.reason in (FinishReason.LENGTH, FinishReason.OTHER)
            and any(not fragments for _, _, fragments in c.calls)
        )
    ),
    "an id that spells that there is none": (
        lambda c, s: s.call_id == "kept" and any(call_id == "null" for call_id, _, _ in c.calls)
    ),
}


def _contradict(script: TurnScript, spelling: WriterOptions) -> bool:
    return any(holds(script, spelling) for holds in CONTRADICTIONS.values())


def _wanted(script: TurnScript) -> Turn:
    finish = script.finish
    if script.calls and finish.reason in (FinishReason.STOP, FinishReason.OTHER):
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


@given(turn_scripts(FINISHES), SPELLINGS)
def test_what_is_written_in_any_spelling_is_read_to_the_same_turn(
    script: TurnScript, spelling: WriterOptions
) -> None:
    assume(not _contradict(script, spelling))
    body = b"".join(write(script.deltas(), spelling))
    assert_same(read_turn("mistral", body), _wanted(script), ids=spelling.call_id == "kept")


@given(turn_scripts(FINISHES), SPELLINGS)
def test_a_whole_completion_is_the_same_turn_as_its_stream(
    script: TurnScript, spelling: WriterOptions
) -> None:
    assume(not _contradict(script, spelling))
    spelling = msgspec.structs.replace(spelling, document=False, calls="together")
    whole = msgspec.structs.replace(spelling, document=True)
    stream, document = (b"".join(write(script.deltas(), each)) for each in (spelling, whole))
    assert read_turn("mistral", document) == read_turn("mistral", stream)


@given(turn_scripts(FINISHES))
def test_with_ids_or_places_nothing_but_a_limit_is_excluded(script: TurnScript) -> None:
    assume(script.finish.reason in (FinishReason.STOP, FinishReason.TOOL_CALLS))
    assume(all(call_id != "null" for call_id, _, _ in script.calls))
    assert not _contradict(script, WriterOptions(index="zero", calls="fragments"))
    assert not _contradict(script, WriterOptions(call_id="null"))
