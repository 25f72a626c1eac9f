"""The files beside the page: hostile text stays text, limits hold, equal runs are equal bytes."""

import csv
import html
import io
import json
import re
from xml.etree import ElementTree as ET

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.gate import MAX_ANNOTATIONS, annotations
from harness.reporting import visible
from harness.reporting.text.agent_pages import INDEX, MAX_INDEX_BYTES, MAX_PAGES, agent_pages
from harness.reporting.text.compare import comparison_text
from harness.reporting.text.files import KINDS, badge, files, rankings_csv, results_csv, turns_csv
from harness.reporting.text.junit import junit
from harness.reporting.text.summary import MAX_LINES, summary_markdown
from harness.reporting.text.terminal import tables
from harness.results.outcome import Outcome
from harness.results.scenario_evidence import ScenarioEvidence
from harness.verdicts.compare import compare
from harness.verdicts.gate import Summary, judge_gate, summarize
from tests.reporting.reporting_hostile import EVIL, NAMES, a_hostile_run
from tests.runs.runs_samples import a_finding, a_result, a_run, a_turn

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]")
texts = st.text(max_size=60)


def _summary(copies: int = 1) -> Summary:
    run, gate = a_hostile_run(copies)
    return msgspec.structs.replace(summarize(run), gate=gate)


@pytest.mark.parametrize("kind", KINDS)
def test_files_have_no_control_characters_and_depend_on_the_run_only(kind: str) -> None:
    run, summary = a_hostile_run()[0], _summary()
    made = files(run, summary, kind)  # type: ignore[arg-type]  # a Kind, from the table
    assert made == files(run, summary, kind)  # type: ignore[arg-type]  # as above
    for text in made.values():
        assert text.endswith("\n")
        assert kind == "json" or not CONTROL.search(text)
        assert text.encode()


def test_junit_counts_equal_its_test_cases() -> None:
    run, gate = a_hostile_run(copies=2)
    root = ET.fromstring(junit(run, gate))  # noqa: S314 - our own bytes
    suites = {suite.attrib["name"]: suite for suite in root}
    assert len(suites) == len(NAMES) + 1
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
    assert sum(int(suite.attrib["skipped"]) for suite in root) == 1
    failures = root.findall("testsuite/testcase/failure")
    assert sum("harness replay" in (each.text or "") for each in failures) == 2 * len(NAMES)
    assert suites["gate"].attrib["failures"] == "1"


def test_each_file_of_failures_says_who_sends_the_bytes() -> None:
    evidence = ScenarioEvidence("reported", "https://example.org/1")
    lost = a_result(outcome=Outcome.LOST_CALL, findings=(a_finding("R"),))
    run = a_run([msgspec.structs.replace(lost, evidence=evidence)])
    summary = summarize(run)
    pages = "".join(agent_pages(run, summary.gate).values())
    for text in (junit(run, summary.gate), summary_markdown(run, summary), pages):
        assert "reported: https://example.org/1" in html.unescape(text)


def test_junit_of_a_passing_run_has_no_failure_and_no_unsupported_cell() -> None:
    run = a_run([a_result("a"), a_result("b", outcome=Outcome.UNSUPPORTED)])
    text = junit(run, judge_gate(run))
    assert "<failure" not in text
    assert text.count("<testcase") == 2


def test_files_name_what_was_not_judged() -> None:
    turn = a_turn(unjudged={"calls": "EVENT-GLUED"})
    run = a_run([a_result("a", outcome=Outcome.UNJUDGED, turns=(turn,)), a_result("b")])
    gate = judge_gate(run)
    assert '<skipped message="unjudged: calls: EVENT-GLUED"/>' in junit(run, gate)
    for text in (results_csv(run), turns_csv(run)):
        rows = csv.DictReader(io.StringIO(text))
        assert [row["unjudged"] for row in rows] == ["calls: EVENT-GLUED", ""]
    assert badge(run, gate).message == "pass, 1/1 conform, 1 unjudged"
    assert "calls      1/2  50.0 %   1 EVENT-GLUED" in tables(summarize(run), colour=False)


