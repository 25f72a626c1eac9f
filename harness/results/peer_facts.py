"""Define what a merged run of third-party clients (peers) stores about each peer."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from harness.results.cost import Cost

Language = Literal["python", "javascript"]

_EVERYTHING: Final = "all bundled cells"


class PeerFacts(msgspec.Struct, frozen=True):
    """Facts about one third-party client (peer) and its part of a merged run.

    Fields:
        package, version: the library under test, and its version.
        harness: version of the harness.
        at: ISO date of the peer's run.
        seconds: duration of the run with its smoke cases, without the measurement of `cost`.
        cuts: the mode of the chunkings, as in `harness run --cuts`.
        selection: paths and filters of the run; "" for the bundled scenarios and recordings.
        not_judged: why the peer was not judged; "" if it was.
        inputs: digest of its scenarios, adapter and packages; "" in results of older harnesses.
        cost: what the peer costs in one dialect; None if the harness did not measure it.
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
    inputs: str = ""
    cost: Cost | None = None


class PeerSettings(msgspec.Struct, frozen=True, order=True):
    """The settings of a peer's run: cells, mode of the chunkings, and version of the harness."""

    selection: str
    cuts: str
    harness: str


def settings_of(peers: Iterable[PeerFacts]) -> tuple[PeerSettings, ...]:
    """Return the different settings of `peers`, sorted."""
    found = {PeerSettings(it.selection or _EVERYTHING, it.cuts, it.harness) for it in peers}
    return tuple(sorted(found))


def dates_of(peers: Iterable[PeerFacts]) -> str:
    """Return the date of the peers' runs, or `FIRST to LAST` if their dates differ.

    Raises:
        ValueError: there are no peers.
    """
    dates = {each.at for each in peers}
    first, last = min(dates), max(dates)
    return first if first == last else f"{first} to {last}"
