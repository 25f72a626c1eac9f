"""What the header of a merged run says about each peer: version, date, settings and cost."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from harness.results.cost import Cost

Language = Literal["python", "javascript"]

_EVERYTHING: Final = "all bundled cells"


class PeerFacts(msgspec.Struct, frozen=True):
    """How the run of a peer, which is a third-party library with its adapter, ended.

    Fields:
        package, version: of the library under test.
        harness: version of the harness.
        at: ISO date of the run.
        seconds: how long it took, with smoke cases and without `cost`.
        cuts: chunkings of the run, as in `harness run --cuts`.
        selection: paths and filters of the run; "" for the bundled scenarios and recordings.
        not_judged: why there is no run; "" if there is one.
        cost: what the peer costs in one dialect; None if that was left out.
    """

    name: str
    language: Language
    package: str
    version: str
    harness: str
    at: str
    seconds: float = 0.0
    cuts: str = ""
    selection: str = ""
    not_judged: str = ""
    cost: Cost | None = None


class PeerSettings(msgspec.Struct, frozen=True, order=True):
    """With what peers were run: cells, chunkings, and the version of the harness."""

    selection: str
    cuts: str
    harness: str


def settings_of(peers: Iterable[PeerFacts]) -> tuple[PeerSettings, ...]:
    """Return the different settings of `peers`, sorted."""
    found = {PeerSettings(it.selection or _EVERYTHING, it.cuts, it.harness) for it in peers}
    return tuple(sorted(found))


def dates_of(peers: Iterable[PeerFacts]) -> str:
    """Return the date of the runs, or the first and the last one.

    Raises:
        ValueError: there are no peers.
    """
    dates = {each.at for each in peers}
    first, last = min(dates), max(dates)
    return first if first == last else f"{first} to {last}"
