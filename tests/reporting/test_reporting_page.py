"""The page: same run, same bytes; hostile text stays text; it is readable without script.

After an intended change, `UPDATE_GOLDEN=1 pytest tests/reporting -n 0` writes the golden run and
its page again. Look at the page before you commit it.
"""

import base64
import hashlib
import os
import re
import zlib
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from harness.project import GateRule, Where
from harness.reporting.page import render_page
from harness.reporting.pages.failures import CASES_PER_CAUSE, MAX_CASES, MAX_TURN_CASES
from harness.reporting.report import ReportContext, anchor
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.run import Footer, Header, Run, Selection
from harness.results.store import encode_line, read_run
from harness.verdicts.baseline import BaselineUpdate
from harness.verdicts.expectations import AcceptedCell, AcceptedFailure, StaleEntry
from harness.verdicts.gate import Gate, RuleVerdict

GOLDEN = Path(__file__).parent / "golden"
_VOID = {"meta", "link", "br", "img", "input", "hr", "path", "rect"}


class Outline(HTMLParser):
    """Collects what tests ask of a page; complains where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._open: list[str] = []
        self.content: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self.content.setdefault(tag, []).append("")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        texts = self.content.setdefault(self._open[-1] if self._open else "", [""])
        texts[-1] += data

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def html(sample: Run) -> str:
    return render_page(sample)


@pytest.fixture(scope="module")
def outline(html: str) -> Outline:
    return Outline(html)


def _unpacked(text: str) -> str:
    """Return a page with its rows unpacked: other builds of zlib pack the same otherwise."""
    text = re.sub(r'(?<=data-body=")[^"]*', lambda found: _rows(found[0]), text)
    return re.sub(r'(?<=id="rows">)[^<]*', lambda found: _rows(found[0]), text)


def _rows(packed: str) -> str:
    return zlib.decompress(base64.b64decode(packed)).decode("latin-1")


def _empty() -> Run:
    header = Header(1, "0.1.0", (), Selection(), ("harness", "run"), 0)
    return Run(header, (), {}, Footer(0, 0))


def test_golden_run_and_page_are_unchanged(sample: Run, html: str) -> None:
    lines = [encode_line(sample.header)]
    for result in sample.results:
        lines.append(encode_line(result))
        lines += [encode_line(sample.cases[result.cell])] if result.cell in sample.cases else []
    assert sample.footer is not None
    run = b"".join([*lines, encode_line(sample.footer)])
    if os.environ.get("UPDATE_GOLDEN"):
        (GOLDEN / "run.jsonl").write_bytes(run)
        (GOLDEN / "index.html").write_text(html, encoding="utf-8", newline="\n")
    assert (GOLDEN / "run.jsonl").read_bytes() == run
    assert _unpacked((GOLDEN / "index.html").read_text(encoding="utf-8")) == _unpacked(html)
    assert render_page(read_run(GOLDEN / "run.jsonl")) == html


def test_content_policy_allows_only_the_style_and_script_of_the_page(
    outline: Outline,
) -> None:
    policy = next(m["content"] for m in outline.named("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    texts = {tag: outline.content[tag] for tag in ("style", "script")}
    assert [each.get("type") for each in outline.named("script")] == [None, "text/plain"]
    assert len(texts["style"]) == 1
    for tag, (text, *_data) in texts.items():
        digest = hashlib.sha256(text.encode()).digest()
        assert f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "connect-src 'none'" in policy


def test_hostile_text_never_becomes_markup(outline: Outline) -> None:
    assert not outline.named("img")
    assert not [name for _, each in outline.tags for name in each if name.startswith("on")]
    assert not [each for _, each in outline.tags if "style" in each]
    assert "alert(1)" not in "".join(outline.content["script"])


def test_hostile_controls_never_reach_the_page(html: str) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", html)


def test_page_needs_no_network_and_every_link_has_a_target(outline: Outline, sample: Run) -> None:
    links = [each["href"] for _, each in outline.tags if "href" in each]
    ids = [each["id"] for _, each in outline.tags if "id" in each]
    assert len(ids) == len(set(ids))
    cells = {anchor(each.cell) for each in sample.results}
    places = {re.split(r"[?@]", link[1:])[0] for link in links if link.startswith("#")}
    away = [each for _, each in outline.tags if each.get("href", "#")[0] not in "#d"]
    assert all(each["href"].startswith("https://") for each in away)
    assert all(each["rel"] == "noreferrer" for each in away)  # read only if the reader follows it
    assert {each for each in places if not each.startswith("quirk/")} <= {*ids, *cells}
    assert not [each for _, each in outline.tags if "src" in each]


def test_headings_go_down_one_step_at_a_time(outline: Outline) -> None:
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == len(outline.named("section")) - 1  # the script makes the last one
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_landmarks_and_drawings_have_names(outline: Outline) -> None:
    assert all("scope" in each for each in outline.named("th"))
    assert len(outline.named("main")) == len(outline.named("nav")) == 1
    assert all("aria-label" in each or "aria-hidden" in each for each in outline.named("svg"))
    assert all("aria-label" in e for _, e in outline.tags if e.get("role") == "region")


def test_page_shows_models_prompts_normalizers_counts_and_intervals(html: str) -> None:
    for text in ("qwen-plus", "native-tools/v1", "dashscope-restore", "53 / <a", "84.1 %"):
        assert text in html
    assert "few</small>" in html
    assert "harness replay openai-chat/many-fragments/naive --cuts 1200,5" in html
    assert "harness replay openai-chat/hostile-text/naive --cuts each-byte" in html
    assert "harness replay openai-chat/truncated-arguments/naive --cuts whole" in html


def test_emulated_cassettes_rank_no_model_and_the_page_gives_the_reason(sample: Run) -> None:
    emulated = tuple(each for each in sample.results if each.origin == "emulated")
    text = render_page(msgspec.structs.replace(sample, results=emulated))
    assert 'href="#models"' not in text
    assert f"{len(emulated)} of {len(emulated)} cells are from emulated cassettes" in text


def test_empty_run_is_shown_and_does_not_pass() -> None:
    text = render_page(_empty())
    assert "<title>nothing: harness conformance report</title>" in text
    Outline(text)


def test_interrupted_run_shows_the_number_of_cells_not_run(sample: Run) -> None:
    footer = Footer(len(sample.results), 1, interrupted=True, not_run=7)
    assert "7 not run" in render_page(msgspec.structs.replace(sample, footer=footer))


def test_page_size_is_bounded_when_a_line_has_a_megabyte(sample: Run, html: str) -> None:
    cell = "openai-chat/hostile-text/naive"
    huge = "</script>" * 120_000
    case = msgspec.structs.replace(sample.cases[cell], body=huge.encode(), frames=(), error=huge)
    finding = Finding("text-exact", "MUST", Outcome.MISMATCH, huge, huge, huge)
    results = tuple(
        msgspec.structs.replace(each, title=huge, findings=(finding,))
        if each.cell == cell
        else each
        for each in sample.results
    )
    run = msgspec.structs.replace(sample, results=results, cases={**sample.cases, cell: case})
    assert len(render_page(run)) < len(html) + 60_000


def test_cases_of_one_cause_are_limited(sample: Run) -> None:
    bad = next(each for each in sample.results if each.normalizer == "naive")
    results = tuple(
        msgspec.structs.replace(bad, cell=f"many/{number:04d}") for number in range(MAX_CASES + 5)
    )
    text = render_page(msgspec.structs.replace(sample, results=results, cases={}))
    assert f"{MAX_CASES + 5} cells fail with 1 cause." in text
    assert text.count('<details class="case">') == CASES_PER_CAUSE
    Outline(text)


def test_cases_in_all_are_limited(sample: Run) -> None:
    bad = next(each for each in sample.results if each.normalizer == "naive")
    results = tuple(
        msgspec.structs.replace(bad, cell=f"many/{number:04d}", normalizer=f"n{number}")
        for number in range(MAX_CASES + 5)
    )
    text = render_page(msgspec.structs.replace(sample, results=results, cases={}))
    assert text.count('<details class="case">') == MAX_CASES
    assert f"shows {MAX_CASES} of {MAX_CASES + 5} failing cells" in text


def test_violated_should_rule_is_shown_and_fails_no_cell(sample: Run) -> None:
    good = next(each for each in sample.results if each.outcome is Outcome.PASS)
    finding = Finding("RULE", "SHOULD", Outcome.MISMATCH, "turns[0].text", "a", "b")
    results = (msgspec.structs.replace(good, findings=(finding,)),)
    text = render_page(msgspec.structs.replace(sample, results=results, cases={}))
    assert "No cell fails. Causes that violate only SHOULD rules: 1." in text
    assert '<ol class="causes">' not in text
    assert "shows 0 of 0 failing cells, and 1 that violate" in text


def test_run_in_progress_has_no_verdict(sample: Run) -> None:
    text = render_page(msgspec.structs.replace(sample, footer=None), ReportContext(live=True))
    assert "<title>running: harness conformance report</title>" in text
    assert "Cells so far" in text
    assert "connect-src 'self'" in unescape(text)


_THEMES = ("light", "dark")
_PAIRS = (
    *((ink, ground) for ink in ("ink", "soft", "link") for ground in ("page", "raised")),
    *((name, f"{name}-bg") for name in ("bad", "warn", "ok", "mute")),
    *((name, "page") for name in ("bad", "warn", "ok", "code")),
    ("ink", "bad-bg"),
    ("soft", "bad-bg"),
    ("ink", "ok-bg"),
)


@pytest.mark.parametrize("name", _THEMES)
def test_text_has_the_contrast_of_wcag_aa(outline: Outline, name: str) -> None:
    style = "".join(outline.content["style"])
    # The system chooses one of both colours, or the toggle does.
    assert ":root {\n  color-scheme: light dark;" in style
    assert f':root[data-theme="{name}"] {{ color-scheme: {name}; }}' in style
    found = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", style)
    colours = {key: pair[_THEMES.index(name)] for key, *pair in found}
    low = {pair: _contrast(colours[pair[0]], colours[pair[1]]) for pair in _PAIRS}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}, name


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_normalizers_are_ranked_by_text_dialect(html: str) -> None:
    section = html.partition("<h3>Conformance by text dialect</h3>")[2].partition("</section>")[0]
    assert "reference x tagged-json" in section
    assert "naive x tagged-json" in section
    assert "Each text dialect has a separate ranking" in section
    assert "turn success" not in section.casefold()


def test_worst_failure_of_a_model_is_in_its_row(html: str) -> None:
    section = html.partition('<section id="models"')[2].partition("</section>")[0]
    assert "the arguments are not JSON" in section
    assert "<small>10 turns</small>" in section


def test_gate_rules_are_shown_with_their_numbers(sample: Run) -> None:
    rule = GateRule(metric="turn_success", where=Where(model="qwen-*"), min=0.9, basis="interval")
    entry = AcceptedFailure("openai-chat/*", "naive", "fail", "an <old> client")
    verdict = Gate(
        "inconclusive",
        ("turn_success of qwen-* is not sure",),
        rules=(_judged(rule),),
        excused=(AcceptedCell("openai-chat/hostile-text/naive", "fail", "an <old> client"),),
        stale=(StaleEntry("matches_nothing", entry),),
        baseline=BaselineUpdate(known=("a/b/naive",), fixed=("c/d/naive",)),
    )
    text = render_page(sample, gate=verdict)
    Outline(text)
    assert "model: qwen-*" in text
    assert "at least 90.0 %, interval, n at least 30" in text
    assert "73.2 % to 91.1 %" in text
    assert "Accepted failures: 1. Stale entries: 1." in text
    assert "an &lt;old&gt; client" in text
    assert "known failing cells 1, fixed 1" in text


def _judged(rule: GateRule) -> RuleVerdict:
    return RuleVerdict(
        rule="gate[0]",
        metric=rule.metric,
        where=rule.where,
        verdict="inconclusive",
        k=53,
        n=63,
        rate=53 / 63,
        groups=63,
        low=0.732,
        high=0.911,
        min=rule.min,
        max=rule.max,
        basis=rule.basis,
        min_n=30,
        reason="",
    )


MODEL_CASE = "cassette:qwen-plus/json-fallback-v2/000/reference"


def _case_html(html: str, cell: str) -> str:
    _, found, after = html.partition(f'id="{anchor(cell)}"')
    assert found
    return after.partition("</details>")[0]


def test_worst_failure_of_a_model_opens_its_request_turn_and_reason(html: str) -> None:
    models = html.partition('<section id="models"')[2].partition("</section>")[0]
    assert f'<a href="#{anchor(MODEL_CASE)}">the arguments are not JSON</a>' in models
    shown = _case_html(html, MODEL_CASE)
    assert "<strong>failed</strong>, blame" in shown
    assert "The question needs a call. Tools: <code>get_weather</code>." in shown
    assert "Is it warm in 杭州?" in shown
    assert "The first 2 messages are not shown." in shown
    assert "provider</a>: the arguments are not JSON" in shown
    assert "<code>parse_errors[0]</code>" in shown
    assert "reply, as reference read it" in shown
    assert "Deltas of reference" in shown
    assert shown.count("deltas of reference") == 2  # one lane: the text, and its description
    assert "failing chunking" not in shown


def test_failures_page_lists_failed_turns_by_reason_with_links_to_all_of_them(html: str) -> None:
    page = html.partition('<section id="failures"')[2].partition("</section>")[0]
    turns = page.partition('id="failures/turns"')[2]
    assert 'href="#replays?q=failed%3Aprovider%20why%3A%22the%20arguments%20are%20not' in turns
    assert f'href="#{anchor(MODEL_CASE)}"' in turns


def test_cases_of_failed_turns_are_at_most_their_number(sample: Run) -> None:
    turns = [each for each in sample.results if each.turns and each.normalizer == "reference"]
    replace = msgspec.structs.replace
    failed = replace(turns[0].turns[0], success=False, blame="model")
    many = [
        replace(
            turns[0],
            cell=f"cassette:{n}/reference",
            scenario=f"cassette:{n}",
            cassette=f"{n}",
            turns=(replace(failed, why=f"reason {n}"),),
        )
        for n in range(MAX_TURN_CASES + 5)
    ]
    case = sample.cases[MODEL_CASE]
    cases = {each.cell: replace(case, cell=each.cell) for each in many}
    page = render_page(replace(sample, results=tuple(many), cases=cases))
    assert page.count('<details class="case">') == MAX_TURN_CASES
