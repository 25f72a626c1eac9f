"""Results -> where normalizers that read the same bytes do not come to the same end.

Two agree on a scenario where both conform or neither does; what one does not support it has no
word in.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Final

import msgspec

from harness.judging.results import Outcome, Result
from harness.reporting.charts.squares import Matrix, Pair, Square, matrix

MOST_SCENARIOS: Final = 40


class Split(msgspec.Struct, frozen=True):
    """One scenario that parts the normalizers; each side is sorted."""

    scenario: str
    title: str
    right: tuple[str, ...]
    wrong: tuple[tuple[str, Outcome, str], ...]  # name, outcome, cell


class Disagreement(msgspec.Struct, frozen=True):
    """Pairs of normalizers, with the scenarios on which they agree of those that both read.

    Fields:
        splits: scenarios that part them, the most evenly parted first, at most `MOST_SCENARIOS`.
        more: how many are left out.
    """

    pairs: Matrix
    splits: tuple[Split, ...]
    more: int


def disagreement(results: Iterable[Result]) -> Disagreement:
    """Return where the normalizers of a run differ."""
    read: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.kind == "turns" and result.outcome is not Outcome.UNSUPPORTED:
            read[result.scenario].append(result)
    agreed: Counter[Pair] = Counter()
    shared: Counter[Pair] = Counter()
    splits: list[Split] = []
    for scenario in sorted(read):
        here = sorted(read[scenario], key=lambda each: each.normalizer)
        ends = [(each.normalizer, each.outcome.conforms) for each in here]
        for (one, is_right), (other, other_is_right) in combinations(ends, 2):
            shared[one, other] += 1
            agreed[one, other] += is_right == other_is_right
        if len({is_right for _, is_right in ends}) > 1:
            splits.append(_split(here))
    splits.sort(key=lambda each: (-min(len(each.right), len(each.wrong)), each.scenario))
    squares = {pair: Square(agreed[pair], shared[pair]) for pair in shared}
    both_ways = squares | {(other, one): square for (one, other), square in squares.items()}
    return Disagreement(
        matrix(both_ways), tuple(splits[:MOST_SCENARIOS]), max(0, len(splits) - MOST_SCENARIOS)
    )


def _split(results: list[Result]) -> Split:
    wrong = (each for each in results if not each.outcome.conforms)
    return Split(
        results[0].scenario,
        results[0].title,
        tuple(each.normalizer for each in results if each.outcome.conforms),
        tuple((each.normalizer, each.outcome, each.cell) for each in wrong),
    )
