"""Find the language of a repository, and what `harness init` writes for a client in it.

`starters.toml` lists the languages other than Python. A driver is a program that speaks the client
protocol, and has one function for the user to complete.
"""

from functools import cache
from pathlib import Path
from typing import Final

from harness.files.load import load_toml_file
from harness.files.typed import File, convert

_FOLDER: Final = Path(__file__).parent
_PYTHON: Final = ("pyproject.toml", "setup.py", "setup.cfg")


class Starter(File, frozen=True):
    """What a client in one language needs.

    Fields:
        markers: globs of the files that show the language.
        command: the command that starts the driver.
        files: the path of each file -> its template in this folder; the driver is the first.
        toolchain: the steps of a workflow of GitHub Actions that install and build.
    """

    markers: tuple[str, ...]
    command: str
    files: dict[str, str]
    toolchain: str

    @property
    def texts(self) -> dict[str, str]:
        """The path of each file -> its text."""
        return {
            path: (_FOLDER / template).read_text(encoding="utf-8")
            for path, template in self.files.items()
        }


@cache
def starters() -> dict[str, Starter]:
    """Return the languages that have a starter, by name."""
    path = _FOLDER / "starters.toml"
    return convert(load_toml_file(path, most=1 << 16), dict[str, Starter], str(path))


def starter_for(root: Path) -> Starter | None:
    """Return the starter for the language of the folder `root`; None for Python."""
    if any((root / name).exists() for name in _PYTHON):
        return None
    found = (it for it in starters().values() if any(_has(root, glob) for glob in it.markers))
    return next(found, None)


def _has(root: Path, glob: str) -> bool:
    return next(root.glob(glob), None) is not None
