"""Check that the workers of a cluster have the same code and files as the command.

With another version of the harness or of a client, or with other files, a worker would judge
something else, and its results would be wrong.
"""

import importlib.metadata
import sys
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

import harness
from harness.errors import UsageError

_PACKAGE: Final = Path(__file__).parents[1]
_CODE: Final = (".py", ".toml")
_DIGITS: Final = 12
_KEPT: Final = 16
_ABSENT: Final = "not installed"


class Requirements(msgspec.Struct, frozen=True):
    """What a worker of a cluster must have in common with the command.

    Fields:
        versions: names and versions of Python, of the harness and of the packages of clients.
        folder: the working folder, in which clients and relative paths are looked up.
        paths: files and folders that must exist on the worker, too.
    """

    versions: tuple[tuple[str, str], ...]
    folder: str
    paths: tuple[str, ...] = ()


def requirements_here(modules: Iterable[str] = (), paths: Iterable[str] = ()) -> Requirements:
    """Return what a worker needs to judge in the same way as this process.

    Args:
        modules: the modules of the clients under test, and the modules that these require.
        paths: files and folders, absolute or in the working folder; others are ignored.
    """
    folder = str(Path.cwd())
    names = sorted({module.partition(".")[0] for module in modules if module})
    files = sorted({path for path in paths if Path(path).exists()})
    return Requirements(_versions(tuple(names), folder), folder, tuple(files))


def difference(needed: Requirements, worker: str) -> UsageError | None:
    """Return an error that says what this worker lacks; None if it has all that is needed.

    Args:
        needed: what the worker must have.
        worker: the address of the worker, for the error.
    """
    packages = tuple(name for name, _ in needed.versions[2:])
    for (name, expected), (_, found) in zip(
        needed.versions, _versions(packages, needed.folder), strict=True
    ):
        if expected != found:
            return UsageError(
                f"{name}: expected the version of the command, {expected}; found {found}",
                where=f"worker {worker}",
                hint="Install the same packages for the command and all workers, and restart them.",
            )
    folder = Path(needed.folder)
    for path in (folder, *(folder / each for each in needed.paths)):
        if not path.exists():
            return UsageError(
                f"expected {path}, which the command uses; found no such file or folder",
                where=f"worker {worker}",
                hint="Give each worker the same files at the same paths, such as a shared folder.",
            )
    return None


def _versions(packages: tuple[str, ...], folder: str) -> tuple[tuple[str, str], ...]:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    own = f"{harness.__version__} (code {_digest(_PACKAGE)})"
    clients = ((name, _version_of(name, folder)) for name in packages)
    return (("Python", python), ("harness", own), *clients)


@lru_cache(_KEPT)
def _version_of(package: str, folder: str) -> str:
    """Return the version of an installed package, or a digest of its code in `folder`."""
    for path in (Path(folder, f"{package}.py"), Path(folder, package)):
        if path.exists():
            return f"code {_digest(path)}"
    names = importlib.metadata.packages_distributions().get(package, ())
    found = (f"{name} {importlib.metadata.version(name)}" for name in sorted(set(names)))
    return ", ".join(found) or _ABSENT


@lru_cache(_KEPT)
def _digest(code: Path) -> str:
    """Return a digest of a module or package, cached because a process loads its code once."""
    files = [code] if code.is_file() else [it for it in code.rglob("*") if it.suffix in _CODE]
    digest = sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(code).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:_DIGITS]
