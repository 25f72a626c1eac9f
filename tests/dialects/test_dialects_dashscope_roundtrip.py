"""Any deltas, in any spelling of DashScope's native stream, cut anywhere, fold to the same turn."""

import itertools
from collections.abc import Callable

import msgspec
from hypothesis import assume, given

from harness.dialects.dashscope.write import write
from harness.dialects.dashscope.writer_options import WriterOptions
from harness.fuzzing.strategies import TurnScript, turn_scripts, writer_options
from harness.turns.deltas import Finish, FinishReason, ReasoningDelta, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.scripted_turns import assert_same, read_turn

FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    Finish(FinishReason.LENGTH, "length"),
    Finish(FinishReason.OTHER, "none of ours"),
)
SPELLINGS = writer_options("dashscope", model=("qwen-plus",), request_id=("", "r1"))


def _looks_like_snapshots(script: TurnScript) -> bool:
    """Whether some increment begins with the one before."""
    fields = [
        [delta.text for delta in script.before if isinstance(delta, kind)]
        for kind in (TextDelta, ReasoningDelta)
    ]
    fields += [list(fragments) for _, _, fragments in script.calls]
    pairs = (pair for values in fields for pair in itertools.pairwise(values))
    return any(after.startswith(before) for before, after in pairs)


CONTRADICTIONS: dict[str, Callable[[TurnScript, WriterOptions], bool]] = {
    "increments that begin with what came before are snapshots too": (
        lambda c, s: s.output == "increments" and not s.document and _looks_like_snapshots(c)
    ),
    "the limit stopped a call before its arguments began, or it has none": (
        lambda c, _: (
            c.finish.reason in (FinishReason.LENGTH, FinishReason.OTHER)
            and any(not fragments for _, _, fragments in c.calls)
        )
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
    assert_same(read_turn("dashscope", body), _wanted(script))


@given(turn_scripts(FINISHES), SPELLINGS)
def test_a_plain_response_is_the_same_turn_as_its_stream(
    script: TurnScript, spelling: WriterOptions
) -> None:
    spelling = msgspec.structs.replace(spelling, document=False)
    assume(not _contradict(script, spelling))
    whole = msgspec.structs.replace(spelling, document=True)
    stream, document = (b"".join(write(script.deltas(), each)) for each in (spelling, whole))
    assert read_turn("dashscope", document) == read_turn("dashscope", stream)


@given(turn_scripts(FINISHES), SPELLINGS)
def test_snapshots_and_increments_are_the_same_turn(
    script: TurnScript, spelling: WriterOptions
) -> None:
    increments = msgspec.structs.replace(spelling, output="increments", document=False)
    assume(not _contradict(script, increments))
    snapshots = msgspec.structs.replace(increments, output="snapshots")
    new, whole = (b"".join(write(script.deltas(), each)) for each in (increments, snapshots))
    assert read_turn("dashscope", whole) == read_turn("dashscope", new)
