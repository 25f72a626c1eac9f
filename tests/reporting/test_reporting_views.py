"""What the pages count: stacks, answers, standings, cassettes, trends, comparison, links."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.boards import boards
from harness.reporting.pages.cassettes import MAX_CASSETTES, cassettes_of
from harness.reporting.pages.compare import compare_view
from harness.reporting.pages.normalizers import WIDTH, stacks
from harness.reporting.pages.rankings import answer_of, ranking_details
from harness.reporting.pages.trends import TrendsView, trends_page
from harness.reporting.report import NamedRun, ReportContext, anchor, open_report, replays_link
from harness.results.outcome import Outcome
from harness.results.result import CassetteFacts
from harness.results.run import Run


def _without(run: Run, scenario: str) -> Run:
    return msgspec.structs.replace(
        run, results=tuple(each for each in run.results if each.scenario != scenario)
    )


def _as(run: Run, outcome: Outcome, normalizer: str) -> Run:
    results = (
        msgspec.structs.replace(each, outcome=outcome) if each.normalizer == normalizer else each
        for each in run.results
    )
    return msgspec.structs.replace(run, results=tuple(results))


def test_stack_segments_fill_the_bar(sample: Run) -> None:
    for stack in stacks(sample.results, "turns"):
        assert sum(each.count for each in stack.segments) == stack.judged
        assert sum(each.width for each in stack.segments) == pytest.approx(WIDTH, abs=0.1)
    (naive,) = (each for each in stacks(sample.results, "turns") if each.name == "naive")
    assert [each.word.outcome for each in naive.segments] == [
        Outcome.SILENT_WRONG,
        Outcome.CRASH,
        Outcome.LOST_CALL,
        Outcome.MISMATCH,
    ]


def test_stacks_follow_the_ranking_and_share_what_was_judged(sample: Run) -> None:
    ranked = ("reference", "dashscope-restore", "naive")
    some = _as(sample, Outcome.UNJUDGED, "dashscope-restore")
    found = stacks(some.results, "turns", ranked)
    assert tuple(each.name for each in found) == ranked
    assert (found[1].judged, found[1].unjudged, found[1].segments) == (0, 5, ())


def test_stack_counts_unsupported_cells_separately(sample: Run) -> None:
    found = stacks(_as(sample, Outcome.UNSUPPORTED, "naive").results, "turns")
    naive = next(each for each in found if each.name == "naive")
    assert (naive.judged, naive.unsupported, naive.segments) == (0, 5, ())


def test_answer_names_the_lowest_parse_error_rate_with_the_interval_of_each_difference(
    sample: Run,
) -> None:
    with open_report(sample) as report:
        prompts, models = (answer_of(report.of(boards)[name]) for name in ("prompts", "models"))
    assert prompts.best is not None
    assert prompts.best.ranked.name == "native-tools/v1"
    (worse,) = prompts.worse
    assert worse.other == "json-fallback/v2"
    assert worse.low < worse.points == 1 / 39 - 9 / 30 < worse.high < 0
    assert (prompts.alike, prompts.few) == ((), ())
    (_, (same, other)), (_, (back, _)) = prompts.pairs.rows
    assert (same, other) == (None, worse)
    assert back is not None
    assert round(back.low, 9) == round(-worse.high, 9)
    assert models.few == ("glm-4",)  # six turns are too few to compare
    assert (models.worse, models.alike) == ((), ())


def test_ranking_details_give_the_commonest_reason_and_its_first_cell(sample: Run) -> None:
    with open_report(sample) as report:
        found = ranking_details(report, "model")
    worst = found["qwen-plus"]
    assert (worst.reason, worst.count) == ("the arguments are not JSON", 10)
    assert worst.cell == "cassette:qwen-plus/json-fallback-v2/000/reference"
    assert found["glm-4"].cell == ""


def test_cassettes_with_credentials_come_first_and_omitted_ones_are_counted(sample: Run) -> None:
    leaky = msgspec.structs.replace(
        sample.results[-1], cassette="zzz", source=CassetteFacts(leaks=2, reads="synthetic")
    )
    many = (
        msgspec.structs.replace(sample.results[0], cassette=f"c{n}") for n in range(MAX_CASSETTES)
    )
    found = cassettes_of((*many, leaky))
    assert (found.rows[0].result.cassette, found.rows[0].scrub) == ("zzz", "2 unscrubbed")
    assert (found.total, found.more) == (MAX_CASSETTES + 1, 1)
    assert sum(count for _, count in found.counts) == found.total
    assert found.rows[1].reads == "unknown"


def _trends_of(*runs: Run) -> TrendsView:
    *history, run = runs
    context = ReportContext(
        history=tuple(NamedRun(f"run {n}", each) for n, each in enumerate(history))
    )
    with open_report(run, context) as report:
        return trends_page(report)


def test_trend_line_has_a_gap_when_the_scenarios_changed(sample: Run) -> None:
    less = _without(sample, "openai-chat/hostile-text")
    found = _trends_of(less, less, sample)
    assert found.breaks == ((2, "scenarios added: 1, removed: 0"),)
    (naive,) = (each for each in found.trends[0].series if each.name == "naive")
    assert (naive.line.count("M"), naive.line.count("L")) == (2, 1)
    assert [point.n for point in naive.points if point] == [4, 4, 5]


def test_trend_line_has_a_gap_when_a_run_did_not_measure_the_name(sample: Run) -> None:
    silent = _as(sample, Outcome.UNSUPPORTED, "naive")
    found = _trends_of(sample, silent, sample)
    (naive,) = (each for each in found.trends[0].series if each.name == "naive")
    assert [point is None for point in naive.points] == [False, True, False]
    assert naive.line.count("M") == 2


def test_trends_are_empty_for_a_single_run(sample: Run) -> None:
    assert _trends_of(sample).trends == ()


def test_comparison_counts_broken_and_fixed_cells(sample: Run) -> None:
    fixed_run = _as(sample, Outcome.PASS, "naive")
    fixed, broken = (
        compare_view(NamedRun("a", sample), NamedRun("b", fixed_run)),
        compare_view(NamedRun("a", fixed_run), NamedRun("b", sample)),
    )
    assert (fixed.count("fixed"), fixed.count("broken")) == (5, 0)
    assert (broken.count("fixed"), broken.count("broken")) == (0, 5)
    (naive,) = (each for each in broken.comparison.conformance if each.name == "naive")
    assert (naive.before, naive.after) == (1.0, 0.0)


@given(st.text(st.characters(codec="utf-8")), st.text(min_size=1, max_size=9))
def test_links_encode_the_separators_of_the_location_hash(name: str, value: str) -> None:
    assert not set(anchor(name)) & set("@?&#\"'<> ")
    place, _, query = replays_link(model=value).partition("?")
    assert place == "replays"
    assert not set(query) & set("@?&#\"'<> ")