def test_csv_has_one_line_for_each_cell_and_no_formula() -> None:
    run, _ = a_hostile_run()
    rows = list(csv.DictReader(io.StringIO(results_csv(run))))
    assert len(rows) == len(run.results)
    for row in rows:
        for value in row.values():
            assert not value.startswith(("=", "+", "-", "@", "\t", "\r"))
    turns = list(csv.DictReader(io.StringIO(turns_csv(run))))
    assert {row["success"] for row in turns} == {"true"}
    assert len(turns) == sum(len(result.turns) for result in run.results)


def test_rankings_csv_has_the_parse_error_rate_of_models_and_none_of_clients() -> None:
    broken = a_turn(success=False, parse_errors=1, blame="model")
    run = a_run([a_result("a", turns=(broken,)), a_result("b"), a_result("c", model="unknown")])
    rows = list(csv.DictReader(io.StringIO(rankings_csv(summarize(run).rankings))))
    found = {(row["board"], row["name"]): row for row in rows}
    assert [*found] == [
        ("model", "m"),
        ("prompt", "p"),
        ("model x prompt", "m x p"),
        ("normalizer", "reference"),
    ]
    model = found["model", "m"]
    assert (model["parse_error_rate_k"], model["parse_error_rate_n"]) == ("1", "2")
    assert (model["parse_error_model"], model["distinguishable"]) == ("1", "true")
    assert found["prompt", "p"]["parse_error_rate_n"] == "3"
    assert found["normalizer", "reference"]["parse_error_rate_k"] == ""


@given(texts)
def test_markdown_text_is_one_line_without_markup(said: str) -> None:
    shown = visible.markdown_text(said, limit=1_000)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[`*_\[\]|~]", shown.replace("\\\\", ""))
    assert not re.search(r"[<>@!]|://|#(?!\d+;)", shown)


_SIGNS = (
    *("-", "+", "*", "1.", "2)", " ", "    ", "#", "=", "---", "`", "~~~", "<b>", "<!--", "**"),
    *("[a](b)", "![x](y)", "http://a.b", "www.a.b", "|", "\\", "\n", "\t", "&", "x", "[x]: /u"),
)
_SIGNED = st.lists(st.sampled_from(_SIGNS), min_size=1, max_size=7).map("".join)


@given(_SIGNED, st.sampled_from(("- {}", "# {}", "{}")))
def test_text_is_text_for_a_parser_of_markdown(said: str, line: str) -> None:
    parse = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table").parse

    def kinds(text: str) -> list[str]:
        found = [one for each in parse(text) for one in (each, *(each.children or ()))]
        return [each.type for each in found if each.type not in {"text", "text_special"}]

    assert kinds(line.format(visible.markdown_text(said))) == kinds(line.format("x"))
    assert "code_inline" in kinds(line.format(visible.markdown_code(said)))


@given(texts)
def test_markdown_code_span_contains_all_of_its_text(said: str) -> None:
    span = visible.markdown_code(said)
    fence = re.match("`+", span)
    assert fence
    assert fence[0] not in span[len(fence[0]) : -len(fence[0])].strip("`") + " "
    assert "\n" not in span


def test_summary_keeps_its_limit_and_counts_omitted_failures() -> None:
    run, summary = a_hostile_run(copies=15)[0], _summary(copies=15)
    for limit in (4_000, 20_000, 200_000):
        text = summary_markdown(run, summary, limit)
        assert len(text.encode()) <= limit
        assert text.startswith("## Gate: fail\n")
        assert " more causes of failure" in text
        assert text.count("\n") <= MAX_LINES
    changed = summary_markdown(run, summary, changed="+3 broken, 1 fixed since yesterday")
    assert "**Changes:** +3 broken, 1 fixed since yesterday" in changed


