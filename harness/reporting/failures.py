"""Results -> failures grouped by signature (level, rule, outcome, normalizer), worst first."""

from collections.abc import Iterable, Iterator

import msgspec

from harness.judging.results import Finding, Level, Outcome, Result
from harness.reporting.words import WORD, OutcomeWord, fails

_LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")
_NO_RULE = "(no rule)"


class Group(msgspec.Struct, frozen=True):
    """Cells that fail in the same way.

    Fields:
        cells: ids of all of them, sorted.
        example: the first finding of the first cell; None for a failure without one.
    """

    level: Level
    rule: str
    word: OutcomeWord
    normalizer: str
    cells: tuple[str, ...]
    example: Finding | None


Signature = tuple[Level, str, Outcome, str]


def groups(results: Iterable[Result]) -> tuple[Group, ...]:
    """Return one group for each signature: MUST first, then worst, then largest."""
    found: dict[Signature, dict[str, Finding | None]] = {}
    for result in results:
        for signature, finding in _signatures(result):
            found.setdefault(signature, {}).setdefault(result.cell, finding)
    return tuple(sorted((_group(*item) for item in found.items()), key=_worst_first))


def _signatures(result: Result) -> Iterator[tuple[Signature, Finding | None]]:
    for finding in result.findings:
        yield (finding.level, finding.rule, finding.outcome, result.normalizer), finding
    if not result.findings and fails(result):
        yield ("MUST", _NO_RULE, result.outcome, result.normalizer), None


def _group(signature: Signature, cells: dict[str, Finding | None]) -> Group:
    level, rule, outcome, normalizer = signature
    names = tuple(sorted(cells))
    return Group(level, rule, WORD[outcome], normalizer, names, cells[names[0]])


def _worst_first(group: Group) -> tuple[int, int, int, str, str]:
    return (
        _LEVELS.index(group.level),
        group.word.outcome.badness,
        -len(group.cells),
        group.rule,
        group.normalizer,
    )
