"""Find the address from which this package was installed, for the workflow that `init` writes."""

import importlib.metadata
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

DISTRIBUTION: Final = "toolcall-harness"
# A workflow asks the repository's variable if nothing tells the address.
_UNKNOWN: Final = f"${{{{ vars.HARNESS_PACKAGE || '{DISTRIBUTION}' }}}}"


def install_address() -> str:
    """Return what a workflow passes to pip for this package.

    It is the Git address and commit of an installation from Git, or from a checkout with a remote
    repository. Else it is the package's name, which a variable of the repository may replace.
    """
    try:
        text = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        text = None
    return address_of(msgspec.json.decode(text)) if text else _UNKNOWN


def address_of(direct_url: dict[str, Any]) -> str:
    """Return the address that `direct_url.json` records; see the specification of PyPA."""
    url = str(direct_url.get("url", ""))
    source = direct_url.get("vcs_info", {})
    if source.get("vcs") == "git" and "commit_id" in source:
        return f"git+{url}@{source['commit_id']}"
    parts = urlsplit(url)
    folder = Path(url2pathname(parts.path))
    if parts.scheme != "file" or not folder.is_dir():
        return _UNKNOWN
    remote = _git(folder, "remote", "get-url", "origin")
    commit = _git(folder, "rev-parse", "HEAD")
    return f"git+{remote}@{commit}" if remote.startswith("https://") and commit else _UNKNOWN


def _git(folder: Path, *words: str) -> str:
    """Return what git prints for a checkout; "" if it is not one, or git is not installed."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(folder), *words],  # noqa: S607 - git on the PATH, as pip uses it
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
