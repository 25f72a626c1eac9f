"""Signatures of failures -> groups as they are shown, each with an example."""

from collections.abc import Iterable, Mapping

import msgspec

from harness.judging.results import Finding, Result
from harness.reporting.words import WORD, OutcomeWord
from harness.runs.questions import Signature


class Group(msgspec.Struct, frozen=True):
    """Cells that fail in the same way.

    Fields:
        example: the first such finding of the first cell; None for a failure without one.
    """

    signature: Signature
    word: OutcomeWord
    example: Finding | None


def groups(signatures: Iterable[Signature], results: Mapping[str, Result]) -> tuple[Group, ...]:
    """Return one group for each signature, in their order; `results` are by cell."""
    return tuple(_group(each, results[each.cells[0]]) for each in signatures)


def _group(signature: Signature, result: Result) -> Group:
    wanted = (signature.rule, signature.level, signature.outcome)
    matching = (each for each in result.findings if (each.rule, each.level, each.outcome) == wanted)
    return Group(signature, WORD[signature.outcome], next(matching, None))
