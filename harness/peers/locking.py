"""Write the lock of an environment: choose the versions of its packages once, and store them."""

import importlib.metadata
import re
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from harness.peers.environment import DISTRIBUTION, create_venv, pip, run_tool
from harness.peers.locks import normalized, npm_lock, python_lock, without_addresses
from harness.peers.table import Peer

_RESOLVE: Final = (
    *("npm", "install", "--package-lock-only", "--ignore-scripts"),
    *("--no-audit", "--no-fund", "--loglevel=error"),
)
_FROZEN: Final = re.compile(r"[A-Za-z0-9._-]+==\S+")
# Packages of this harness that another extra than the one for fuzzing needs.
_NOT_NEEDED: Final = re.compile(r";.*\bextra\b(?! == .fuzz.)")


def write_lock(peer: Peer) -> tuple[Path, ...]:
    """Choose the package versions for the environment of `peer`, and return the written lock files.

    Raises:
        UsageError: a package manager is not installed, or failed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = _lock_python(peer, folder) if peer.language == "python" else _lock_npm(peer, folder)
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tuple(files)


def _lock_python(peer: Peer, folder: Path) -> dict[Path, bytes]:
    """Return the lock file with its content; it includes the packages of this harness.

    The harness judges in the same process, so it needs its packages too.
    """
    declared = importlib.metadata.requires(DISTRIBUTION) or []
    own = (each.partition(";")[0] for each in declared if not _NOT_NEEDED.search(each))
    create_venv(folder)
    pip(folder, "install", *peer.packages, *own)
    found = pip(folder, "freeze").splitlines()
    # pip and uv write names in different forms.
    pairs = (line.split("==") for line in found if _FROZEN.fullmatch(line))
    lines = sorted(f"{normalized(package)}=={version}" for package, version in pairs)
    return {python_lock(peer.environment): "\n".join((*lines, "")).encode()}


def _lock_npm(peer: Peer, folder: Path) -> dict[Path, bytes]:
    dependencies = {pin.name: pin.version for pin in peer.pins}
    declared = {"name": peer.environment, "private": True, "dependencies": dependencies}
    text = msgspec.json.format(msgspec.json.encode(declared), indent=2) + b"\n"
    package, lock = npm_lock(peer.environment)
    (folder / package.name).write_bytes(text)
    run_tool(_RESOLVE, folder)
    return {package: text, lock: without_addresses((folder / lock.name).read_bytes())}
