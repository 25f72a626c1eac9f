"""Every id of the shared catalogue is covered, merged into another one, or excluded."""

from pathlib import Path
from typing import Any

import pytest

from harness import shipped
from harness.files.load import load_yaml_file
from harness.files.typed import convert
from harness.results.catalogue import load_catalogue, load_excluded

SHARED = Path(__file__).parents[2].parent / "shared" / "catalogue" / "quirks.yaml"
_FEWEST_SHOWN = 258


def test_shared_catalogue_is_complete() -> None:
    if not SHARED.exists():
        pytest.skip("../shared/catalogue/quirks.yaml is absent, so there is nothing to compare")
    ids = [quirk["id"] for quirk in convert(load_yaml_file(SHARED), list[dict[str, Any]], "")]
    folder = shipped.bundled_folder("catalogue")
    quirks = load_catalogue(folder / "quirks")
    excluded = load_excluded(folder / "excluded.yaml").keys()
    merged = {other for quirk in quirks.values() for other in quirk.merged}
    shown = (quirks.keys() - excluded) | merged
    assert [name for name in ids if name not in shown | excluded] == []
    assert sum(name in shown for name in ids) >= _FEWEST_SHOWN
