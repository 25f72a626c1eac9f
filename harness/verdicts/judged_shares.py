"""Count in how many turns each field was judged, and why it was not in the others."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from harness.results.expectation import COUNTED_FIELDS, Field
from harness.results.run import Run


class JudgedShare(msgspec.Struct, frozen=True):
    """The number of turns in which one field was judged: `k` of `n`.

    Fields:
        reasons: why the field was not judged -> number of turns, the most frequent first.
    """

    field: Field
    k: int
    n: int
    reasons: dict[str, int]


def judged_shares(turns: Iterable[Mapping[Field, str]]) -> tuple[JudgedShare, ...]:
    """Return the share of judged turns for each field in `COUNTED_FIELDS`.

    Args:
        turns: for each turn, the fields that were not judged -> why.
    """
    found = list(turns)
    reasons = {
        field: Counter(turn[field] for turn in found if field in turn) for field in COUNTED_FIELDS
    }
    return tuple(
        JudgedShare(field, len(found) - why.total(), len(found), dict(why.most_common()))
        for field, why in reasons.items()
    )


def judged_shares_of_run(run: Run) -> tuple[JudgedShare, ...]:
    """Return the share of judged turns for each counted field, over all cells of `run`."""
    return judged_shares(turn.unjudged for result in run.results for turn in result.turns)
