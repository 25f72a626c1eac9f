"""Lists in a browser: counts and their rows, filters, keys, downloads, narrow screens, paper."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from harness.reporting.page import render_page
from harness.reporting.pages import replays
from harness.results.outcome import Outcome
from harness.results.run import Run
from tests.reporting.browser.reporting_places import CASE, PAGES, Browser, Opened, Visit

_STATUS = "#replays [role=status]"
_FILTER = "#replays input[type=search]"
_ROWS = "#replays-table tbody tr:has(a)"
# The number of a link: n of k/n, else the first.
_COUNTS = """all => all.map((e) => {
  const [, number] = /[/]([0-9,]+)/.exec(e.textContent) ?? /([0-9,]+)/.exec(e.textContent);
  return [e.getAttribute("href"), e.dataset.rows, number.replaceAll(",", "")];
})"""


def _ask(opened: Opened, place: str) -> None:
    opened.evaluate("place => { location.hash = place }", place)
    opened.wait_for_function("place => location.hash.slice(1) === place", arg=place)
    opened.wait_for_timeout(5)


def _count(opened: Opened) -> int:
    return int(opened.inner_text(_STATUS).split()[0].replace(",", ""))


def test_each_count_links_to_exactly_the_rows_that_it_counts(visit: Visit) -> None:
    opened = visit("overview")
    links = opened.eval_on_selector_all("a[data-rows]", _COUNTS)
    assert len(links) > 25
    shared = opened.eval_on_selector_all(
        "small:has(> a[data-rows])", "all => all.map((e) => e.textContent.trim())"
    )
    assert {each for each in shared if each.startswith("cells in")} == set()  # only turns share one
    for href, rows, text in {tuple(each) for each in links}:
        _ask(opened, href[1:])
        assert _count(opened) == int(rows), href
        assert text == rows, href


@pytest.mark.parametrize(
    ("query", "reason", "fixed"),
    [
        ("outcome:lost_cal normalizer:naive", "No cell has outcome:lost_cal.", "outcome:lost_call"),
        ("modle:qwen-plus", "“modle” is not a field.", "model:"),
        (
            "outcome:crash normalizer:reference",
            "outcome:crash excludes all 74 that match the rest",
            "without it",
        ),
        ("zzzz model:glm-4", "No cell has the text “zzzz”", "without zzzz"),
    ],
)
def test_query_without_rows_says_why_and_what_does_match(
    visit: Visit, query: str, reason: str, fixed: str
) -> None:
    opened = visit("replays?q=" + quote(query))
    assert reason in opened.inner_text("#replays-table .none-found")
    opened.click(f"#replays-table .none-found button:has-text('{fixed}') >> nth=0")
    assert _count(opened) > 0


def test_filter_of_another_table_says_which_word_excludes_all(visit: Visit) -> None:
    opened = visit("failures?q-failures=" + quote("crash zzzz"))
    status = "#failures .list [role=status] >> nth=0"
    assert "none has “zzzz”" in opened.inner_text(status)
    opened.click(f"{status} >> button")
    assert opened.inner_text(status).startswith("1 of ")


def test_chips_of_one_field_add_up_and_those_of_two_fields_narrow(visit: Visit) -> None:
    opened = visit("replays")
    chip = "#replays .facets button[data-value='{}']"
    counts = []
    for value in ("normalizernaive", "outcomecrash", "outcomelost_call"):
        opened.click(chip.format(value))
        counts.append(_count(opened))
    assert counts == [5, 1, 2]
    assert opened.input_value(_FILTER) == "normalizer:naive outcome:crash,lost_call"
    opened.click(chip.format("outcomecrash"))
    assert opened.input_value(_FILTER) == "normalizer:naive outcome:lost_call"
    assert opened.get_attribute(chip.format("outcomecrash"), "aria-pressed") == "false"
    opened.fill(_FILTER, 'model:"qwen-plus",glm-4 origin:imported')
    assert _count(opened) == 69


def test_back_restores_filter_scroll_and_focus(visit: Visit) -> None:
    opened = visit("replays?q=" + quote("normalizer:reference"))
    opened.fill(_FILTER, "reference")
    opened.locator(f"{_ROWS} >> nth=60").scroll_into_view_if_needed()
    link = opened.locator(f"{_ROWS} >> nth=60 >> a")
    wanted = link.inner_text()
    before = opened.evaluate("scrollY")
    assert before > 200
    link.click()
    opened.wait_for_selector("#sheet:visible, details.case.here")
    assert opened.evaluate("scrollY") == 0
    opened.go_back()
    opened.wait_for_selector("#replays.here")
    opened.wait_for_function("y => Math.abs(scrollY - y) < 3", arg=before)
    assert opened.input_value(_FILTER) == "reference"
    assert opened.evaluate("document.activeElement.textContent") == wanted


@pytest.mark.parametrize(
    ("place", "page", "words"),
    [
        ("nonsense", "overview", "no part “nonsense”"),
        ("model/not-a-model", "models", "no model “not-a-model”"),
        ("quirk/NOT-ONE", "quirks", "no quirk “NOT-ONE”"),
        ("failure/none/at/all", "failures", "no failure “none/at/all”"),
        ("case/none/at-all", "sheet", "This run has no cell with this name"),
    ],
)
def test_link_to_what_the_report_lacks_says_so(
    visit: Visit, place: str, page: str, words: str
) -> None:
    opened = visit(place)
    assert words in opened.inner_text(f"#{page}")
    opened.click(f"#{page} a:has-text('Search the results')")
    opened.wait_for_selector("#replays.here")
    assert opened.locator(".missing:visible").count() == 0


def test_title_has_the_filter(visit: Visit) -> None:
    assert visit("replays?q=model:glm-4").title().startswith("Results model:glm-4: ")


@pytest.mark.parametrize("page", ["replays", "failures", "models", "clients", "quirks"])
def test_first_row_is_within_three_tabs_and_j_and_k_walk_the_rows(visit: Visit, page: str) -> None:
    opened = visit(page)
    rows = opened.locator(f"#{page} table tbody tr:has(a)")
    inside = f"document.activeElement.closest('#{page} tbody tr') !== null"
    for _ in range(3):
        if not opened.evaluate(inside):
            opened.keyboard.press("Tab")
    assert opened.evaluate(inside)
    opened.evaluate("document.activeElement.blur()")
    place = "document.activeElement.closest('tbody tr')?.rowIndex"
    seen = []
    for key in "jjk" if rows.count() > 1 else "j":
        opened.keyboard.press(key)
        seen.append(opened.evaluate(place))
    assert None not in seen
    assert seen[-1] == seen[0]


def test_arrow_keys_move_between_the_headings(visit: Visit) -> None:
    opened = visit("replays")
    opened.focus("#replays-table thead button >> nth=0")
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("Enter")
    assert opened.get_attribute("#replays-table th >> nth=1", "aria-sort") == "ascending"


def _downloaded(opened: Opened, button: str) -> list[list[str]]:
    with opened.expect_download() as download:
        opened.click(button)
    text = Path(download.value.path()).read_text(encoding="utf-8")
    return [*csv.reader(io.StringIO(text))]


def test_filtered_list_is_downloaded_as_csv(visit: Visit) -> None:
    opened = visit("replays?q=" + quote("normalizer:naive outcome:crash,lost_call"))
    head, *rows = _downloaded(opened, "#replays .extras button:has-text('CSV')")
    assert head[:3] == ["cell", "scenario", "normalizer"]
    assert [dict(zip(head, row, strict=True))["outcome"] for row in rows] == ["crash", "lost_call"]
    opened = visit("failures?q-failures=crash")
    head, *rows = _downloaded(opened, "#failures .extras button:has-text('CSV') >> nth=0")
    assert (head[0], len(rows)) == ("Cause", 1)


@pytest.fixture
def hostile(chromium: Browser, sample: Run, tmp_path: Path) -> Iterator[Opened]:
    """Open the table of a run whose names are formulas, markup and controls."""
    evil = '=HYPERLINK("http://x")\x1b[31m\u202e,\n<img src=x onerror=alert(1)>'
    results = tuple(
        msgspec.structs.replace(each, title=evil, model=evil) for each in sample.results[:3]
    )
    path = tmp_path / "page.html"
    page = render_page(msgspec.structs.replace(sample, results=results))
    path.write_text(page, encoding="utf-8")
    opened = chromium.new_page()
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(f"{path.as_uri()}#replays")
    opened.wait_for_selector("html[data-ready]")
    yield opened
    opened.close()
    assert complaints == []


def test_csv_executes_nothing(hostile: Opened) -> None:
    head, *rows = _downloaded(hostile, "#replays .extras button:has-text('CSV')")
    title = dict(zip(head, rows[0], strict=True))["title"]
    assert title.startswith("'=HYPERLINK")
    assert not set(title) & {"\x1b", "\u202e", "\n"}
    assert (len(rows), "␛[31m<U+202E>" in title) == (3, True)
    hostile.fill(_FILTER, "model:zzz <img src=x onerror=alert(2)>")
    assert "No cell" in hostile.inner_text("#replays-table .none-found")


def test_columns_can_be_hidden_and_are_part_of_the_link(visit: Visit) -> None:
    opened = visit("replays")
    opened.click("#replays .columns summary")
    opened.uncheck("#replays .columns label:has-text('Prompt') input")
    assert opened.locator("#replays-table th:has-text('Prompt'):visible").count() == 0
    place = opened.evaluate("location.hash.slice(1)")
    opened = visit(place)
    assert opened.locator("#replays-table th:has-text('Prompt'):visible").count() == 0
    assert opened.locator(f"{_ROWS} >> nth=0 >> td:visible").count() == 7
    opened.click("#replays .columns summary")
    opened.check("#replays .columns label:has-text('Prompt') input")
    assert opened.locator(f"{_ROWS} >> nth=0 >> td:visible").count() == 8


_TOO_WIDE = """(most) => [...document.querySelectorAll("main table[data-table], #replays-table")]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > most)
  .map((e) => (e.dataset.table ?? e.id) + " " + Math.round(e.getBoundingClientRect().right))"""
_LOST = """() => [...document.querySelectorAll("main table[data-table] tbody td")].filter((e) =>
  e.checkVisibility() && !e.closest("details:not([open])") && e.textContent.trim() && !e.offsetWidth
).length"""


def test_tables_fit_a_narrow_screen_with_all_columns(visit: Visit) -> None:
    opened = visit("overview")
    opened.set_viewport_size({"width": 400, "height": 800})
    wide = []
    for name in PAGES:
        _ask(opened, name)
        wide += opened.evaluate(_TOO_WIDE, 400)
        assert opened.evaluate(_LOST) == 0
    assert wide == []
    _ask(opened, "replays")
    row = opened.inner_text(f"{_ROWS} >> nth=0")
    for head in ("Outcome", "Cell", "Violated rules", "Model", "Prompt", "Origin", "Replays"):
        label = "() => [...document.querySelectorAll('#replays-table tbody tr:first-child > *')]"
        assert head in opened.evaluate(label + ".map((e) => e.dataset.label)")
    assert "naive" in row
    opened.set_viewport_size({"width": 1280, "height": 900})


def test_tables_fit_a4(visit: Visit) -> None:
    opened = visit("models")
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 700, "height": 1000})  # A4 without margins of 12 mm
    assert opened.evaluate(_TOO_WIDE, 701) == []
    opened.emulate_media(media="screen")
    opened.set_viewport_size({"width": 1280, "height": 900})


def test_one_case_prints_as_one_case(visit: Visit) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs the extra `browser`")
    for place in (CASE, "case/openai-chat/many-fragments/reference"):
        pages = pypdf.PdfReader(io.BytesIO(visit(place).pdf())).pages
        text = re.sub(r"\s+", "", "".join(each.extract_text() for each in pages))
        assert place.removeprefix("case/") in text
        assert "crlf-cut-inside" not in text
        assert "Outcomesofcells" not in text
        assert len(pages) < 10


def test_percentages_have_one_decimal_everywhere(visit: Visit) -> None:
    opened = visit("overview")
    text = opened.evaluate("document.querySelector('main').textContent")
    rates = set(re.findall(r"[\d.]+ ?%", text)) - {"0 %", "50 %", "100 %", "95 %"}
    assert rates
    assert {each for each in rates if not re.fullmatch(r"\d+\.\d %", each)} == set()


def test_parse_error_does_not_look_like_pass(visit: Visit) -> None:
    opened = visit("normalizers")
    fill = "e => getComputedStyle(e).fill"
    assert "hatch" in opened.eval_on_selector("rect.parse_error", fill)
    assert "hatch" not in opened.eval_on_selector("rect.pass", fill)


def test_large_run_lists_what_failed_and_says_what_it_left_out(
    chromium: Browser, sample: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_ROWS", 80)
    path = tmp_path / "page.html"
    path.write_text(render_page(sample), encoding="utf-8")
    failed = sum(
        each.outcome.fails or any(not turn.success for turn in each.turns)
        for each in sample.results
    )
    passing = next(each for each in sample.results if each.outcome is Outcome.PASS)
    opened = chromium.new_page()
    opened.goto(f"{path.as_uri()}#replays")
    opened.wait_for_selector("html[data-ready]")
    assert opened.inner_text(_STATUS).startswith(f"{failed} of {failed} listed cells")
    note = opened.inner_text("#replays .left-out")
    assert f"leaves out {len(sample.results) - failed} others" in note
    assert "harness query" in note
    opened.fill(_FILTER, f"scenario:{passing.scenario} outcome:pass")
    assert "harness query" in opened.inner_text("#replays-table .none-found")
    opened.close()
