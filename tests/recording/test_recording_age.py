"""A recording's age counts from its own date; what was never recorded has none."""

from datetime import date

import pytest

from harness.recording.age import STALE_DAYS, age_text, days_old
from harness.wire.cassette import Origin

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("origin", "days", "words"),
    [
        (Origin("recorded", at="2026-11-22"), 0, "0 days"),
        (Origin("recorded", at="2026-11-21T10:00:00Z"), 1, "1 day"),
        (Origin("imported", at="2026-05-26"), STALE_DAYS, "180 days"),
        (Origin("imported", at="2026-05-25"), 181, "181 days, stale (over 180)"),
        (Origin("recorded", at="2027-01-01"), 0, "0 days"),
        (Origin("recorded"), None, ""),
        (Origin("recorded", at="yesterday"), None, ""),
        (Origin("emulated", at="2020-01-01"), None, ""),
    ],
)
def test_age(origin: Origin, days: int | None, words: str) -> None:
    assert days_old(origin, TODAY) == days
    assert age_text(origin, TODAY) == words
