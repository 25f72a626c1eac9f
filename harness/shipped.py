"""Find the bundled data: cassettes, scenarios, the catalogue of quirks, and drivers of clients.

In a wheel, the data is inside the package. In a checkout, it is in the top folder of the
repository, where people edit it.
"""

from pathlib import Path
from typing import Final

from harness.files.paths import path_below

# Among paths, the bundled scenarios and recordings.
BUNDLED: Final = "bundled"
# Folders next to scenarios with files that scenarios share, and no scenarios.
SHARED_FOLDERS: Final = frozenset({"tools", "prompts"})
_PACKAGE = Path(__file__).resolve().parent
_IN_WHEEL = _PACKAGE / "shipped_data"
_REPLAYED: Final = (("scenarios",), ("cassettes",))


def bundled_folder(name: str) -> Path:
    """Return the folder `cassettes`, `scenarios`, `catalogue` or `clients` of the bundled data."""
    return _root() / name


def is_bundled(path: str | Path) -> bool:
    """Return whether the scenario or cassette at `path` is part of the bundled data."""
    inside = path_below(path, _root())
    return inside is not None and inside.parts[:1] in _REPLAYED


def _root() -> Path:
    return _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent
