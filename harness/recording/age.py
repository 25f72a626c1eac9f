"""How old a recording is, and from when on nobody should trust it to show what a server does."""

from datetime import UTC, date, datetime
from typing import Final

from harness.wire.cassette import Origin

# Providers change their streams without notice; half a year is several releases of most.
STALE_DAYS: Final = 180


def days_old(origin: Origin, today: date | None = None) -> int | None:
    """Return the age of a recording in days; None where it has no date, or was not recorded.

    Args:
        origin: of a cassette.
        today: by default that of the clock, in UTC.
    """
    if origin.kind == "emulated":
        return None
    try:
        made = date.fromisoformat(origin.at[:10])
    except ValueError:
        return None
    return max(((today or datetime.now(UTC).date()) - made).days, 0)


def age_text(origin: Origin, today: date | None = None) -> str:
    """Return such as `3 days` or `200 days, stale (over 180)`; "" where the age is not known."""
    days = days_old(origin, today)
    if days is None:
        return ""
    stale = f", stale (over {STALE_DAYS})" if days > STALE_DAYS else ""
    return f"{days} {'day' if days == 1 else 'days'}{stale}"
