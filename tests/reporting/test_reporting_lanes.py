"""The lanes of a case: where two sides diverge, what a window keeps, where frames lie."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.charts.lanes import (
    WIDTH,
    Divergence,
    Lanes,
    first_divergence,
    lanes,
    visible_stretches,
)
from harness.results.case import Case
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.replay import Emission
from harness.results.run import Run
from harness.turns.deltas import ArgumentsDelta, TextDelta, ToolCallEnd, ToolCallStart
from harness.turns.turn import Turn

_CELL = "openai-chat/many-fragments/naive"


def _of(run: Run, cell: str) -> Lanes:
    result = next(each for each in run.results if each.cell == cell)
    return lanes(run.cases[cell], result.findings, "naive")


def _fragments(*texts: str) -> tuple[Emission, ...]:
    return tuple(Emission(ArgumentsDelta(0, text), place) for place, text in enumerate(texts))


@given(st.lists(st.text(max_size=4)), st.integers(0, 40))
def test_other_fragments_of_the_same_text_do_not_diverge(texts: list[str], place: int) -> None:
    joined = "".join(texts)
    assert first_divergence(_fragments(*texts), _fragments(joined[:place], joined[place:])) is None


def test_the_first_different_character_names_the_deltas_that_hold_it() -> None:
    assert first_divergence(_fragments("ab", "cX"), _fragments("a", "b", "cd")) == Divergence(1, 2)


def test_a_side_that_ends_early_diverges_after_its_last_delta() -> None:
    assert first_divergence(_fragments("ab"), _fragments("ab", "c")) == Divergence(1, 1)


def test_text_and_arguments_with_the_same_characters_diverge() -> None:
    assert first_divergence((Emission(TextDelta("a"), 1),), _fragments("a")) == Divergence(0, 0)


@given(st.integers(0, 300), st.lists(st.integers(0, 300), max_size=6))
def test_stretches_cover_every_row_once(total: int, interests: list[int]) -> None:
    found = visible_stretches(total, [each for each in interests if each < total])
    rows = [row for each in found for row in range(each.start, each.stop)]
    assert rows == list(range(total))
    assert sum(each.stop - each.start for each in found if each.shown) <= 4 + 3 + 4 * 13 + 7


def test_stretches_of_a_case_join_up_to_the_whole_body(sample: Run) -> None:
    shown = _of(sample, _CELL)
    ends = [0, *(row.end for row in shown.wire)]
    assert [row.start for row in shown.wire] == ends[:-1]
    assert ends[-1] == len(sample.cases[_CELL].body)


def test_a_finding_marks_the_row_that_holds_its_byte(sample: Run) -> None:
    noted = [row for row in _of(sample, _CELL).wire if row.notes]
    assert len(noted) == 1
    assert noted[0].frame is not None
    assert b"0030," in noted[0].frame.data


def test_the_divergent_delta_is_shown_and_marked_on_both_sides(sample: Run) -> None:
    shown = _of(sample, _CELL)
    assert [row.number for row in shown.deltas if row.diverges] == [32]
    assert [row.number for row in shown.reference if row.diverges] == [32]
    assert [lane.mark is not None for lane in shown.axis] == [False, False, True, True]


def test_silence_after_a_crash_is_a_row_of_its_own(sample: Run) -> None:
    last = _of(sample, "openai-chat/crlf-cut-inside/naive").deltas[-1]
    assert (last.kind, last.diverges) == ("nothing more", True)


def test_one_byte_reads_leave_the_text_free_of_ticks(sample: Run) -> None:
    shown = _of(sample, "openai-chat/hostile-text/naive")
    assert shown.dense
    assert not [piece for row in shown.wire for piece in row.bytes if piece.kind == "tick"]


def test_a_lane_is_bounded_whatever_the_stream_is(sample: Run) -> None:
    case = msgspec.structs.replace(
        sample.cases[_CELL],
        body=b"x" * 50_000,
        frames=(),
        chunking=tuple(range(1, 50_000)),
        deltas=tuple(Emission(TextDelta("x"), place) for place in range(50_000)),
    )
    shown = lanes(case, (), "naive")
    assert max(lane.path.count("M") for lane in shown.axis) <= WIDTH + 1
    assert len(shown.wire) == 1
    assert len(shown.deltas) < 30


def test_a_body_without_frames_and_an_empty_case_are_shown() -> None:
    body = b"<html>502</html>"
    case = Case("c", 0, body, (), (), (), (), "", None, actual=Turn())
    finding = Finding("r", "MUST", Outcome.CRASH, "p", "", "", offset=4)
    assert lanes(case, (finding,), "x").wire[0].frame is None
    nothing = msgspec.structs.replace(case, body=b"")
    assert lanes(nothing, (), "x").split is None


def test_frames_behind_what_the_run_kept_are_left_out(sample: Run) -> None:
    case = sample.cases[_CELL]
    shown = lanes(msgspec.structs.replace(case, body=case.body[:1_000], cut=True), (), "naive")
    assert shown.cut
    assert shown.wire[-1].end == 1_000
    assert all(row.start < row.end for row in shown.wire)


def test_the_start_of_a_call_is_compared_whole() -> None:
    ours = (Emission(ToolCallStart(0, "", "f"), 1), Emission(ToolCallEnd(0), 2))
    theirs = (Emission(ToolCallStart(0, "a", "f"), 1), Emission(ToolCallEnd(0), 2))
    assert first_divergence(ours, theirs) == Divergence(0, 0)
