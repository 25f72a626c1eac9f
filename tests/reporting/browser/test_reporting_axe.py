"""The page by axe-core (from the package axe-playwright-python), in both themes, all pages."""

from importlib import resources
from pathlib import Path

import pytest

from harness.reporting.report import NamedRun
from harness.reporting.site import site_files
from harness.results.run import Run
from tests.reporting.browser.reporting_places import CASE, INPUT, PAGES, Browser, Visit

_RUN = """async (rules) => {
  const options = rules.length ? { runOnly: rules } : {};
  const found = await axe.run(document, { ...options, resultTypes: ["violations"] });
  return found.violations.map((each) => each.id + ": " + each.nodes.slice(0, 3).map(
    (node) => node.html.slice(0, 160) + " " + node.any.map((why) => why.message).join("; ")
  ).join(" | "));
}"""


# Rows are alike: the first of each table speak for the rest, which would take many seconds.
_ALL_AT_ONCE = """() => {
  document.documentElement.classList.remove("js");
  for (const body of document.querySelectorAll("tbody")) {
    while (body.rows.length > 6) body.deleteRow(6);
  }
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    package = pytest.importorskip("axe_playwright_python", reason="needs the extra `browser`")
    return (resources.files(package) / "axe.min.js").read_text(encoding="utf-8")


# Only colours differ between the themes.
@pytest.mark.parametrize(
    ("theme", "rules", "width"),
    [("light", [], 1_440), ("dark", ["color-contrast"], 1_440), ("light", [], 400)],
)
def test_axe_finds_nothing(
    visit: Visit, axe: str, theme: str, rules: list[str], width: int
) -> None:
    opened = visit(f"overview?theme={theme}")
    opened.set_viewport_size({"width": width, "height": 900})
    for name in (*PAGES, f"{CASE}@300", INPUT):  # each gets its controls when it is first shown
        opened.evaluate("place => { location.hash = place }", f"{name}?theme={theme}")
        opened.wait_for_timeout(1)
    opened.evaluate(_ALL_AT_ONCE)
    assert opened.evaluate("document.documentElement.dataset.theme") == theme
    opened.evaluate(axe)
    assert opened.evaluate(_RUN, rules) == []


@pytest.mark.parametrize("look", [("light", 1_440), ("dark", 400)])
def test_axe_finds_nothing_on_the_static_site(
    chromium: Browser, sample: Run, tmp_path: Path, axe: str, look: tuple[str, int]
) -> None:
    theme, width = look
    for name, text in site_files([NamedRun("first", sample), NamedRun("second", sample)]).items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    complaints: list[str] = []
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True
    )
    opened = context.new_page()
    opened.on("console", lambda said: complaints.append(said.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto((tmp_path / "index.html").as_uri())
    for _ in range(2):
        assert not opened.evaluate("document.documentElement.scrollWidth > innerWidth")
        opened.evaluate(axe)
        assert opened.evaluate(_RUN, []) == []
        opened.goto((tmp_path / "clients" / "naive.html").as_uri())
    assert opened.evaluate("document.querySelector('img').naturalWidth") > 0
    assert complaints == []
    context.close()
