"""How large a dashboard is, how long it takes to make, and how soon it is ready in a browser.

    python benchmarks/report.py [CELLS]...      # by default 1,000, 10,000 and 100,000
    python benchmarks/report.py 1000000         # needs 7 GB of memory

Runs are synthetic: results of the real types, a tenth of them failing in about a hundred ways, with
and without the bytes of failing cases. Ready means that the page is drawn, its rows are
unpacked and filters answer: the mark `ready` of the page, counted from the navigation.
Needs the extra `browser` and Chromium on the PATH; without them times are left out.
"""

import importlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec

from harness.reporting.page import render_page
from harness.results.case import Case
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.replay import Emission
from harness.results.result import CassetteFacts, Result, TurnFacts
from harness.results.run import SCHEMA, Footer, Header, NormalizerFacts, Run, Selection
from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallEnd, ToolCallStart
from harness.turns.fold import fold
from harness.wire.sse import SSEDecoder

NORMALIZERS: Final = 10
OPENINGS: Final = 5
SIZES: Final = (1_000, 10_000, 100_000)
# Without the bytes of cases, which do not change how many the page has.
_LARGE: Final = 1_000_000
_MODELS: Final = 24
_PROMPTS: Final = 6
_QUIRKS: Final = 60
_RULES: Final = 12
_FAILING: Final = (
    Outcome.SILENT_WRONG,
    Outcome.LOST_CALL,
    Outcome.CRASH,
    Outcome.LEAK,
    Outcome.MISMATCH,
)


