"""Conversations on the page and in the terminal: requests with findings, nothing hostile."""

import re
from pathlib import Path

import msgspec
import pytest

from harness.reporting.page import render_page
from harness.reporting.pages.conversations import conversation_view
from harness.reporting.report import anchor
from harness.reporting.text.cell import conversation_lines
from harness.reporting.text.terminal import tables
from harness.results.conversation_case import ConversationCase
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import SCHEMA, AgentFacts, Footer, Header, Run, Selection
from harness.runs.judge_job import judge_job
from harness.runs.plan import Job
from harness.verdicts.gate import summarize
from tests.judging.judging_samples import bundled_subjects

HOSTILE = "</script><script>alert(1)</script>\x1b[31m\u202e"
SUBJECTS = {Path(each.path).stem: each for each in bundled_subjects() if each.conversation}


def had(scenario: str, agent: str) -> tuple[Result, ConversationCase]:
    result, case = judge_job(Job(SUBJECTS[scenario], agent))
    assert isinstance(case, ConversationCase)
    return result, case


@pytest.fixture(scope="module")
def run() -> Run:
    pairs = [
        had("memory-then-writing", "plain-loop"),
        had("memory-then-writing", "results-orphaned"),
        had("truncated-json-retried", "gateway"),
    ]
    result, case = pairs[2]
    recorded = msgspec.structs.replace(result, origin="recorded", model=HOSTILE)
    pairs[2] = recorded, msgspec.structs.replace(case, answer=HOSTILE)
    results = tuple(sorted((result for result, _ in pairs), key=lambda each: each.cell))
    return Run(
        Header(
            SCHEMA,
            "0.1.0",
            (),
            Selection(),
            ("harness", "run"),
            2,
            agents=(AgentFacts("gateway", summary=HOSTILE), AgentFacts("plain-loop")),
        ),
        results,
        {},
        Footer(3, 12),
        conversations={case.cell: case for _, case in pairs},
    )


def test_findings_stand_at_their_messages() -> None:
    view = conversation_view(*had("memory-then-writing", "results-orphaned"))
    marked = {
        (request.title, message.number): [finding.rule for finding in message.findings]
        for request in view.requests
        for message in request.messages
        if message.findings
    }
    assert marked[("Request 1", 2)] == ["HIST-ORPHAN-RESULT"]


def test_only_what_is_new_in_a_request_is_shown() -> None:
    view = conversation_view(*had("memory-then-writing", "plain-loop"))
    numbers = [[message.number for message in request.messages] for request in view.requests]
    assert numbers == [[0, 1], [2, 3], [4, 5], [6]]
    assert [request.runs != () for request in view.requests] == [True, True, False, False]


def test_reports_are_shown_with_their_turn() -> None:
    ((turn, error),) = conversation_view(*had("truncated-json-retried", "gateway")).reports
    assert (turn, error.mode) == (0, "json_fallback")


def test_the_page_shows_requests_reports_and_rankings(run: Run) -> None:
    html = render_page(run)
    assert "HIST-ORPHAN-RESULT" in html
    assert "Unusable calls" in html
    assert "Next messages" in html
    assert "plain-loop" in html
    assert "<script>alert" not in html
    assert "\x1b" not in html
    assert render_page(run) == html


def test_a_conversation_that_conforms_and_breaks_a_should_rule_stands_on_the_page_once(
    run: Run,
) -> None:
    should = Finding("RULE", "SHOULD", Outcome.MISMATCH, "turns[0]", "a", "b")
    results = tuple(msgspec.structs.replace(each, findings=(should,)) for each in run.results)
    ids = re.findall(r' id="([^"]+)"', render_page(msgspec.structs.replace(run, results=results)))
    assert sorted(ids) == sorted(set(ids))
    assert {anchor(each.cell) for each in results} <= set(ids)


def test_a_conversation_that_failed_because_of_its_model_is_a_case_with_its_transcript(
    run: Run,
) -> None:
    failed = next(each for each in run.results if each.cell.endswith("/gateway"))
    assert failed.conversation is not None
    facts = msgspec.structs.replace(failed.conversation, success=False, why=HOSTILE, blame="model")
    results = tuple(
        msgspec.structs.replace(each, conversation=facts) if each is failed else each
        for each in run.results
    )
    html = render_page(msgspec.structs.replace(run, results=results))
    cases = html.partition('<h2 id="cases"')[2]
    shown = cases.partition(f'id="{anchor(failed.cell)}"')[2].partition('<details class="case">')[0]
    assert "The conversation <strong>failed</strong>, blame" in shown
    assert "<h4>Request 0 " in shown
    assert "Unusable calls" in shown
    assert "No finding: gateway did what the rules require." in shown
    assert "<script>alert" not in html


def test_the_terminal_ranks_agents_and_conversations(run: Run) -> None:
    text = tables(summarize(run), colour=False)
    _, _, after = text.partition("Agents by conformance\n")
    assert "results-orphaned" in after
    _, _, talks = text.partition("by conversation success\n")
    assert "1/1" in talks
    _, _, talks = tables(summarize(run), "markdown").partition("by conversation success\n")
    assert "tool\\_use 0.0 %" in talks
    assert "\x1b" not in text


def test_a_conversation_is_told_line_by_line() -> None:
    lines = list(conversation_lines(*had("memory-then-writing", "results-orphaned")))
    assert any("!! HIST-ORPHAN-RESULT" in line for line in lines)
    assert any(line.startswith("  executed set_memory") for line in lines)


def test_no_line_drives_the_terminal() -> None:
    result, case = had("memory-then-writing", "plain-loop")
    evil = msgspec.structs.replace(case, answer=HOSTILE, error=HOSTILE, ending=HOSTILE)
    row = msgspec.structs.replace(case.requests[0], messages=(HOSTILE,), tools=(HOSTILE,))
    lines = "".join(conversation_lines(result, msgspec.structs.replace(evil, requests=(row,))))
    assert "\x1b" not in lines
    assert "\u202e" not in lines
