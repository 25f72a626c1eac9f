"""A case shows reads that fail and where a client raised; its long texts are cut."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.make_case import shorten
from harness.results.case import Case
from harness.results.outcome import Outcome
from harness.results.replay import Emission
from harness.results.result import Result
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.turn import Turn
from harness.wire.frames import Frame
from tests.judging.judging_samples import DONE, Pieces, a_cassette, a_normalizer, an_interaction


def test_shorten_cuts_each_long_text_and_states_the_rest() -> None:
    turn = Turn(text="a" * 50, tool_calls=(ToolCall("c1", "f", "b" * 20),))
    short = shorten(turn, 10)
    assert short.text == "a" * 10 + "… (+40 characters)"
    assert short.tool_calls[0].arguments == "b" * 10 + "… (+10 characters)"
    assert (short.tool_calls[0].id, short.reasoning) == ("c1", "")


def test_shorten_cuts_each_row() -> None:
    rows = (Emission(TextDelta("x" * 9), 3), Emission(ArgumentsDelta(0, "y" * 9), 4))
    assert [type(row.delta) for row in shorten(rows, 5)] == [TextDelta, ArgumentsDelta]
    assert shorten((Frame(b"z" * 9, "", 7),), 5) == (Frame(b"z" * 5, "", 7),)


def test_shorten_keeps_enumerations() -> None:
    assert shorten((FinishReason.CONTENT_FILTER,), 3) == (FinishReason.CONTENT_FILTER,)


@given(st.text(max_size=40))
def test_shorten_returns_the_same_object_when_it_fits(text: str) -> None:
    turn = Turn(text=text)
    assert shorten(turn, 40) is turn


def _judged(normalize: Pieces) -> tuple[Result, Case]:
    subject = LoadedSubject(a_cassette(an_interaction()))
    result, case = judge_subject(subject, a_normalizer(normalize))
    assert case is not None
    return result, case


def _silent(reads: Iterable[bytes]) -> Iterator[Delta]:
    for _ in reads:
        pass
    yield Finish(FinishReason.STOP, "stop")


def _ends_an_unsplit_body_twice(reads: Iterable[bytes]) -> Iterator[Delta]:
    count = sum(1 for _ in reads)
    yield TextDelta("Hello")
    yield from [Finish(FinishReason.STOP, "stop")] * (2 if count == 1 else 1)


def _raises_on_done(reads: Iterable[bytes]) -> Iterator[Delta]:
    for read in reads:
        if DONE.strip() in read:
            raise ValueError("not JSON")
    yield TextDelta("Hello")


def test_case_shows_the_recorded_reads_if_they_fail_as_badly() -> None:
    result, case = _judged(_silent)
    assert result.chunking == ()
    assert case.chunking == an_interaction().recorded_cuts()
    assert case.expected is not None
    assert (case.expected.text, case.actual.text) == ("Hello", "")


def test_case_shows_the_unsplit_body_if_the_recorded_reads_do_not_fail() -> None:
    result, case = _judged(_ends_an_unsplit_body_twice)
    assert result.findings[0].rule == "END-ONCE"
    assert (case.chunking, result.chunking) == ((), ())


def test_case_of_a_crash_shows_a_replay_that_raises_and_where() -> None:
    result, case = _judged(_raises_on_done)
    assert (result.outcome, case.chunking) == (Outcome.CRASH, ())
    assert case.error == "ValueError: not JSON"
    assert case.crash
    where, code = case.crash.trace.splitlines()[-2:]
    assert code == '  raise ValueError("not JSON")'
    assert where.endswith(", in _raises_on_done")
    assert str(Path.cwd()) not in case.crash.trace
    assert "harness/judging" not in case.crash.trace


def _loses_text_as_recorded_and_else_invents_a_call(reads: Iterable[bytes]) -> Iterator[Delta]:
    count = sum(1 for _ in reads)
    is_recorded = count == len(an_interaction().recorded_cuts()) + 1
    if count > 1 and not is_recorded:
        yield ToolCallStart(0, "c1", "writing")
        yield ArgumentsDelta(0, "{}")
        yield ToolCallEnd(0)
    yield TextDelta("Hell" if is_recorded else "Hello")
    yield Finish(FinishReason.STOP, "stop")


def test_case_shows_a_replay_with_the_outcome_of_its_cell() -> None:
    result, case = _judged(_loses_text_as_recorded_and_else_invents_a_call)
    assert result.outcome is Outcome.SILENT_WRONG
    assert (case.error, len(case.actual.tool_calls)) == ("", 1)
    assert len(case.chunking) == len(result.chunking) == 1
