"""A cassette -> the facts about it that each of its results carries into the run.

They are facts of its file alone: where it comes from, what of the network survived in it, and
whether it still holds a credential.
"""

from typing import Literal

from harness.judging.results import CassetteFacts
from harness.recording import scrub
from harness.wire.cassette import Cassette


def source_of(cassette: Cassette) -> CassetteFacts:
    """Return what is known of `cassette`."""
    origin, interactions = cassette.origin, cassette.interactions
    return CassetteFacts(
        by=origin.by,
        at=origin.at,
        source=origin.source,
        licence=origin.licence,
        reads=_reads([each.reads_kept for each in interactions]),
        leaks=sum(len(scrub.leaks(each)) for each in interactions),
        interactions=len(interactions),
        size=sum(len(each.body) for each in interactions),
    )


def _reads(kept: list[bool]) -> Literal["recorded", "synthetic", "mixed"]:
    if all(kept):
        return "recorded"
    return "mixed" if any(kept) else "synthetic"
