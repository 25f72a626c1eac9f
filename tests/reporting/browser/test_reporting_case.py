"""The page of a case in a browser: what is on the first screen, copying, the list, the search."""

from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from harness.reporting.page import render_page
from harness.results.run import Run
from tests.reporting.browser.reporting_places import CASE, INPUT, Browser, Opened, Visit
from tests.reporting.conftest import CRLF, HOSTILE, LONG

HOSTILE_CASE = "case/openai-chat/hostile-text/naive"
CRASH = "case/openai-chat/crlf-cut-inside/naive"


def _in_view(opened: Opened, selector: str) -> bool:
    """Whether all matches begin above the lower edge of the window, with 100 pixels to read."""
    script = """all => all.length
      && all.every((e) => e.getBoundingClientRect().top < innerHeight - 100)"""
    return bool(opened.eval_on_selector_all(f"details.case.here {selector}", script))


@pytest.mark.parametrize("case", [CASE, CRASH, HOSTILE_CASE])
def test_bytes_deltas_and_turn_are_on_the_screen_of_a_laptop(visit: Visit, case: str) -> None:
    opened = visit(case)
    opened.set_viewport_size({"width": 1440, "height": 900})
    for selector in ("table.diff", ".axis", "table.frames", "table.deltas"):
        assert _in_view(opened, selector), selector
    assert opened.locator("details.case.here table.deltas").count() == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_expected_is_green_and_actual_is_red(visit: Visit, theme: str) -> None:
    opened = visit(f"{HOSTILE_CASE}?theme={theme}")
    colours = [
        opened.eval_on_selector(
            f"details.case.here table.diff td.{name}",
            "(e) => getComputedStyle(e).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)",
        )
        for name in ("want", "got")
    ]
    assert colours[0][1] > colours[0][0]  # more green than red
    assert colours[1][0] > colours[1][1]
    assert HOSTILE.split("\x1b", maxsplit=1)[0] in opened.inner_text("details.case.here td.want")
    opened.evaluate("localStorage.clear()")


def test_no_frame_is_repeated(visit: Visit) -> None:
    opened = visit(HOSTILE_CASE)
    assert opened.inner_text("details.case.here table.frames").count('"The file is "') == 1


def test_exception_of_a_crash_is_shown_and_found(visit: Visit) -> None:
    opened = visit(CRASH)
    assert "can't decode byte 0xe6" in opened.inner_text("details.case.here .trace")


def _copied(opened: Opened, button: str) -> str:
    opened.click(f"details.here .copy:text-is('{button}')")
    opened.wait_for_selector("details.here .copy:has-text('Copied')")
    return str(opened.evaluate("navigator.clipboard.readText()"))


def test_command_and_bytes_are_copied_as_they_are(visit: Visit) -> None:
    opened = visit(CRASH)
    command = opened.inner_text("details.case.here .command")
    assert _copied(opened, "Copy command") == command
    assert "--cuts" in command
    assert _copied(opened, "Copy bytes").encode() == CRLF


def test_markdown_of_a_case_is_well_formed(visit: Visit) -> None:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    opened = visit(HOSTILE_CASE)
    opened.keyboard.press("c")
    opened.wait_for_selector("details.here .copy:has-text('Copied')")
    tokens = parser.parse(opened.evaluate("navigator.clipboard.readText()"))
    kinds = {each.type for token in tokens for each in (token, *(token.children or ()))}
    assert not kinds & {"html_block", "html_inline", "image", "code_block", "hr"}
    assert [each.tag for each in tokens if each.type == "heading_open"] == ["h3"]
    blocks = [each.content for each in tokens if each.type == "fence"]
    assert blocks[0].startswith("harness replay openai-chat/hostile-text/naive --cuts each-byte")
    assert "<script>alert(1)</script>" in blocks[1]
    rows = [each for each in tokens if each.type == "tr_open"]
    assert len(rows) == opened.locator("details.case.here table.diff tr").count()


