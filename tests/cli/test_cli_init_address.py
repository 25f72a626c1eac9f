"""The workflow of `harness init` installs the harness from where it was installed."""

import subprocess
from pathlib import Path

import pytest

from harness.starters.address import address_of


def test_installation_from_git_keeps_its_address_and_commit() -> None:
    source = {"vcs": "git", "commit_id": "0a1b"}
    found = address_of({"url": "https://example.org/harness.git", "vcs_info": source})
    assert found == "git+https://example.org/harness.git@0a1b"


@pytest.mark.parametrize("remote", ["https://example.org/harness.git", "", "/srv/harness"])
def test_checkout_has_the_address_of_its_remote(tmp_path: Path, remote: str) -> None:
    def git(*words: str) -> str:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", "-C", str(tmp_path), *names, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git("remote", "add", "origin", remote)
    found = address_of({"url": tmp_path.as_uri(), "dir_info": {}})
    is_public = remote.startswith("https:")
    expected = f"git+{remote}@{git('rev-parse', 'HEAD')}" if is_public else "vars.HARNESS_PACKAGE"
    assert expected in found
