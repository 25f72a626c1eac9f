"""DashScope's streams: `naive` loses calls, and the other normalizers keep them."""

import re
from functools import cache

import pytest

from harness.judging.judge import judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.reporting.page import render_page
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import SCHEMA, Footer, Header, Run, Selection
from harness.runs.declared import facts_of
from harness.verdicts.database import Questions
from harness.verdicts.gate import summarize
from harness.verdicts.query_rows import QuirkLoss
from tests.judging.judging_samples import shipped_subjects

NAMES = ("naive", "reference", "dashscope-restore")
PASSING = ("reference", "dashscope-restore")
# What the seed story names: id and name once, then "" or null, or beside the delta.
STORY = {
    "DELTA-ID-EMPTY-LATER",
    "DELTA-ID-NULL-LATER",
    "DELTA-ID-NAME-FIRST-ONLY",
    "DELTA-ADDITIONAL-KWARGS",
}


@cache
def dashscope_run() -> Run:
    subjects = [
        s
        for s in shipped_subjects()
        if s.cassette.provider == "dashscope" and s.cassette.dialect == "openai-chat"
        if s.scenario and not s.scenario.text_dialect
    ]
    cells = [
        judge_subject(subject, load_normalizer(name), cuts="quick")
        for subject in subjects
        for name in NAMES
    ]
    results = tuple(sorted((result for result, _ in cells), key=lambda result: result.cell))
    header = Header(
        schema=SCHEMA,
        harness="0",
        normalizers=tuple(facts_of(load_normalizer(name)) for name in NAMES),
        selection=Selection(("scenarios/dashscope",), "quick"),
        command=("harness", "run", "scenarios/dashscope"),
        scenario_count=len(subjects),
    )
    footer = Footer(len(results), sum(result.replays for result in results))
    return Run(header, results, {case.cell: case for _, case in cells if case}, footer)


def _of(name: str) -> list[Result]:
    return [result for result in dashscope_run().results if result.normalizer == name]


def _losses(name: str) -> dict[str, QuirkLoss]:
    with Questions(dashscope_run()) as questions:
        return {loss.quirk: loss for loss in questions.losses_by_quirk() if loss.normalizer == name}


def test_dashscope_failures_are_shown_by_several_cassettes() -> None:
    assert len(_of("naive")) >= 7


def test_naive_loses_or_corrupts_calls_in_every_cassette() -> None:
    for result in _of("naive"):
        if result.outcome is Outcome.UNSUPPORTED:
            continue
        assert result.outcome in (Outcome.LOST_CALL, Outcome.SILENT_WRONG), result.cell
        assert result.blame == "normalizer"
        rules = {finding.rule for finding in result.findings}
        assert {"CALL-NAMED", "CALL-NAME-EXACT", "ARGUMENTS-USABLE"} & rules


def test_naive_fails_without_any_cut() -> None:
    assert {result.chunking for result in _of("naive")} == {()}


@pytest.mark.parametrize("name", PASSING)
def test_restoring_normalizers_pass_all(name: str) -> None:
    assert [result.cell for result in _of(name) if result.findings] == []
    assert all(result.outcome.conforms for result in _of(name))
    assert all(turn.calls for result in _of(name) for turn in result.turns[:1])


def test_questions_show_the_failures_by_quirk() -> None:
    naive = _losses("naive")
    assert naive.keys() >= STORY
    for quirk in STORY:
        assert naive[quirk].k == 0
        assert naive[quirk].n >= 1
        assert naive[quirk].worst in (Outcome.LOST_CALL, Outcome.SILENT_WRONG)


@pytest.mark.parametrize("name", PASSING)
def test_questions_show_that_others_pass_each_quirk(name: str) -> None:
    assert all(loss.k == loss.n for loss in _losses(name).values())


def test_report_page_shows_the_failures_by_quirk() -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render_page(dashscope_run())))
    naive, reference = _losses("naive"), _losses("reference")
    for quirk in sorted(STORY):
        n, judged = reference[quirk].n, naive[quirk].n
        row = rf"{quirk} .{{0,40}}\b{n}/{n} all .{{0,20}}\b{n}/{n} all .{{0,20}}\b0/{judged} none"
        assert re.search(row, text), quirk


def test_the_gate_fails_for_naive_alone_and_names_a_cell() -> None:
    gate = summarize(dashscope_run()).gate
    assert gate.verdict == "fail"
    assert [reason.partition(":")[0] for reason in gate.reasons] == ["naive"]
    assert "harness replay dashscope/" in gate.reasons[0]


def test_the_summary_ranks_the_restoring_ones_first() -> None:
    ranked = summarize(dashscope_run()).rankings.normalizers
    assert ranked[-1].name == "naive"
    assert (ranked[-1].k, ranked[0].k) == (0, ranked[0].n)