def test_fences_are_longer_than_those_in_the_stream(
    chromium: Browser, sample: Run, tmp_path: Path
) -> None:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    cell = "openai-chat/hostile-text/naive"
    evil = "a\n```\n# not a heading\n````\n<b>"
    case = msgspec.structs.replace(sample.cases[cell], body=evil.encode(), frames=(), error=evil)
    finding = next(each for each in sample.results if each.cell == cell).findings[0]
    findings = (msgspec.structs.replace(finding, actual=evil),)
    results = tuple(
        msgspec.structs.replace(each, findings=findings if each.cell == cell else each.findings)
        for each in sample.results
    )
    path = tmp_path / "page.html"
    run = msgspec.structs.replace(sample, results=results, cases={cell: case})
    path.write_text(render_page(run), encoding="utf-8")
    context = chromium.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.goto(f"{path.as_uri()}#case/{cell}")
    opened.wait_for_selector("html[data-ready]")
    tokens = parser.parse(_copied(opened, "Copy as Markdown"))
    blocks = [each.content for each in tokens if each.type == "fence"]
    assert blocks.count(f"{evil}\n") == 3  # the finding, the exception and the bytes
    assert len([each for each in tokens if each.type == "heading_open"]) == 1
    context.close()


def test_next_and_previous_stay_in_the_filtered_list(visit: Visit, sample: Run) -> None:
    opened = visit("replays?q=" + quote("normalizer:naive -outcome:crash"))
    opened.click("#replays-table tbody tr:nth-child(2) a")
    assert opened.inner_text(".back span") == "2 of 4"
    cells = [opened.inner_text("details.case.here .cell")]
    opened.click(".back button:has-text('Next')")
    opened.wait_for_selector(".back span:text-is('3 of 4')")
    opened.keyboard.press("j")
    opened.wait_for_selector(".back span:text-is('4 of 4')")
    assert opened.is_disabled(".back button:has-text('Next')")
    opened.keyboard.press("k")
    opened.keyboard.press("p")
    opened.wait_for_selector(".back span:text-is('2 of 4')")
    assert opened.inner_text("details.case.here .cell") == cells[0]
    outcomes = {each.cell: each.outcome for each in sample.results}
    assert outcomes[cells[0]] != "crash"
    opened.click(".back a:has-text('Filtered results')")
    opened.wait_for_selector("#replays-table")
    assert opened.inner_text("#replays [role=status]").startswith("4 of 84 cells")


def test_next_and_previous_stay_in_the_filtered_rows_of_a_table(visit: Visit) -> None:
    opened = visit("failures?q-failures=mismatch")
    rows = opened.locator("#failures [data-table=failures] tbody tr:visible")
    assert rows.count() == 1
    rows.locator("a[href^='#case/']").first.click()
    assert "list=failures&q-failures=mismatch" in opened.evaluate("location.hash")
    assert opened.locator(".back button").count() == 0  # the only case of its list
    opened = visit("failures")
    opened.click("#failures [data-table=failures] tbody tr:nth-child(2) a[href^='#case/']")
    total = opened.inner_text(".back span").partition(" of ")[2]
    assert int(total) == opened.locator("#failures [data-table=failures] tbody tr").count()
    opened.click(".back a:has-text('Failures')")
    opened.wait_for_selector("#failures.here")


def test_cells_without_bytes_have_neighbours_too(visit: Visit) -> None:
    opened = visit("replays?q=" + quote("model:glm-4"))
    opened.click("#replays-table tbody tr:nth-child(1) a")
    assert opened.inner_text("#sheet .back span") == "1 of 6"
    opened.keyboard.press("n")
    opened.wait_for_selector("#sheet .back span:text-is('2 of 6')")


