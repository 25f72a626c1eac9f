"""The first screen of three kinds of runs: few words, numbers and controls, and the causes."""

from pathlib import Path

import msgspec
import pytest

from harness.reporting.page import render_page
from harness.reporting.pages.overview import LEAST_CAUSES
from harness.reporting.report import NamedRun, ReportContext
from harness.results.outcome import Outcome
from harness.results.run import Run, Selection
from tests.reporting.browser.reporting_places import Browser

# What is in the window: words, those with a digit, and what can be clicked.
_COUNTS = r"""() => {
  const inside = (box) => box.width > 1 && box.bottom > 0 && box.top < innerHeight
    && box.left < innerWidth && box.right > 0;
  const words = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest(".vh, script")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (![...range.getClientRects()].some(inside)) continue;
    words.push(...node.data.split(/\s+/).filter((each) => /[\p{L}\p{N}]/u.test(each)));
  }
  const controls = [...document.querySelectorAll("a[href], button, summary, input, select")]
    .filter((each) => each.checkVisibility() && inside(each.getBoundingClientRect()));
  return [words.length, words.filter((each) => /\d/.test(each)).length, controls.length];
}"""


def _library(run: Run) -> Run:
    """Return a run of one library, with versions, whose recordings nobody selected."""
    results = tuple(each for each in run.results if each.normalizer == "naive")
    (facts,) = (it for it in run.header.normalizers if it.name == "naive")
    versions = {"langchain-openai": "1.7.4", "openai": "3.54.0"}
    facts = msgspec.structs.replace(facts, versions=versions, has_script=True)
    header = msgspec.structs.replace(
        run.header, normalizers=(facts,), selection=Selection(("bundled",), "quick")
    )
    return msgspec.structs.replace(run, header=header, results=results)


def _passing(run: Run) -> Run:
    results = tuple(each for each in run.results if not each.outcome.fails)
    return msgspec.structs.replace(run, results=results)


@pytest.mark.parametrize("kind", ["several clients", "one library", "all pass"])
def test_first_screen_is_short_and_has_the_causes(
    chromium: Browser, sample: Run, tmp_path: Path, kind: str
) -> None:
    run = {"several clients": sample, "one library": _library(sample)}.get(kind, _passing(sample))
    good = tuple(
        msgspec.structs.replace(it, outcome=Outcome.PASS, findings=()) for it in run.results
    )
    before = NamedRun("2026-11-28 12:00:00 f00ba4c", msgspec.structs.replace(run, results=good))
    path = tmp_path / "page.html"
    path.write_text(render_page(run, ReportContext(base=before)), encoding="utf-8")
    opened = chromium.new_page(viewport={"width": 1_440, "height": 900})
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-ready]")
    words, numbers, controls = opened.evaluate(_COUNTS)
    assert 30 < words <= 150
    assert numbers <= 25
    assert controls <= 30
    causes = opened.locator("#overview .causes li")
    boxes = [causes.nth(at).bounding_box() for at in range(causes.count())]
    assert sum(box["y"] + box["height"] <= 900 for box in boxes) >= (
        LEAST_CAUSES if kind != "all pass" else 0
    )
    assert opened.locator("#overview .client:visible").count() >= 1
    opened.close()
