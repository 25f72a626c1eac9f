"""The overview: who is to blame, what changed, what is best, and links to what it counts."""

import msgspec
import pytest

from harness.reporting.page import render_page
from harness.reporting.pages.overview import Part, blame_shares, overview_page, reason_parts
from harness.reporting.report import NamedRun, ReportContext, open_report, replays_link
from harness.reporting.words import FAILING
from harness.results.outcome import Outcome
from harness.results.run import Run

CELL = "openai-chat/many-fragments/naive"


def _overview(html: str) -> str:
    return html.partition('<section id="overview"')[2].partition("</section>")[0]


def test_failures_are_counted_by_blame_and_fill_the_bar(sample: Run) -> None:
    with open_report(sample) as report:
        shares = {each.blame: each for each in blame_shares(report)}
    assert {name: each.count for name, each in shares.items()} == {
        "normalizer": sum(each.outcome.fails for each in sample.results),
        "model": 6,
        "provider": 4,
        "model or provider": 0,
        "request": 0,
        "harness": 0,
    }
    assert sum(each.width for each in shares.values()) == pytest.approx(1_000, abs=0.5)
    assert shares["model"].link == replays_link(
        failed="model", normalizer="reference", origin=("recorded", "imported")
    )


def test_failed_turns_of_emulated_cassettes_and_of_other_clients_are_not_blamed(
    sample: Run,
) -> None:
    failed = [each for each in sample.results if each.blame == "model"]
    changed = {
        failed[0].cell: msgspec.structs.replace(failed[0], origin="emulated"),
        failed[1].cell: msgspec.structs.replace(failed[1], normalizer="naive"),
    }
    results = tuple(changed.get(each.cell, each) for each in sample.results)
    with open_report(msgspec.structs.replace(sample, results=results)) as report:
        shares = {each.blame: each.count for each in blame_shares(report)}
    assert shares["model"] == len(failed) - 2


def test_link_with_several_values_lists_them() -> None:
    assert replays_link(outcome=("crash", "hang")) == "replays?q=outcome%3Acrash%2Chang"


def test_reasons_of_the_verdict_link_to_the_client_its_failures_and_the_cell(sample: Run) -> None:
    cells = {each.cell: each for each in sample.results}
    reason = f"naive: 5 of 5 cells do not conform, worst crash: harness replay {CELL} --in x"
    assert [*reason_parts(reason, cells, ("naive",))] == [
        Part("naive", "replays?q=normalizer%3Anaive"),
        Part(": "),
        Part("5 of 5", replays_link(normalizer="naive", outcome=FAILING)),
        Part(" cells do not conform, worst crash: "),
        Part(CELL, f"case/{CELL}"),
        Part(""),
    ]
    (count, *_) = reason_parts(f"3 cells unjudged, such as {CELL}", cells, ("naive",))
    assert count == Part("3", "replays?q=outcome%3Aunjudged")
    assert [*reason_parts("a rule failed", cells, ())] == [Part("a rule failed")]


def test_best_pair_has_its_interval_and_its_parse_error_rate(sample: Run) -> None:
    with open_report(sample) as report:
        best = overview_page(report).best
        first = report.rankings.pairs[0]
    assert best is not None
    assert best.ranked == first
    assert best.filters["model"] == "qwen-plus"
    assert best.filters["prompt"] == "native-tools/v1"
    page = _overview(render_page(sample))
    assert "qwen-plus x native-tools/v1" in page
    assert f"{first.k}/<a" in page
    assert f'data-rows="{first.n}">{first.n}</a>' in page
    assert "parse_error</a></dt>" in page


def test_what_is_newly_broken_is_named_above_the_rankings(sample: Run) -> None:
    good = tuple(
        msgspec.structs.replace(each, outcome=Outcome.PASS, findings=())
        if each.cell == CELL
        else each
        for each in sample.results
    )
    before = NamedRun("yesterday", msgspec.structs.replace(sample, results=good))
    page = _overview(render_page(sample, ReportContext(base=before)))
    first, _, _ = page.partition("<h2>Outcomes of cells")
    assert '<a href="#compare/broken"><b>1</b> newly broken</a>' in first
    assert f'href="#case/{CELL}">{CELL}</a></li>' in first
    assert "yesterday" in first
