"""Compare two runs: which cells were fixed, broken, added or removed, and whether rates differ.

Rates are compared only over what both runs judged: cells for normalizers and agents, recorded
turns with the same bytes for models. A difference is significant only if its p-value is at most
5 %, by the exact McNemar test with a correction by Holm for the number of names.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import Run
from harness.verdicts.causes import FailureCause, failing_causes
from harness.verdicts.statistics import Pairs, holm, mcnemar, newcombe

SURE: Final = 0.05

ChangeKind = Literal["broken", "fixed", "changed", "new", "missing"]
CHANGE_KINDS: Final[tuple[ChangeKind, ...]] = ("broken", "fixed", "changed", "new", "missing")

_MEASURED: Final = ("recorded", "imported")
_Trial: TypeAlias = tuple[str, bool, bool]


class Change(msgspec.Struct, frozen=True):
    """A cell whose outcome differs between two runs.

    Fields:
        way: `broken`, `fixed`, `changed`, `new` or `missing`.
        before, after: its outcome in the base and in the run; None if the run has no such cell.
    """

    cell: str
    way: ChangeKind
    before: Outcome | None
    after: Outcome | None


class RateChange(msgspec.Struct, frozen=True):
    """The rates of one client or model in two runs, over what both runs judged.

    Fields:
        pairs: the numbers of successes and failures in both runs; `a` is the base.
        before, after: the rates in the base and in the run.
        low, high: the 95 % interval of `after` minus `before`.
        p: the p-value of the exact McNemar test, adjusted for the number of compared names.
        sure: whether the difference is significant: `p` is at most `SURE`.
    """

    name: str
    pairs: Pairs
    before: float
    after: float
    low: float
    high: float
    p: float
    sure: bool


class Comparison(msgspec.Struct, frozen=True):
    """The differences from one run, the base, to another.

    Fields:
        same: number of cells with the same outcome, or that conform in both runs.
        counts: kind of change -> number of cells.
        changes: the changed cells: broken, then fixed, then others, the worst outcome first.
        conformance: the rates of normalizers and agents, by name.
        turn_success: the rates of models, read by the lead normalizer of each run.
        warnings: why the two runs may not be comparable.
        new_causes, fixed_causes: causes of failure only in the run, and only in the base. Only
            cells that both runs judged count.
    """

    same: int
    counts: dict[ChangeKind, int]
    changes: tuple[Change, ...]
    conformance: tuple[RateChange, ...]
    turn_success: tuple[RateChange, ...]
    warnings: tuple[str, ...]
    new_causes: tuple[FailureCause, ...] = ()
    fixed_causes: tuple[FailureCause, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether a cell of the base fails now, or was judged and is not judged any more."""
        return any(
            each.way == "broken"
            or (
                each.before is not None
                and each.before.judged
                and not (each.after is not None and each.after.judged)
            )
            for each in self.changes
        )


def compare(base: Run, run: Run) -> Comparison:
    """Return the differences from `base` to `run`."""
    before, after = ({each.cell: each for each in one.results} for one in (base, run))
    judged = [
        {cell for cell, each in found.items() if each.outcome.judged} for found in (before, after)
    ]
    cells, both = sorted(judged[0] | judged[1]), sorted(judged[0] & judged[1])
    found = (_change(cell, before.get(cell), after.get(cell)) for cell in cells)
    changes = sorted((each for each in found if each is not None), key=_worst_first)
    was, now = ([each[cell] for cell in both] for each in (before, after))
    counted = Counter(each.way for each in changes)
    return Comparison(
        same=len(cells) - len(changes),
        counts={way: counted[way] for way in CHANGE_KINDS},
        changes=tuple(changes),
        conformance=_rates(_cells(before, after, both)),
        turn_success=_rates(_turns(base, run)),
        warnings=tuple(_warnings(base, run)),
        new_causes=_only_causes(now, was),
        fixed_causes=_only_causes(was, now),
    )


def _only_causes(results: Iterable[Result], other: Iterable[Result]) -> tuple[FailureCause, ...]:
    """Return the causes of failure in `results` but not in `other`, the most cells first."""
    known = {(each.normalizer, each.cause) for each in failing_causes(other)}
    only = (
        each.summary
        for each in failing_causes(results)
        if each.cause and (each.normalizer, each.cause) not in known
    )
    return tuple(sorted(only, key=lambda each: (-each.cells, each.normalizer, each.cause)))


def _change(cell: str, before: Result | None, after: Result | None) -> Change | None:
    was = before.outcome if before else None
    now = after.outcome if after else None
    if was is None or now is None:
        return Change(cell, "new" if was is None else "missing", was, now)
    if not (was.judged and now.judged):
        return Change(cell, "changed", was, now)
    if was.conforms != now.conforms:
        return Change(cell, "fixed" if now.conforms else "broken", was, now)
    return None if now.conforms or was is now else Change(cell, "changed", was, now)


def _worst_first(change: Change) -> tuple[int, int, str]:
    shown = change.after or change.before
    return CHANGE_KINDS.index(change.way), shown.badness if shown else 0, change.cell


def _cells(
    before: Mapping[str, Result], after: Mapping[str, Result], both: Iterable[str]
) -> Iterator[_Trial]:
    for cell in both:
        was, now = before[cell].outcome, after[cell].outcome
        yield after[cell].normalizer, was.conforms, now.conforms


def _turns(base: Run, run: Run) -> Iterator[_Trial]:
    before, after = _successes(base), _successes(run)
    for turn in before.keys() & after.keys():
        yield after[turn][0], before[turn][1], after[turn][1]


def _successes(run: Run) -> dict[tuple[str, int, str], tuple[str, bool]]:
    """Return each recorded turn of a run, with its model and whether the turn succeeded."""
    rows = (
        each
        for each in run.results
        if each.origin in _MEASURED
        and each.normalizer == run.header.lead
        and each.outcome is not Outcome.UNSUPPORTED
    )
    return {
        (result.cassette, turn.interaction, turn.digest): (result.model, turn.success)
        for result in rows
        for turn in result.turns
    }


def _rates(trials: Iterable[_Trial]) -> tuple[RateChange, ...]:
    counts: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for name, was, now in trials:
        counts[name][was, now] += 1
    names = sorted(counts)
    pairs = [_pairs(counts[name]) for name in names]
    adjusted = holm([mcnemar(each.only_a, each.only_b) for each in pairs])
    return tuple(map(_rate, names, pairs, adjusted))


def _pairs(counts: Counter[tuple[bool, bool]]) -> Pairs:
    return Pairs(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def _rate(name: str, pairs: Pairs, p: float) -> RateChange:
    before = (pairs.both + pairs.only_a) / pairs.n
    after = (pairs.both + pairs.only_b) / pairs.n
    low, high = newcombe(pairs)
    return RateChange(name, pairs, before, after, low, high, p, p <= SURE)


def _warnings(base: Run, run: Run) -> Iterator[str]:
    for word, was, now in (
        ("cuts", base.header.selection.cuts, run.header.selection.cuts),
        ("versions of the harness", base.header.harness, run.header.harness),
        ("schemas", str(base.header.schema), str(run.header.schema)),
        ("lead normalizers", base.header.lead, run.header.lead),
    ):
        if was != now:
            yield f"the runs have different {word}: {was or 'none'} and {now or 'none'}"