def synthetic_run(cells: int, *, cases: bool = False) -> Run:
    """Return a run of `cells` cells over ten normalizers, the same each time.

    Args:
        cells: how many; a tenth of them fails.
        cases: keep the bytes of the failing ones.
    """
    names = [f"normalizer-{number}" for number in range(NORMALIZERS)]
    facts = (NormalizerFacts(name, dialects=("openai-chat",)) for name in names)
    results = tuple(sorted(_results(cells, names), key=lambda each: each.cell))
    failing = [each for each in results if each.outcome.fails]
    return Run(
        Header(
            schema=SCHEMA,
            harness="benchmark",
            normalizers=tuple(facts),
            selection=Selection(("scenarios",), "standard"),
            command=("harness", "run", "scenarios"),
            scenario_count=-(-cells // NORMALIZERS),
        ),
        results,
        {each.cell: _case(each) for each in failing} if cases else {},
        Footer(len(results), sum(each.replays for each in results)),
    )


def _results(cells: int, names: list[str]) -> Iterator[Result]:
    for number in range(cells):
        scenario, reader = divmod(number, len(names))
        spread = scenario * 7919 + reader * 104_729
        yield _result(scenario, names[reader], spread, fails=spread % 100 < reader * 2)


def _result(scenario: int, name: str, spread: int, *, fails: bool) -> Result:
    rule = spread // 100 % _RULES
    finding = Finding(
        rule=f"RULE-{rule}",
        level="MUST",
        outcome=_FAILING[rule % len(_FAILING)],
        path="turns[0].calls[0].arguments",
        expected=f'{{"city": "Hangzhou {scenario}"}}',
        actual='{"city": "Hang',
        offset=spread % 400,
    )
    model, prompt = f"model-{scenario % _MODELS}", f"prompt-{scenario // 3 % _PROMPTS}/v1"
    area = f"area-{scenario % 40}"
    result = Result(
        cell=f"{area}/scenario-{scenario:06}/{name}",
        scenario=f"{area}/scenario-{scenario:06}",
        title=f"What stream {scenario} of {area} must give, told in a sentence of usual length",
        cassette=f"provider/{model}/{area}/scenario-{scenario:06}",
        normalizer=name,
        outcome=finding.outcome if fails else Outcome.PASS,
        blame="normalizer" if fails else "",
        findings=(finding,) if fails else (),
        chunking=(spread % 300 + 1,) if fails else (),
        interaction=0,
        replays=spread % 90 + 10,
        turns=(_turn(scenario, succeeds=not fails and scenario % 11 > 1),),
        quirks=(f"QUIRK-{scenario % _QUIRKS}", f"QUIRK-{scenario // 7 % _QUIRKS}"),
        provider="provider",
        model=model,
        prompt=prompt,
        dialect="openai-chat",
        origin="recorded" if scenario % 2 else "emulated",
        source=CassetteFacts("benchmark", "2026-11-22", reads="recorded", interactions=1, size=600),
    )
    return result.with_cause()


def _turn(scenario: int, *, succeeds: bool) -> TurnFacts:
    return TurnFacts(
        interaction=0,
        success=succeeds,
        why="" if succeeds else f"reason {scenario % 5}",
        blame="" if succeeds else "model",
        calls=1,
        parse_errors=0 if succeeds else 1,
        parse_error_blame="" if succeeds else "model",
        finish="tool_calls",
        failure="",
        digest=f"{scenario:016x}",
    )


def _case(result: Result) -> Case:
    fragments = [f'"key {number}": "value {number}", ' for number in range(30)]
    body = "".join(f"data: {msgspec.json.encode(text).decode()}\n\n" for text in fragments).encode()
    decoder = SSEDecoder()
    right = _said(fragments)
    wrong = _said(fragments[:17])
    return Case(
        cell=result.cell,
        interaction=0,
        body=body,
        chunking=result.chunking,
        frames=(*decoder.feed(body), *decoder.close()),
        deltas=_emitted(wrong, body),
        reference=_emitted(right, body),
        error="",
        expected=fold(right),
        actual=fold(wrong),
    )


def _said(fragments: Iterable[str]) -> tuple[Delta, ...]:
    pieces = (ArgumentsDelta(0, each) for each in fragments)
    return (ToolCallStart(0, "call_1", "get_weather"), *pieces, ToolCallEnd(0))


def _emitted(deltas: tuple[Delta, ...], body: bytes) -> tuple[Emission, ...]:
    step = len(body) // (len(deltas) + 1)
    return tuple(Emission(delta, step * (place + 1)) for place, delta in enumerate(deltas))


def ready_milliseconds(browser: Any, path: Path) -> float:  # noqa: ANN401 - Playwright's, where it is
    """Return the median time from navigation to the mark `ready`, each in a new context."""
    times: list[float] = []
    for _ in range(OPENINGS):
        context = browser.new_context()
        opened = context.new_page()
        opened.goto(path.as_uri())
        opened.wait_for_selector("html[data-ready]")
        times.append(opened.evaluate("performance.getEntriesByName('ready')[0].startTime"))
        context.close()
    return median(times)


def measure(cells: int, folder: Path, browser: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield a row of the table without and with the bytes of failing cases."""
    for cases in (False, True) if cells < _LARGE else (False,):
        run = synthetic_run(cells, cases=cases)
        start, used = time.perf_counter(), time.process_time()
        text = render_page(run)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        path = folder / f"{cells}-{cases}.html"
        path.write_text(text, encoding="utf-8")
        ready = f"{ready_milliseconds(browser, path):,.0f} ms" if browser else "not measured"
        size = f"{path.stat().st_size / 1e6:.2f} MB"
        bytes_kept = "yes" if cases else "no"
        yield f"| {cells:,} | {bytes_kept} | {seconds:.1f} s | {used:.1f} s | {size} | {ready} |"


def main() -> None:
    """Print a table."""
    sizes = [int(each.replace(",", "")) for each in sys.argv[1:]] or list(SIZES)
    print("| cells | bytes of cases | made in | CPU time | size | ready in |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, _chromium() as browser:
        for cells in sizes:
            for row in measure(cells, Path(folder), browser):
                print(row, flush=True)


class _chromium:  # noqa: N801 - used as a function
    """A headless Chromium; None where there is none."""

    def __enter__(self) -> Any:  # noqa: ANN401 - as above
        self._started: Any = None
        program = shutil.which("chromium")
        with suppress(ImportError):
            driver = importlib.import_module("playwright.sync_api")  # an extra
            if program:
                self._started = driver.sync_playwright().start()
                return self._started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        return None

    def __exit__(self, *_error: object) -> None:
        if self._started:
            self._started.stop()


if __name__ == "__main__":
    main()
