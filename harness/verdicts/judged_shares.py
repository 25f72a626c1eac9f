"""How many turns were judged, field by field, and why the others were not."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from harness.results.expectation import COUNTED_FIELDS, Field
from harness.results.run import Run


class JudgedShare(msgspec.Struct, frozen=True):
    """`k` of `n` turns had one field judged.

    Fields:
        reasons: why the others were not -> how many turns, the most frequent first.
    """

    field: Field
    k: int
    n: int
    reasons: dict[str, int]


def judged_shares(turns: Iterable[Mapping[Field, str]]) -> tuple[JudgedShare, ...]:
    """Return the share for each counted field; each turn names its unjudged fields."""
    found = list(turns)
    reasons = {
        field: Counter(turn[field] for turn in found if field in turn) for field in COUNTED_FIELDS
    }
    return tuple(
        JudgedShare(field, len(found) - why.total(), len(found), dict(why.most_common()))
        for field, why in reasons.items()
    )


def judged_shares_of_run(run: Run) -> tuple[JudgedShare, ...]:
    """Return the shares over the turns of all cells of `run`."""
    return judged_shares(turn.unjudged for result in run.results for turn in result.turns)
