"""`harness view`: it prints where the page is, serves it, and refuses what is no run."""

import gzip
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.view import view_command
from harness.errors import UnreadableError
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
