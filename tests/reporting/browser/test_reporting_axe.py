"""The page by axe-core (from the package axe-playwright-python), in both themes, all pages."""

from importlib import resources

import pytest

from tests.reporting.browser.reporting_places import CASE, INPUT, PAGES, Visit

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
