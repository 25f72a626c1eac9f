"""One browser for all: Debian's Chromium by its name, driven by Playwright (extra `browser`).

Where one of them is absent every test here is skipped and says which.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from harness.reporting.page import render_page
from harness.reporting.report import NamedRun, ReportContext
from harness.results.catalogue import Quirk
from harness.results.cost import Cost
from harness.results.kill_table import MeasuredKill
from harness.results.peer_facts import PeerFacts
from harness.results.run import Run
from tests.reporting.browser.reporting_places import Browser, Opened, Visit


@pytest.fixture(scope="module")  # while it runs, nothing else of the process can run a loop
def chromium() -> Iterator[Browser]:
    driver = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs a `chromium` on the PATH")
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report(sample: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page of everything: a base, a history, the catalogue, the kill table, peers."""
    path = tmp_path_factory.mktemp("report") / "index.html"
    quirk = Quirk("ARGS-TRUNCATED", "C", "It ends early", "Seen.", "Do not run it.", "lost call")
    beside = ReportContext(
        base=NamedRun("before", sample),
        history=(NamedRun("first", sample), NamedRun("second", sample)),
        quirks={quirk.id: quirk},
        kills=(MeasuredKill("rule", "MUST", "what it asks", "turns", "miniature", "a/b", 3),),
    )
    cost = Cost("openai-chat", 40_000, 5_000, 1.0, 120.0, 7.9, 0.5, None, not_measured="no text")
    lib = PeerFacts("naive", "python", "library", "1.0", "0.1.0", "2026-11-01", 60.0, cost=cost)
    other = msgspec.structs.replace(lib, name="reference", cost=None)
    dead = msgspec.structs.replace(lib, name="dead", not_judged="exit code -9")
    header = msgspec.structs.replace(sample.header, peers=(lib, other, dead))
    sample = msgspec.structs.replace(sample, header=header)
    path.write_text(render_page(sample, beside), encoding="utf-8", newline="\n")
    return path


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[Browser]:
    made = chromium.new_context(viewport={"width": 1280, "height": 900})
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made
    made.close()


@pytest.fixture
def visit(context: Browser, report: Path) -> Iterator[Visit]:
    """Open a place of the report; an error or a refusal on the page fails the test."""
    complaints: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else 0)

    def go(place: str) -> Opened:
        opened.goto(f"{report.as_uri()}#{place}")
        opened.reload()
        opened.wait_for_selector("html[data-ready]")
        return opened

    yield go
    opened.close()
    assert complaints == []
