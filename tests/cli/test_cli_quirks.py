"""`harness quirks`: coverage in one line each, and all that is known of those that are named."""

import json

from harness import shipped
from harness.results.catalogue import load_excluded
from tests.cli.conftest import Harness

QUIRK = "DELTA-ID-EMPTY-LATER"
EXCLUDED = "SSE-GZIP"


def test_each_quirk_has_a_line_with_its_coverage(harness: Harness) -> None:
    rows = harness("quirks", "--format", "json").json
    lines = harness("quirks").out.splitlines()
    excluded = load_excluded(shipped.bundled_folder("catalogue") / "excluded.yaml")
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        shown = "excluded" if row["id"] in excluded else str(len(row["scenarios"]))
        assert line.split()[0] == row["id"]
        assert f" {shown}  {row['title']}" in line


def test_quirks_describes_a_quirk(harness: Harness) -> None:
    left = harness("quirks", QUIRK, EXCLUDED)
    assert (left.code, left.err) == (0, "")
    for said in (
        "lost call",
        "CALL-NAMED",
        "dashscope/split-chunks",
        "https://",
        "none: A cassette",
    ):
        assert said in left.out
    assert max(map(len, left.out.splitlines())) <= 100
    (one,) = json.loads(harness("quirks", QUIRK, "--format", "json").out)
    assert one["id"] == QUIRK


def test_unknown_quirk_is_rejected_with_the_nearest(harness: Harness) -> None:
    left = harness("quirks", "sse-gzp")
    assert left.code == 2
    assert "did you mean 'SSE-GZIP'" in left.err
