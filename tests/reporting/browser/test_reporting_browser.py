"""The page in a browser: every page, deep links, filters, stepping, keys, copying, paper."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from harness.cli.live_server import Live, LiveServer
from harness.reporting.page import render_page
from harness.reporting.report import ReportContext, anchor
from harness.results.run import Run
from harness.results.store import RunWriter
from tests.reporting.browser.reporting_places import CASE, PAGES, Browser, Opened, Visit


def _shown(opened: Opened) -> list[str]:
    found = opened.eval_on_selector_all(
        "main > section", "all => all.filter((e) => e.checkVisibility()).map((e) => e.id)"
    )
    return list(found)


def _place(opened: Opened) -> str:
    return str(opened.evaluate("location.hash.slice(1)"))


def test_each_page_of_the_list_shows_itself_alone_and_nothing_is_asked_of_a_network(
    visit: Visit,
) -> None:
    opened = visit("overview")
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    links = opened.eval_on_selector_all("nav[aria-label=Pages] a", "all => all.map((e) => e.hash)")
    assert links == [f"#{name}" for name in PAGES]
    for name in PAGES:
        opened.evaluate("document.querySelector('nav details').open = true")
        opened.click(f"nav[aria-label=Pages] a[href='#{name}']")
        opened.wait_for_selector(f"nav a[aria-current][href='#{name}']")
        assert _shown(opened) == [name]
        assert opened.inner_text("h1:visible") == opened.inner_text(f"#{name}-title")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_a_link_to_a_byte_of_a_case_shows_that_byte_again(visit: Visit) -> None:
    opened = visit(f"{CASE}@1200")
    assert _shown(opened) == ["failures"]
    assert "byte 1,200 of" in opened.inner_text("details.case.here output")
    assert opened.locator("details.case.here table.frames tr.now").count() == 1
    assert _place(opened) == f"{CASE}@1200"


def test_steps_go_from_one_event_to_the_next_and_to_the_divergence(visit: Visit) -> None:
    opened = visit(CASE)
    places = []
    for _ in range(3):
        opened.keyboard.press("ArrowRight")
        places.append(int(_place(opened).rpartition("@")[2]))
    assert places == sorted(set(places))
    opened.keyboard.press("ArrowLeft")
    assert _place(opened) == f"{CASE}@{places[1]}"
    opened.keyboard.press("d")
    split = opened.get_attribute("details.case.here .axis", "data-divergence")
    assert _place(opened) == f"{CASE}@{split}"
    marked = opened.eval_on_selector_all(
        "details.case.here table.deltas tr.now", "all => all.map((e) => Number(e.dataset.at))"
    )
    assert max(marked) == int(split)


def test_a_filter_is_part_of_the_link_and_counts_what_it_finds(visit: Visit, sample: Run) -> None:
    opened = visit("replays?q=" + quote("model:qwen* outcome:lost_call,crash quirk:*EMPTY*"))
    wanted = [each.cell for each in sample.results if each.outcome == "lost_call"]
    assert (
        opened.eval_on_selector_all(
            "#replays-table tbody th", "all => all.map((e) => e.textContent)"
        )
        == wanted
    )
    assert opened.inner_text("#replays [role=status]").startswith("1 of 84 cells")
    opened.fill("#replays input[type=search]", "normalizer:naive -outcome:crash")
    assert opened.inner_text("#replays [role=status]").startswith("4 of 84 cells")
    assert "normalizer%3Anaive" in _place(opened)
    opened.fill("#replays input[type=search]", 'model:qwen-plus prompt:"native-tools/v?"')
    plus = [e for e in sample.results if (e.model, e.prompt) == ("qwen-plus", "native-tools/v1")]
    assert opened.inner_text("#replays [role=status]").startswith(f"{len(plus)} of 84 cells")
    for sign in "()[]{}+^$|.\\/-*?<>=,:":
        opened.fill("#replays input[type=search]", f"model:a{sign}b{sign}")
        assert opened.inner_text("#replays [role=status]").startswith("0 of 84 cells")
    opened.fill("#replays input[type=search]", "nonsense:1 replays:>1000")
    assert "unknown field nonsense" in opened.inner_text("#replays [role=status]")


def test_the_table_of_replays_sorts_by_each_column(visit: Visit, sample: Run) -> None:
    opened = visit("replays?sort=scenario%3Adown")
    rows = "#replays-table tbody th"
    assert (
        opened.inner_text(f"{rows} >> nth=0")
        == max(sample.results, key=lambda each: each.scenario).cell
    )
    opened.click("#replays-table th[data-column=replays] button")
    head = opened.locator("#replays-table th[data-column=replays]")
    assert head.get_attribute("aria-sort") == "ascending"
    assert _place(opened) == "replays?sort=replays%3Aup"


def test_a_cell_without_bytes_has_a_page_with_its_command(visit: Visit, sample: Run) -> None:
    cell = sample.results[0].cell
    opened = visit("case/" + quote(cell, safe="/:"))
    assert _shown(opened) == ["sheet"]
    assert opened.inner_text("#sheet h2") == cell
    assert opened.inner_text("#sheet .command") == (
        f"harness replay {cell} --in scenarios --in cassettes"
    )
    assert "This run has no cell with this name" in visit("case/none/at-all").inner_text("#sheet")


def test_tables_filter_and_sort_by_their_own_part_of_the_link(visit: Visit, sample: Run) -> None:
    opened = visit("failures?q-failures=crash&sort=failures%3A3%3Adown")
    assert opened.locator("#failures [data-table=failures] tbody tr:visible").count() == 1
    assert opened.get_attribute("#failures th >> nth=3", "aria-sort") == "descending"
    opened.fill("#failures input[type=search] >> nth=0", "")
    assert "q-failures" not in _place(opened)
    rows = {(each.cause, each.normalizer) for each in sample.results if each.cause}
    assert opened.locator("#failures [data-table=failures] tbody tr:visible").count() == len(rows)


def test_sentence_of_a_client_leads_to_what_it_counts_and_a_cause_to_its_case(visit: Visit) -> None:
    opened = visit("overview")
    link = opened.locator("#overview .client a").first
    count = link.inner_text().split()[0]
    link.click()
    opened.wait_for_selector("#replays.here")
    assert opened.inner_text("#replays [role=status]").startswith(f"{count} of 84 cells")
    opened = visit("overview")
    opened.click("#overview .causes a >> nth=0")
    opened.wait_for_selector("details.case.here table.diff")
    assert opened.locator("details.case.here table.frames").count() == 1


def test_command_of_a_cause_is_copied(visit: Visit) -> None:
    opened = visit("overview")
    opened.click("#overview .causes .copy >> nth=0")
    opened.wait_for_selector("#overview .causes .copy:has-text('Copied')")
    assert opened.evaluate("navigator.clipboard.readText()").startswith(
        "harness repro openai-chat/"
    )


def test_row_of_a_failure_opens_its_case_also_by_keys(visit: Visit) -> None:
    opened = visit("failures")
    opened.click("#failures table.opens tbody tr >> nth=1 >> td.n", position={"x": 3, "y": 3})
    opened.wait_for_selector("details.case.here")
    opened = visit("failures")
    opened.keyboard.press("j")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("details.case.here")


def test_old_links_of_pages_lead_to_what_replaced_them(visit: Visit) -> None:
    for old, now in (
        *(("cases", "failures"), ("inputs", "clients"), ("normalizers", "clients")),
        *(("peers", "clients"), ("agents", "clients"), ("prompts", "models")),
        *(("matrix", "models"), ("compare", "changes"), ("trends", "changes")),
    ):
        assert _shown(visit(old)) == [now]


def test_two_clients_are_compared_on_the_same_bytes(visit: Visit) -> None:
    opened = visit("clients?a=reference&b=naive")
    assert opened.inner_text("#pair-choice [role=status]") == "5 of 5 with different outcomes"
    opened.select_option("#pair-choice select >> nth=1", "dashscope-restore")
    assert opened.inner_text("#pair-choice [role=status]") == "0 of 5 with different outcomes"
    assert "b=dashscope-restore" in _place(opened)
    opened.click("#pair-table tbody th a >> nth=0")  # both pass, and the bytes are shown
    opened.wait_for_selector("details.case.input.here .axis")


def test_turns_with_a_parse_error_of_a_model_are_listed_by_its_count(visit: Visit) -> None:
    opened = visit("models")
    opened.click("#models summary:has-text('By blame') >> nth=0")
    opened.click("#models td.blamed a:has-text('model') >> nth=0")
    assert "parse_error%3Amodel" in _place(opened)
    assert opened.inner_text("#replays [role=status]").startswith("6 of 84 cells")


@pytest.mark.parametrize(
    "pasted",
    [
        "openai-chat/many-fragments/naive",
        "openai-chat/many-fragments::naive",
        "#case/openai-chat/many-fragments/naive@5051",
        "cassette:qwen-plus/json-fallback-v2/000/reference",
    ],
)
def test_pasted_cell_id_finds_its_cell(visit: Visit, pasted: str) -> None:
    opened = visit("replays?q=" + quote(pasted))
    assert opened.inner_text("#replays [role=status]").startswith("1 of 84 cells")
    opened.keyboard.press("Escape")


def test_title_names_the_page(visit: Visit) -> None:
    assert visit("models").title().startswith("Models: ")
    assert visit(CASE).title().startswith("openai-chat/many-fragments/naive: ")


def test_keys_turn_pages_cases_and_the_theme(visit: Visit) -> None:
    opened = visit("overview")
    opened.keyboard.press("]")
    # The page turns by its address, and hears of a new one in a task of its own.
    opened.wait_for_function("() => document.getElementById('failures').checkVisibility()")
    assert _shown(opened) == ["failures"]
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.type") == "search"
    opened.evaluate("document.activeElement.blur()")
    opened.keyboard.press("n")
    opened.wait_for_selector("details.case.here")
    opened.keyboard.press("t")
    assert opened.evaluate("document.documentElement.dataset.theme") == "light"
    assert "theme=light" in _place(opened)
    opened.keyboard.press("?")
    assert opened.locator("dialog[open]").count() == 1
    opened.evaluate("localStorage.clear()")


def test_a_table_is_copied_as_markdown(visit: Visit) -> None:
    opened = visit("models")
    opened.click("#models .copy >> nth=0")
    opened.wait_for_selector("#models .copy:has-text('Copied')")
    lines = opened.evaluate("navigator.clipboard.readText()").splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "qwen-plus" in lines[2]


def test_nothing_is_wider_than_a_narrow_screen(visit: Visit) -> None:
    opened = visit("overview")
    opened.set_viewport_size({"width": 400, "height": 800})
    wide = []
    for name in (*PAGES, CASE):
        opened.evaluate("place => { location.hash = place }", name)
        opened.wait_for_function("(id) => document.getElementById(id).checkVisibility()", arg=name)
        if opened.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    assert wide == []


def test_it_reads_without_script(chromium: Browser, report: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(report.as_uri())
    assert opened.locator("main > section:visible").count() == len(PAGES)
    assert opened.locator("#models table >> nth=0 >> svg.interval:visible").count() == 4
    assert "53 / 63" in opened.inner_text("#models table >> nth=0")
    assert opened.locator("#replays-table tbody tr:visible").count() == 84
    opened.click(f"#failures a[href='#{CASE}']")
    assert opened.locator(f"[id='{CASE}']").is_visible()
    context.close()


def test_paper_has_every_way_to_fail(visit: Visit, sample: Run) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs the extra `browser`")
    pages = pypdf.PdfReader(io.BytesIO(visit("trends").pdf())).pages
    text = re.sub(r"\s+", "", "".join(each.extract_text() for each in pages))
    wanted = {finding.rule for each in sample.results for finding in each.findings}
    assert {rule for rule in wanted if rule not in text} == set()


def test_hostile_streams_stay_text(chromium: Browser, sample: Run, tmp_path: Path) -> None:
    cell = "openai-chat/hostile-text/naive"
    evil = "</script><script>document.title='owned'</script>\u202e\x1b[31m\u2028" + "x" * 1_000_000
    case = msgspec.structs.replace(sample.cases[cell], body=evil.encode(), frames=(), error=evil)
    results = tuple(
        msgspec.structs.replace(each, title=evil, model=evil, prompt=evil, origin="imported")
        for each in sample.results
        if each.cell == cell
    )
    run = msgspec.structs.replace(sample, results=results, cases={cell: case})
    path = tmp_path / "page.html"
    path.write_text(render_page(run), encoding="utf-8")
    opened = chromium.new_page()
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text))
    for place in ("replays", f"case/{cell}", "models"):
        opened.goto(f"{path.as_uri()}#{place}")
        opened.wait_for_selector("html[data-ready]")
        assert not re.search("[\u202e\u2028\x1b]", opened.inner_text("main"))
    assert opened.title().endswith(": fail: harness conformance report")
    assert complaints == []
    opened.close()


def test_the_live_page_renews_itself_and_keeps_its_place(
    chromium: Browser, sample: Run, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    live = Live(path, lambda run: render_page(run, ReportContext(live=True)))
    opened = chromium.new_page()
    opened.set_default_timeout(20_000)
    with RunWriter(path) as writer:
        writer.header(sample.header)
        writer.add(sample.results[0])
        with _served(live) as address:
            opened.goto(f"{address}#replays")
            opened.wait_for_selector("text=The run is in progress. Cells so far: 1.")
            writer.add(sample.results[1])
            opened.wait_for_selector("text=The run is in progress. Cells so far: 2.")
            assert _shown(opened) == ["replays"]
            writer.finish()
            opened.wait_for_selector("text=The run has ended.")
    opened.wait_for_selector("text=The server of this page has stopped")
    opened.close()


@contextmanager
def _served(live: Live) -> Iterator[str]:
    with LiveServer(live) as server:
        yield server.address


def test_the_script_makes_the_places_that_the_page_makes(
    chromium: Browser, sample: Run, tmp_path: Path
) -> None:
    passing = next(each for each in sample.results if each.outcome.conforms)
    cell = "a'(b)! @7?&#%~*/ü 杭+$;,:=[]^`{|}\"<>\\"
    odd = msgspec.structs.replace(passing, cell=cell)
    path = tmp_path / "page.html"
    path.write_text(render_page(msgspec.structs.replace(sample, results=(odd,))), encoding="utf-8")
    opened = chromium.new_page()
    opened.goto(f"{path.as_uri()}#replays")
    opened.wait_for_selector("html[data-ready]")
    link = opened.locator("#replays-table tbody a")
    assert link.get_attribute("href") == f"#{anchor(cell)}"
    link.click()
    assert opened.inner_text("#sheet h2") == cell
    assert opened.inner_text("#sheet .command").startswith("harness replay 'a'\"'\"'(b)! @7?")
    opened.close()
