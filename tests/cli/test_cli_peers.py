"""`harness peers`: what a user sees without any environment."""

from pathlib import Path

import pytest

from harness.peers.table import peers
from tests.cli.conftest import Harness


@pytest.fixture(autouse=True)
def _no_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_PEERS", str(tmp_path / "environments"))


def test_the_list_has_all_peers_and_their_keys(harness: Harness, tmp_path: Path) -> None:
    left = harness("peers", "list", "--format", "json")
    assert left.code == 0
    assert [row["name"] for row in left.json] == list(peers())
    keys = {"name", "language", "package", "version", "dialects", "state", "installed", "folder"}
    assert all(set(row) == keys for row in left.json)
    assert all(row["state"] == "missing" and not row["installed"] for row in left.json)
    assert all(row["folder"].startswith(str(tmp_path)) for row in left.json)
    assert len(harness("peers", "list").out.splitlines()) == len(peers()) + 1


def test_peers_without_an_environment_are_in_the_matrix_as_not_judged(
    harness: Harness, tmp_path: Path
) -> None:
    results, page = str(tmp_path / "results"), tmp_path / "matrix.md"
    left = harness("peers", "run", "groq", "openai-node", "-o", results, "--today", "2026-11-01")
    assert left.code == 1
    assert "groq" in left.out
    assert left.out.count("not judged: its environment is missing") == 2
    assert harness("peers", "matrix", results, "-o", str(page)).code == 0
    text = page.read_text(encoding="utf-8")
    assert "0 of 2 peers judged, 2026-11-01" in text
    assert text.count("its environment is missing") == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("install",), "expected either names or --all"),
        (("install", "groq", "--all"), "expected either names or --all"),
        (("install", "grok"), "did you mean 'groq'?"),
        (("run", "grok"), "did you mean 'groq'?"),
        (("exec", "groq", "list", "rules"), "Run `harness peers install groq`"),
        (("matrix", "no-such-folder"), "harness peers run"),
        (("lock",), "expected either names or --all"),
    ],
)
def test_a_usage_error_says_what_to_do(
    harness: Harness, arguments: tuple[str, ...], problem: str
) -> None:
    left = harness("peers", *arguments)
    assert left.code == 2
    assert problem in left.err
