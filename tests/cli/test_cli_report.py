"""`harness report`: which run it shows, and which it refuses."""

import json
import os
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from harness.cli.report import report_command
from harness.cli.run_files import bundled_context, read_finished_run
from harness.errors import UnreadableError, UsageError
from harness.reporting.page import render_page
from harness.results.run import SCHEMA
from harness.verdicts.gate import judge_gate

GOLDEN = Path(__file__).parent.parent / "reporting" / "golden"
_RUN = (GOLDEN / "run.jsonl").read_bytes()


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _report(*arguments: str) -> Result:
    return CliRunner().invoke(report_command, arguments)


def _put(path: str, content: bytes = _RUN) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content)


def _refused(result: Result) -> str:
    assert isinstance(result.exception, UnreadableError | UsageError)
    return str(result.exception)


def test_report_writes_to_the_output_option() -> None:
    _put("run.jsonl")
    result = _report("run.jsonl", "-o", "out/page.html")
    assert (result.exit_code, result.output) == (0, f"{Path('out/page.html')}\n")
    run, beside = read_finished_run(Path("run.jsonl")), bundled_context()
    assert Path("out/page.html").read_text(encoding="utf-8") == render_page(
        run, msgspec.structs.replace(beside, label="run"), judge_gate(run)
    )


def test_the_newest_run_is_the_default() -> None:
    _put("reports/old.jsonl", b"not a run\n")
    _put("reports/run.jsonl")
    os.utime("reports/old.jsonl", (1, 1))
    assert _report().exit_code == 0
    assert Path("reports/index.html").exists()


def test_report_without_a_run_has_a_hint() -> None:
    assert "harness run" in _refused(_report())


def test_the_report_of_a_killed_run_says_that_it_was_killed() -> None:
    _put("reports/run.jsonl.partial", _RUN[: _RUN.rindex(b"\n", 0, -1) + 1])
    left = _report()
    assert left.exit_code == 0
    assert "incomplete run file: expected a footer after 84 results" in left.output
    summary = json.loads(Path("reports/summary.json").read_text("utf-8"))
    assert summary["gate"]["verdict"] == "fail"
    assert summary["gate"]["reasons"][0] == "the run was killed after 84 cells"


def test_report_rejects_a_file_that_is_not_a_run() -> None:
    _put("run.jsonl", b'{"hello": 1}\n')
    assert "not a run" in _refused(_report("run.jsonl"))


def test_report_rejects_a_newer_schema() -> None:
    _put("run.jsonl", _RUN.replace(b'"schema":%d' % SCHEMA, b'"schema":99', 1))
    assert "newer harness" in _refused(_report("run.jsonl"))


def test_the_report_of_an_interrupted_run_says_so_and_it_is_not_a_base() -> None:
    _put("run.jsonl", _RUN.replace(b'"interrupted":false', b'"interrupted":true', 1))
    assert "interrupted run: it has 84 of 84 cells" in _report("run.jsonl").output
    assert "interrupted run" in _refused(_report("run.jsonl", "--base", "run.jsonl"))


def test_several_runs_make_trends_and_a_base_a_comparison() -> None:
    for name in ("old", "mid", "new"):
        _put(f"{name}/run.jsonl")
    runs = ("old/run.jsonl", "mid/run.jsonl", "new/run.jsonl")
    assert _report(*runs, "--base", "old/run.jsonl", "-o", "page.html").exit_code == 0
    text = Path("page.html").read_text(encoding="utf-8")
    trends = text.partition('<h2 id="trends"')[2]
    rows = re.findall(r'<td class="n">(\d)</td><th scope="row">(\w+)', trends)
    assert rows == [("1", "old"), ("2", "mid"), ("3", "new")]
    assert "<dt>Before</dt><dd><code>old</code>, 84 cells</dd>" in text
    assert "<dt>Now</dt><dd><code>new</code>, 84 cells</dd>" in text


def test_site_of_several_runs_is_written_to_its_folder() -> None:
    for name in ("old", "new"):
        _put(f"{name}/run.jsonl")
    assert _report("old/run.jsonl", "new/run.jsonl", "--site", "board").exit_code == 0
    assert Path("board/badges/naive.svg").is_file()
    page = Path("board/clients/naive.html").read_text(encoding="utf-8")
    assert page.index("new</th>") < page.index("old</th>")
    assert not Path("index.html").exists()


def test_report_rejects_a_base_that_is_not_a_run() -> None:
    _put("run.jsonl")
    _put("base.jsonl", b"{}\n")
    assert "not a run" in _refused(_report("run.jsonl", "--base", "base.jsonl"))


def test_open_shows_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    _put("run.jsonl")
    assert _report("run.jsonl", "--open").exit_code == 0
    assert shown == [Path("index.html").resolve().as_uri()]


def test_report_names_an_unwritable_path() -> None:
    _put("run.jsonl")
    _put("file", b"")
    assert "cannot write the file" in _refused(_report("run.jsonl", "-o", "file/page.html"))


def test_a_folder_is_its_newest_run_and_the_page_goes_beside_it() -> None:
    _put("elsewhere/run.jsonl")
    assert _report("elsewhere").exit_code == 0
    assert Path("elsewhere/index.html").exists()
