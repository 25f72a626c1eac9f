"""Read locks: files of this package with the exact version of every package of an environment.

A lock names no package index, so that an environment can be installed from any mirror.
"""

import re
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.errors import UnreadableError
from harness.peers.table import FOLDER

_LOCKS: Final = FOLDER / "locks"
_NPM_FILES: Final = ("package.json", "package-lock.json")
_ADDRESSES: Final = ("resolved", "funding")  # of a package
_SEPARATORS: Final = re.compile(r"[-_.]+")


def python_lock(environment: str) -> Path:
    """Return the path of the lock of a Python environment, in the format of `pip freeze`."""
    return _LOCKS / f"{environment}.txt"


def npm_lock(environment: str) -> tuple[Path, ...]:
    """Return the paths of `package.json` and `package-lock.json` of an environment."""
    return tuple(_LOCKS / environment / name for name in _NPM_FILES)


def read_lock(environment: str) -> bytes:
    """Return the contents of the lock of an environment.

    Raises:
        UnreadableError: the environment has no lock.
    """
    single = python_lock(environment)
    files = (single,) if single.is_file() else npm_lock(environment)
    try:
        return b"".join(file.read_bytes() for file in files)
    except OSError as error:
        raise UnreadableError(
            "no lock: expected a file of versions",
            where=str(single),
            hint=f"Write it with `harness peers lock {environment}`.",
        ) from error


def locked_versions(environment: str) -> dict[str, str]:
    """Return name -> version of the packages in a lock; names of Python are normalized.

    If an npm package has several versions, the version at the top of `node_modules` counts.

    Raises:
        UnreadableError: the environment has no lock.
    """
    text = read_lock(environment)
    if python_lock(environment).is_file():
        pairs = (line.split("==") for line in text.decode().splitlines() if "==" in line)
        return {normalized(name): version for name, version in pairs}
    lock: dict[str, Any] = msgspec.json.decode(npm_lock(environment)[1].read_bytes())
    top = "node_modules/"
    return {
        path.removeprefix(top): found["version"]
        for path, found in lock["packages"].items()
        if path.startswith(top) and top not in path.removeprefix(top)
    }


def normalized(name: str) -> str:
    """Return the name of a Python package in the normalized form in which names are compared."""
    return _SEPARATORS.sub("-", name).lower()


def without_addresses(lock: bytes) -> bytes:
    """Return a `package-lock.json` without the addresses of packages: only digests identify them.

    Raises:
        msgspec.DecodeError: the lock is not JSON.
    """
    data: dict[str, Any] = msgspec.json.decode(lock)
    for found in data.get("packages", {}).values():
        for member in _ADDRESSES:
            found.pop(member, None)
    return msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n"
