"""The files beside the page: hostile text stays text, limits hold, equal runs are equal bytes."""

import csv
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
from harness.judging.results import Outcome
from harness.reporting import visible
from harness.reporting.text.agent_pages import INDEX, MAX_INDEX_BYTES, MAX_PAGES, agent_pages
from harness.reporting.text.compare import comparison_text
from harness.reporting.text.files import KINDS, badge, files, results_csv, turns_csv
from harness.reporting.text.junit import junit
from harness.reporting.text.summary import summary_markdown
from harness.runs.compare import compare
from harness.runs.gate import judge_gate
from harness.runs.summary import Summary, summarize
from tests.reporting.reporting_hostile import EVIL, NAMES, a_hostile_run
from tests.runs.runs_samples import a_finding, a_result, a_run

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]")
texts = st.text(max_size=60)


def _summary(copies: int = 1) -> Summary:
    run, gate = a_hostile_run(copies)
    return msgspec.structs.replace(summarize(run), gate=gate)


@pytest.mark.parametrize("kind", KINDS)
def test_no_control_character_survives_and_equal_runs_are_equal(kind: str) -> None:
    run, summary = a_hostile_run()[0], _summary()
    made = files(run, summary, kind)  # type: ignore[arg-type]  # a Kind, from the table
    assert made == files(run, summary, kind)  # type: ignore[arg-type]  # as above
    for text in made.values():
        assert text.endswith("\n")
        assert kind == "json" or not CONTROL.search(text)
        assert text.encode()


def test_junit_is_xml_whose_counts_are_right() -> None:
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


def test_junit_of_a_run_that_passes_has_no_failure_and_no_unsupported_cell() -> None:
    run = a_run([a_result("a"), a_result("b", outcome=Outcome.UNSUPPORTED)])
    text = junit(run, judge_gate(run))
    assert "<failure" not in text
    assert text.count("<testcase") == 2


def test_csv_holds_no_formula_and_one_line_for_each_cell() -> None:
    run, _ = a_hostile_run()
    rows = list(csv.DictReader(io.StringIO(results_csv(run))))
    assert len(rows) == len(run.results)
    for row in rows:
        for value in row.values():
            assert not value.startswith(("=", "+", "-", "@", "\t", "\r"))
    turns = list(csv.DictReader(io.StringIO(turns_csv(run))))
    assert {row["success"] for row in turns} == {"true"}
    assert len(turns) == sum(len(result.turns) for result in run.results)


@given(texts)
def test_markdown_text_is_one_line_without_markup(said: str) -> None:
    shown = visible.markdown_text(said, limit=1_000)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[`*_\[\]|~]", shown.replace("\\\\", ""))
    assert not re.search(r"[<>@!]|://|#(?!\d+;)", shown)


@given(texts)
def test_a_code_span_cannot_be_left(said: str) -> None:
    span = visible.markdown_code(said)
    fence = re.match("`+", span)
    assert fence
    assert fence[0] not in span[len(fence[0]) : -len(fence[0])].strip("`") + " "
    assert "\n" not in span


def test_the_summary_keeps_its_limit_and_counts_what_it_leaves_out() -> None:
    run, summary = a_hostile_run(copies=15)[0], _summary(copies=15)
    for limit in (4_000, 20_000, 200_000):
        text = summary_markdown(run, summary, limit)
        assert len(text.encode()) <= limit
        assert text.startswith("## Gate: fail\n")
        assert (" more kinds of failure" in text) is (limit < 200_000)


def test_the_summary_does_not_act_on_what_it_shows() -> None:
    text = summary_markdown(a_hostile_run()[0], _summary())
    bare = re.sub(r"(`+).*?\1", "", text)
    assert not re.search(r"<script|(?<!\\)\]\(|://|(?<!\\)\*\*bold|@everyone", bare)


def test_annotations_are_few_and_one_line_each() -> None:
    run, gate = a_hostile_run(copies=3)
    told = list(annotations(run, gate))
    assert len(told) == MAX_ANNOTATIONS + 1
    assert "more kinds of failure" in told[-1]
    for line in told:
        assert line.startswith("::error title=")
        assert not re.search(r"[\r\n]", line)
        title = line[len("::error title=") :].split("::", 1)[0]
        assert not re.search(r"[:,]", title)


def test_a_broken_should_rule_is_told_and_is_no_failure() -> None:
    should = a_finding("SHOULD-RULE", level="SHOULD")
    lost = a_result("b", outcome=Outcome.LOST_CALL, findings=(a_finding("MUST-RULE"), should))
    run = a_run([a_result("a", findings=(should,)), lost])
    gate = judge_gate(run)
    must, _, others = summary_markdown(run, summarize(run)).partition("### SHOULD and MAY rules")
    assert "### Failures" in must
    assert ("MUST-RULE" in must, "SHOULD-RULE" in must) == (True, False)
    assert ("MUST-RULE" in others, "SHOULD-RULE" in others) == (False, True)
    (told,) = annotations(run, gate)
    assert "SHOULD-RULE" not in told
    pages = agent_pages(run, gate)
    assert "2 cells; 1 kind of failure" in pages[INDEX]
    assert "fail no cell: 1 kind." in pages[INDEX]
    (page,) = (text for text in pages.values() if "SHOULD SHOULD-RULE\n" in text)
    assert "fails nothing, in 2 cells" in page


def test_without_a_failure_nothing_is_headed_so() -> None:
    run = a_run([a_result("a", findings=(a_finding("RULE", level="SHOULD"),))])
    assert "### Failures" not in summary_markdown(run, summarize(run))


def test_a_gate_that_passes_annotates_nothing() -> None:
    run = a_run([a_result("a")])
    assert list(annotations(run, judge_gate(run))) == []


def test_the_index_for_agents_is_small_and_each_link_is_a_page() -> None:
    run, gate = a_hostile_run(copies=30)
    pages = agent_pages(run, gate)
    index = pages[INDEX]
    assert len(index.encode()) <= MAX_INDEX_BYTES
    links = re.findall(r"\]\(([a-z0-9-]+\.md)\)", index)
    assert links
    assert set(links) <= pages.keys()
    assert f"and {len(pages) - 1 - len(links)} more pages" in index
    assert f"{30 * len(NAMES)} kinds of failure" in index
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


def test_the_json_file_is_what_its_schema_says() -> None:
    run = a_run([a_result("a"), a_result("b", outcome=Outcome.LEAK)])
    (text,) = files(run, summarize(run), "json").values()
    jsonschema_rs.validator_for(msgspec.json.schema(Summary)).validate(json.loads(text))


@pytest.mark.parametrize("style", ["pretty", "markdown"])
def test_a_comparison_is_told_without_its_markup(style: str) -> None:
    run, _ = a_hostile_run()
    text = comparison_text(compare(a_run([], *NAMES), run), style)  # type: ignore[arg-type]  # a Format
    assert f"{len(run.results)} new" in text
    assert not CONTROL.search(text)
    assert EVIL not in text