def test_summary_has_no_links_and_no_markup_of_hostile_text() -> None:
    text = summary_markdown(a_hostile_run()[0], _summary())
    bare = re.sub(r"(`+).*?\1", "", text)
    assert not re.search(r"<script|(?<!\\)\]\(|://|(?<!\\)\*\*bold|@everyone", bare)


def test_annotations_are_limited_and_one_line_each() -> None:
    run, gate = a_hostile_run(copies=3)
    lines = list(annotations(run, gate))
    assert len(lines) == MAX_ANNOTATIONS + 1
    assert "more causes of failure" in lines[-1]
    for line in lines:
        assert line.startswith("::error title=")
        assert not re.search(r"[\r\n]", line)
        title = line[len("::error title=") :].split("::", 1)[0]
        assert not re.search(r"[:,]", title)


def test_violated_should_rule_is_reported_and_fails_no_cell() -> None:
    should = a_finding("SHOULD-RULE", level="SHOULD")
    lost = a_result("b", outcome=Outcome.LOST_CALL, findings=(a_finding("MUST-RULE"), should))
    run = a_run([a_result("a", findings=(should,)), lost])
    gate = judge_gate(run)
    must, _, others = summary_markdown(run, summarize(run)).partition("### SHOULD rules")
    assert "### Failures" in must
    assert ("MUST-RULE" in must, "SHOULD-RULE" in must) == (True, False)
    assert ("MUST-RULE" in others, "SHOULD-RULE" in others) == (False, True)
    (annotation,) = annotations(run, gate)
    assert "SHOULD-RULE" not in annotation
    pages = agent_pages(run, gate)
    assert "2 cells, causes of failure: 1." in pages[INDEX]
    assert "fail no cell: 1 cause." in pages[INDEX]
    (page,) = (text for text in pages.values() if "SHOULD SHOULD-RULE" in text.partition("\n")[0])
    assert "Does not fail, but is violated in 2 cells" in page


def test_summary_has_no_failures_heading_without_a_failure() -> None:
    run = a_run([a_result("a", findings=(a_finding("RULE", level="SHOULD"),))])
    assert "### Failures" not in summary_markdown(run, summarize(run))


def test_annotations_are_empty_when_the_gate_passes() -> None:
    run = a_run([a_result("a")])
    assert list(annotations(run, judge_gate(run))) == []


def test_agent_index_is_small_and_links_to_existing_pages() -> None:
    run, gate = a_hostile_run(copies=30)
    pages = agent_pages(run, gate)
    index = pages[INDEX]
    assert len(index.encode()) <= MAX_INDEX_BYTES
    links = re.findall(r"\]\(([a-z0-9-]+\.md)\)", index)
    assert links
    assert set(links) <= pages.keys()
    assert f"and {len(pages) - 1 - len(links)} more pages" in index
    assert f"causes of failure: {30 * len(NAMES)}." in index
    assert f"Only the first {MAX_PAGES} have a page." in index
    assert all("harness replay" in text for name, text in pages.items() if name != INDEX)


def test_the_badge_has_the_keys_of_its_service() -> None:
    run = a_run([a_result("a"), a_result("b", outcome=Outcome.LEAK)])
    made = json.loads(msgspec.json.encode(badge(run, judge_gate(run))))
    assert made == {
        "schemaVersion": 1,
        "label": "tool calls",
        "message": "fail, 1/2 conform",
        "color": "red",
    }


def test_json_file_matches_its_schema() -> None:
    run = a_run([a_result("a"), a_result("b", outcome=Outcome.LEAK)])
    (text,) = files(run, summarize(run), "json").values()
    schema = jsonschema_rs.validator_for(msgspec.json.schema(Summary))
    assert schema.is_valid(json.loads(text))


@pytest.mark.parametrize("style", ["pretty", "markdown"])
def test_comparison_text_has_no_hostile_markup(style: str) -> None:
    run, _ = a_hostile_run()
    text = comparison_text(compare(a_run([], *NAMES), run), ("old", "new"), style)  # type: ignore[arg-type]  # a Format
    assert f"{len(run.results)} new" in text
    assert not CONTROL.search(text)
    assert EVIL not in text
