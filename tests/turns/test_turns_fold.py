"""The fold: what the cuts were does not matter, and an end is an end."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.turns.deltas import (
    SNIPPET_CHARACTERS,
    ArgumentsDelta,
    Delta,
    DeltaError,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import Folder, fold
from harness.turns.turn import Sealed, Turn
from tests.tables import each_row

TEXTS = st.text(st.characters(), max_size=8)
INDEXES = st.integers(0, 3)
ERRORS = st.builds(ParseError, st.sampled_from(["tool_use", "json_fallback"]), TEXTS, TEXTS)
ANY_DELTA: st.SearchStrategy[Delta] = st.one_of(
    st.builds(TextDelta, TEXTS),
    st.builds(ReasoningDelta, TEXTS),
    st.builds(SealedDelta, TEXTS, TEXTS, st.sampled_from(["reasoning", "text", "call"]), INDEXES),
    st.builds(ToolCallStart, INDEXES, TEXTS, TEXTS),
    st.builds(ArgumentsDelta, INDEXES, TEXTS),
    st.builds(ToolCallEnd, INDEXES),
    st.builds(ToolCallRejected, INDEXES, ERRORS),
    st.builds(UsageDelta, st.builds(Usage, st.none() | st.integers(0, 9))),
    st.builds(Finish, st.sampled_from(FinishReason), TEXTS),
    st.builds(StreamFailure, TEXTS, TEXTS),
)
STREAMS = st.lists(ANY_DELTA, max_size=12)
UNITS = st.text(st.sampled_from('ab{}"好\ud83d\ude00\U0001f600'), max_size=8)


def _split(delta: Delta, cut: int) -> list[Delta]:
    match delta:
        case TextDelta(text=text):
            return [TextDelta(text[:cut]), TextDelta(text[cut:])]
        case ReasoningDelta(text=text):
            return [ReasoningDelta(text[:cut]), ReasoningDelta(text[cut:])]
        case ArgumentsDelta(index=index, fragment=text):
            return [ArgumentsDelta(index, text[:cut]), ArgumentsDelta(index, text[cut:])]
        case _:
            return [delta]


def _call(index: int, arguments: str = "") -> list[Delta]:
    fragments = [ArgumentsDelta(index, unit) for unit in arguments]
    return [ToolCallStart(index, f"id{index}", f"tool{index}"), *fragments, ToolCallEnd(index)]


@given(STREAMS, st.integers(0, 8))
def test_splitting_deltas_anywhere_changes_nothing(deltas: list[Delta], cut: int) -> None:
    assert fold(part for delta in deltas for part in _split(delta, cut)) == fold(deltas)


@given(st.lists(UNITS, min_size=1, max_size=4), st.data())
def test_interleaving_calls_changes_nothing(texts: list[str], data: st.DataObject) -> None:
    starts = [_call(index)[0] for index in range(len(texts))]
    rests = [_call(index, text)[1:] for index, text in enumerate(texts)]
    in_turn = fold([*starts, *(delta for rest in rests for delta in rest)])
    order = data.draw(st.permutations([i for i, rest in enumerate(rests) for _ in rest]))
    queues = [iter(rest) for rest in rests]
    assert fold([*starts, *(next(queues[index]) for index in order)]) == in_turn


@given(STREAMS, st.sampled_from([ToolCallEnd(0), ToolCallRejected(0, ParseError("tool_use", "x"))]))
def test_deltas_after_a_call_s_end_change_nothing(
    late: list[Delta],
    end: ToolCallEnd | ToolCallRejected,
) -> None:
    ended: list[Delta] = [ToolCallStart(0, "id", "tool"), ArgumentsDelta(0, "{}"), end]
    of_the_call = [
        delta
        for delta in late
        if getattr(delta, "index", None) == 0 and not isinstance(delta, SealedDelta)
    ]
    assert fold([*ended, *of_the_call]) == fold(ended)


@given(STREAMS)
def test_a_turn_may_be_asked_at_any_moment(deltas: list[Delta]) -> None:
    folder = Folder()
    for seen, delta in enumerate(deltas):
        assert folder.turn() == fold(deltas[:seen])
        folder.add([delta])
    assert folder.turn() == fold(deltas)


@given(STREAMS)
def test_every_started_call_is_accounted_for_once(deltas: list[Delta]) -> None:
    started = {delta.index for delta in deltas if isinstance(delta, ToolCallStart)}
    turn = fold(deltas)
    assert len(turn.tool_calls) + len(turn.parse_errors) == len(started)


@given(STREAMS)
def test_a_turn_can_be_written_and_read_back(deltas: list[Delta]) -> None:
    turn = fold(deltas)
    assert msgspec.json.decode(msgspec.json.encode(turn), type=Turn) == turn


@given(STREAMS)
def test_snippets_are_short(deltas: list[Delta]) -> None:
    long = ParseError("json_fallback", "x", snippet="s" * 1_000)
    turn = fold([*deltas, ToolCallStart(9, "", ""), ToolCallRejected(9, long)])
    assert all(len(error.snippet) <= SNIPPET_CHARACTERS for error in turn.parse_errors)


def test_a_whole_turn() -> None:
    turn = fold(
        [
            ReasoningDelta("hm"),
            TextDelta("Let me "),
            TextDelta("look."),
            *_call(0, '{"a":1}'),
            *_call(1),
            UsageDelta(Usage(1, 1)),
            UsageDelta(Usage(1, 2)),
            Finish(FinishReason.TOOL_CALLS, "tool_calls"),
        ],
    )
    assert turn == Turn(
        text="Let me look.",
        reasoning="hm",
        tool_calls=(ToolCall("id0", "tool0", '{"a":1}'), ToolCall("id1", "tool1", "")),
        finish=Finish(FinishReason.TOOL_CALLS, "tool_calls"),
        usage=Usage(1, 2),
    )


def test_sealed_data_has_its_text_and_the_position_of_its_call() -> None:
    turn = fold(
        [
            ReasoningDelta("one "),
            ReasoningDelta("two"),
            SealedDelta("signature", "a="),
            SealedDelta("redacted", "b"),
            TextDelta("Let me look."),
            SealedDelta("signature", "c", "text"),
            ToolCallStart(5, "id5", "tool"),
            ToolCallRejected(5, ParseError("tool_use", "cut")),
            SealedDelta("signature", "lost", "call", 5),
            ReasoningDelta("three"),
            *_call(7),
            SealedDelta("signature", "d", "call", 7),
            SealedDelta("signature", "e", id="rs_1"),
            SealedDelta("signature", "of no call", "call", 9),
        ]
    )
    assert turn.sealed == (
        Sealed("signature", "a=", text="one two"),
        Sealed("redacted", "b"),
        Sealed("signature", "c", "text", text="Let me look."),
        Sealed("signature", "d", "call", 0),
        Sealed("signature", "e", call=1, text="three", id="rs_1"),
    )


@pytest.mark.parametrize(
    "delta",
    [
        SealedDelta("k", b"v"),  # type: ignore[arg-type]
        SealedDelta(None, "v"),  # type: ignore[arg-type]
        SealedDelta("k", "v", "turn"),  # type: ignore[arg-type]
        SealedDelta("k", "v", "call", "0"),  # type: ignore[arg-type]
        SealedDelta("k", "v", id=1),  # type: ignore[arg-type]
    ],
)
def test_sealed_data_of_another_type_is_not_a_delta(delta: Delta) -> None:
    with pytest.raises(DeltaError):
        fold([delta])


def test_a_call_without_an_end_is_a_parse_error() -> None:
    turn = fold([ToolCallStart(0, "id", "tool"), ArgumentsDelta(0, '{"a":' + "1" * 300)])
    (error,) = turn.parse_errors
    assert turn.tool_calls == ()
    assert (error.id, error.name, error.mode) == ("id", "tool", "tool_use")
    assert error.snippet == ('{"a":' + "1" * 300)[:SNIPPET_CHARACTERS]


def test_a_rejected_call_keeps_its_reason() -> None:
    why = ParseError("json_fallback", "two objects", snippet="{}{}")
    turn = fold([ToolCallStart(0, "id", "tool"), ToolCallRejected(0, why)])
    assert turn.parse_errors == (msgspec.structs.replace(why, id="id", name="tool"),)


def test_parse_errors_stand_in_order_of_appearance() -> None:
    why = ParseError("tool_use", "x")
    turn = fold(
        [
            ToolCallStart(0, "first", "tool"),
            ToolCallStart(1, "second", "tool"),
            ToolCallRejected(1, why),
        ],
    )
    assert [error.id for error in turn.parse_errors] == ["first", "second"]


@each_row("reason", list(FinishReason))
def test_only_a_finish_that_announces_calls_misses_them(reason: FinishReason) -> None:
    turn = fold([TextDelta("x"), Finish(reason, "raw")])
    missing = StreamFailure("calls_missing", "finish 'raw' without a tool call")
    assert turn.failure == (missing if reason is FinishReason.TOOL_CALLS else None)


def test_announced_calls_that_were_rejected_are_not_missing() -> None:
    turn = fold([ToolCallStart(0, "id", "tool"), Finish(FinishReason.TOOL_CALLS)])
    assert turn.failure is None


def test_the_stream_s_own_failure_comes_first() -> None:
    own = StreamFailure("interrupted", "no end")
    assert fold([Finish(FinishReason.TOOL_CALLS), own]).failure == own


def test_the_first_finish_and_the_first_failure_stand() -> None:
    first, second = Finish(FinishReason.STOP, "stop"), Finish(FinishReason.LENGTH, "length")
    assert fold([first, second]).finish == first
    assert fold([StreamFailure("a"), StreamFailure("b")]).failure == StreamFailure("a")


def test_deltas_of_a_call_that_never_started_are_left_out() -> None:
    assert fold([ArgumentsDelta(0, "{}"), ToolCallEnd(0)]) == Turn()


def test_a_second_start_does_not_rename_a_call() -> None:
    turn = fold([ToolCallStart(0, "id", "tool"), ToolCallStart(0, "", ""), ToolCallEnd(0)])
    assert turn.tool_calls == (ToolCall("id", "tool", ""),)


def test_a_pair_cut_in_two_is_one_character() -> None:
    turn = fold([TextDelta("\ud83d"), TextDelta("\ude00"), *_call(0, "\ud83d\ude00")])
    assert (turn.text, turn.tool_calls[0].arguments) == ("😀", "😀")
