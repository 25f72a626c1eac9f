"""Check what wheel and sdist contain: `python -m scripts.check_packages dist`, after a build.

A file that is missing in the wheel breaks `harness run` in an empty folder only there, and one too
many can publish what was never meant to be.
"""

import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_DATA: Final = ("cassettes", "scenarios", "catalogue", "clients")
_IN_SDIST: Final = (
    *_DATA,
    *("harness", "tests", "benchmarks", "docs", "examples", "scripts"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "LICENSE"),
    *("conftest.py", "Makefile", "pyproject.toml"),
)
_NEVER: Final = ("__pycache__", "node_modules", ".venv", "reports", ".git", "build")


def problems(folder: Path, root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each file that is missing in the packages of `folder`, or too many."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if (len(wheels), len(sdists)) != (1, 1):
        yield f"{folder}: expected 1 wheel and 1 sdist, found {len(wheels)} and {len(sdists)}"
        return
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = set(wheel.namelist())
    expected = {f"harness/{name}" for name in _files(root / "harness")}
    for data in _DATA:
        expected |= {f"harness/shipped_data/{data}/{name}" for name in _files(root / data)}
    found = {name for name in names if ".dist-info/" not in name}
    yield from _differences(wheels[0].name, expected, found)
    with tarfile.open(sdists[0]) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    needed = {file for name in _IN_SDIST for file in _below(root, name)}
    hidden = {name for name in inside if not set(Path(name).parts).isdisjoint(_NEVER)}
    yield from _differences(sdists[0].name, needed, (inside & needed) | hidden)


def _differences(name: str, expected: set[str], found: set[str]) -> Iterator[str]:
    yield from (f"{name}: {file} is missing" for file in sorted(expected - found))
    yield from (f"{name}: {file} does not belong there" for file in sorted(found - expected))


def _below(root: Path, name: str) -> Iterable[str]:
    path = root / name
    return (f"{name}/{file}" for file in _files(path)) if path.is_dir() else (name,)


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part in _NEVER or part.startswith(".") for part in name.parts)
        if path.is_file() and not hidden:
            yield name.as_posix()


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "wheel and sdist have what they need, and nothing else")
    sys.exit(1 if found else 0)
