"""`harness view`: it prints where the page is, serves it, and refuses what is no run."""

import gzip
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from harness.cli.view import _live_context, view_command
from harness.errors import UnreadableError
from harness.results.store import read_run
from harness.verdicts.history import FOLDER, RunAbout, keep_run, run_digest
from tests.cli.cli_samples import command

GOLDEN = Path(__file__).parent.parent / "reporting" / "golden"


def test_the_page_is_served_until_the_command_is_terminated() -> None:
    words = command("view", str(GOLDEN / "run.jsonl"))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().strip()
            with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own
                text = gzip.decompress(answer.read()).decode()
        finally:
            served.send_signal(signal.SIGTERM)
        assert served.wait(timeout=30) == 0
    assert "The run has ended." in text


def test_view_rejects_a_file_that_is_not_a_run_before_it_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(CliRunner().invoke(view_command, []).exception, UnreadableError)
    Path("run.jsonl").write_bytes(b"{}\n")
    result = CliRunner().invoke(view_command, ["run.jsonl"])
    assert "not a run" in str(result.exception)


def test_page_in_progress_is_compared_with_the_run_before(tmp_path: Path) -> None:
    path, run = tmp_path / "run.jsonl", read_run(GOLDEN / "run.jsonl")
    for second in range(2):
        path.write_bytes((GOLDEN / "run.jsonl").read_bytes() + b"\n" * second)
        about = RunAbout(
            at=f"2026-01-01T00:00:0{second}Z",
            seconds=1,
            digest=run_digest(path),
            selection=run.header.selection,
            names=run.header.names,
        )
        keep_run(run, about, tmp_path / FOLDER, 30)
    ended, running = (_live_context(path, each) for each in (run, replace(run, footer=None)))
    assert ended.live
    assert running.live
    assert [each.label for each in ended.history] == ["2026-01-01 00:00:00"]
    assert [each.label[-1] for each in running.history] == ["0", "1"]
    assert running.base == running.history[-1]
