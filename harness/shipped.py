"""Where the data that ships with the suite lies: cassettes, scenarios, catalogue.

In a wheel it lies inside the package; in a checkout at the top of the repository, where
people edit it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_IN_WHEEL = _PACKAGE / "shipped_data"


def bundled_folder(name: str) -> Path:
    """Return the folder `cassettes`, `scenarios` or `catalogue` that ships."""
    root = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent
    return root / name
