"""Where the bundled data is: cassettes, scenarios, catalogue, drivers of clients.

In a wheel it is inside the package. In a checkout it is in the top folder of the repository,
where people edit it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_IN_WHEEL = _PACKAGE / "shipped_data"


def bundled_folder(name: str) -> Path:
    """Return the folder `cassettes`, `scenarios`, `catalogue` or `clients` of the bundled data."""
    root = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent
    return root / name
