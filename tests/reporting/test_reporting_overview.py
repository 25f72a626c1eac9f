"""The overview: a sentence for each client, the causes, and what no figure counts."""

import msgspec

from harness.reporting.page import PAGES, render_page
from harness.reporting.pages.overview import LEAST_CAUSES, client_lines, overview_page
from harness.reporting.report import NamedRun, Report, ReportContext, open_report, replays_link
from harness.reporting.words import FAILING
from harness.results.outcome import Outcome
from harness.results.run import Run, Selection

CELL = "openai-chat/many-fragments/naive"


def _overview(html: str) -> str:
    return html.partition('<section id="overview"')[2].partition("</section>")[0]


def _unselected(run: Run) -> Run:
    """Return `run` as if the user had selected nothing: its recordings are the bundled ones."""
    header = msgspec.structs.replace(run.header, selection=Selection(("bundled",), "quick"))
    return msgspec.structs.replace(run, header=header)


def test_each_client_has_a_sentence_with_its_worst_outcome(sample: Run) -> None:
    with open_report(sample) as report:
        lines = {each.name: each for each in client_lines(report)}
    naive = lines["naive"]
    assert (naive.failing, naive.judged, naive.worst) == (5, 5, 2)
    assert naive.does == "hands over a wrong call in silence"
    page = _overview(render_page(sample))
    link = replays_link(outcome=FAILING, **naive.filters)
    assert f'<b>naive</b> fails <a href="#{link}">5 of 5 scenarios</a>; in 2 it hands over' in page


def test_bundled_recordings_count_for_no_client_unless_they_were_selected(sample: Run) -> None:
    def judged(run: Run) -> int:
        with open_report(run) as report:
            return {each.name: each.judged for each in client_lines(report)}["reference"]

    scenarios = sum(
        each.normalizer == "reference" and not each.scenario.startswith("cassette:")
        for each in sample.results
    )
    assert judged(_unselected(sample)) == scenarios
    assert judged(sample) > scenarios
    with open_report(_unselected(sample)) as report:
        (recordings,) = (
            it for it in overview_page(report).not_counted if it.what == "bundled recordings"
        )
    assert recordings.count == len(sample.results) - 3 * scenarios


def test_causes_have_words_values_and_a_command(sample: Run) -> None:
    with open_report(sample) as report:
        view = overview_page(report)
    assert len(view.causes) >= LEAST_CAUSES
    assert view.all_causes == 5
    first = view.causes[0]
    assert first.expected
    assert first.actual
    assert first.failure.to_copy.startswith("harness replay ")
    page = _overview(render_page(sample))
    assert page.count('class="copy" data-text="harness ') == len(view.causes)


def test_clients_under_test_come_before_known_bad_ones(sample: Run) -> None:
    results = tuple(
        msgspec.structs.replace(each, outcome=Outcome.MISMATCH, blame="normalizer", cause="X")
        if each.cell == "openai-chat/many-fragments/reference"
        else each
        for each in sample.results
    )
    with open_report(msgspec.structs.replace(sample, results=results)) as report:
        view = overview_page(report)
    assert view.causes[0].failure.group.normalizer == "reference"


def test_unjudged_cells_are_not_a_reason_of_the_verdict(sample: Run) -> None:
    results = tuple(
        msgspec.structs.replace(each, outcome=Outcome.UNJUDGED)
        if each.cell == "openai-chat/many-fragments/reference"
        else each
        for each in sample.results
    )
    run = msgspec.structs.replace(sample, results=results)
    with open_report(run) as report:
        view = overview_page(report)
        assert report.gate.remark
    assert [it.count for it in view.not_counted if it.what == "unjudged"] == [1]
    assert all("unjudged" not in reason for reason in view.reasons)


def test_what_changed_is_next_to_the_verdict(sample: Run) -> None:
    good = tuple(
        msgspec.structs.replace(each, outcome=Outcome.PASS, findings=())
        if each.cell == CELL
        else each
        for each in sample.results
    )
    before = NamedRun("yesterday", msgspec.structs.replace(sample, results=good))
    page = _overview(render_page(sample, ReportContext(base=before)))
    assert '<a href="#changes"><b>+1</b> broken, <b>0</b> fixed</a> since yesterday' in page


def _names(report: Report) -> list[str]:
    return [page.id for page in PAGES if page.is_in(report)]


def test_no_page_is_empty_and_models_are_there_only_if_recordings_were_chosen(sample: Run) -> None:
    with open_report(sample) as report:
        assert _names(report) == [
            *("overview", "failures", "replays", "clients", "models"),
            *("quirks", "cassettes", "method"),
        ]
    with open_report(_unselected(sample)) as report:
        assert "models" not in _names(report)
    with open_report(sample, ReportContext(base=NamedRun("before", sample))) as report:
        assert "changes" in _names(report)