def test_search_in_a_case_counts_and_marks_its_matches(visit: Visit) -> None:
    opened = visit(CASE)
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.placeholder") == "Find in this case"
    opened.keyboard.type("0030,")
    status = "details.case.here .tools [role=status]"
    # A read ends inside the second of the two characters: a match crosses the mark of that end.
    count = opened.evaluate("CSS.highlights.get('found').size")
    assert opened.inner_text(status) == f"1 of {count}"
    texts = opened.evaluate("[...CSS.highlights.get('found')].map((each) => each.toString())")
    assert {each.replace("│", "") for each in texts} == {"0030,"}
    assert "0│030," in texts or "00│30," in texts
    opened.keyboard.press("Enter")
    assert opened.inner_text(status) == f"2 of {count}"
    assert "find=0030" in opened.evaluate("location.hash")
    opened.reload()
    opened.wait_for_selector("html[data-ready]")
    assert opened.inner_text(status) == f"1 of {count}"
    opened.fill("details.case.here .tools input", "not in this case")
    assert opened.inner_text(status) == "no match"
    assert LONG.count(b"0030,") == 1


def test_a_rule_has_a_sentence_and_leads_to_its_sources(
    chromium: Browser, sample: Run, tmp_path: Path
) -> None:
    cell = "openai-chat/many-fragments/naive"
    results = tuple(
        msgspec.structs.replace(
            each, findings=(msgspec.structs.replace(each.findings[0], rule="CALL-NAMED"),)
        )
        if each.cell == cell
        else each
        for each in sample.results
    )
    path = tmp_path / "page.html"
    path.write_text(render_page(msgspec.structs.replace(sample, results=results)), encoding="utf-8")
    opened = chromium.new_page()
    opened.goto(f"{path.as_uri()}#case/{cell}")
    opened.wait_for_selector("html[data-ready]")
    reason = opened.inner_text("details.case.here .reason")
    assert "A client must keep the name that the stream gives a call" in reason
    sources = opened.locator("details.case.here .finding a[rel=noreferrer]")
    assert sources.first.get_attribute("href").startswith("https://")
    opened.click("details.case.here .reason a")
    opened.wait_for_selector("#method.here .aimed:has-text('CALL-NAMED')")
    opened.close()


def test_all_normalizers_of_one_input_are_side_by_side(visit: Visit) -> None:
    opened = visit(CASE)
    opened.click("details.case.here a:has-text('All normalizers side by side')")
    opened.wait_for_selector("#clients.here details.here")
    text = opened.inner_text("#clients details.here")
    for name in ("naive", "reference", "dashscope-restore"):
        assert name in text
    assert opened.locator("#clients details.here .made .flag").count() == 1
    lanes = opened.locator("#clients details.here .axis .label").all_inner_texts()
    assert [each.split(" ")[0] for each in lanes if each] == ["frames", "deltas", "deltas"]
    opened.click("#clients details.here a:text-is('naive')")
    opened.wait_for_selector("#failures details.here")


def test_cassettes_lead_to_their_input_and_an_unknown_input_to_its_replays(visit: Visit) -> None:
    opened = visit("cassettes")
    opened.click(f"#cassettes a[href='#{INPUT}']")
    opened.wait_for_selector("#clients.here details.here")
    opened = visit("input/cassette%3Aglm-4/native-tools-v1/000")
    opened.click("#clients .missing a")
    opened.wait_for_selector("#replays.here")
    assert opened.inner_text("#replays [role=status]").startswith("1 of 84 cells")


def test_nothing_of_a_case_or_an_input_is_wider_than_a_narrow_screen(visit: Visit) -> None:
    opened = visit(HOSTILE_CASE)
    opened.set_viewport_size({"width": 400, "height": 800})
    for place in (HOSTILE_CASE, CRASH, INPUT):
        opened.evaluate("place => { location.hash = place }", place)
        opened.wait_for_function("(id) => document.getElementById(id).checkVisibility()", arg=place)
        assert not opened.evaluate("document.documentElement.scrollWidth > innerWidth")
