"""Signatures of failures -> groups as they are shown, and the cells whose bytes come along.

A page of every failing case could not be opened: each signature brings its first few.
"""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Final

import msgspec

from harness.judging.results import Finding, Result
from harness.reporting.report import replays_link
from harness.reporting.words import OUTCOME_WORDS, OutcomeWord
from harness.runs.questions import FailureSignature

CASES_PER_SIGNATURE: Final = 3
MAX_CASES: Final = 90
MAX_GROUPS: Final = 400


class FailureGroup(msgspec.Struct, frozen=True):
    """Cells that fail in the same way.

    Fields:
        name: of the signature, the same in every report.
        link: the place of all its cells in the table of replays.
        example: the first such finding of the first cell; None for a failure without one.
    """

    name: str
    link: str
    signature: FailureSignature
    word: OutcomeWord
    example: Finding | None


def failure_groups(
    signatures: Iterable[FailureSignature], results: Mapping[str, Result]
) -> tuple[FailureGroup, ...]:
    """Return one group for each signature, in their order; `results` are by cell."""
    return tuple(_failure_group(each, results[each.cells[0]]) for each in signatures)


def cells_with_case(found: Iterable[FailureGroup]) -> tuple[str, ...]:
    """Return the cells whose case is part of the page, at most `MAX_CASES`.

    First the first cell of each signature, then the second of each, so that as many kinds of
    failure as can be are there.
    """
    ranks = zip_longest(*(each.signature.cells[:CASES_PER_SIGNATURE] for each in found))
    cells = dict.fromkeys(cell for rank in ranks for cell in rank if cell is not None)
    return tuple(cells)[:MAX_CASES]


def _failure_group(signature: FailureSignature, result: Result) -> FailureGroup:
    wanted = (signature.rule, signature.level, signature.outcome)
    matching = (each for each in result.findings if (each.rule, each.level, each.outcome) == wanted)
    rule, outcome, name = signature.rule, signature.outcome.value, signature.normalizer
    return FailureGroup(
        f"{rule or 'none'}/{signature.level}/{outcome}/{name}",
        replays_link(rule=rule, normalizer=name)
        if rule
        else replays_link(outcome=outcome, normalizer=name),
        signature,
        OUTCOME_WORDS[signature.outcome],
        next(matching, None),
    )
