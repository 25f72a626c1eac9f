"""Compare the members of two sets of recordings of an API, or of recordings with its table."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from harness.judging.contract.shape import Grammar, MemberCount, count_members
from harness.judging.contract.table import load_tables
from harness.results.finding import Level
from harness.wire.interaction import Interaction

SCHEMA: Final = 1
# `missing`: no object has the member any more. `rarer`: all had it, now some lack it.
Change: TypeAlias = Literal["new", "missing", "rarer", "type", "kind-new", "kind-missing"]
_Counts: TypeAlias = dict[str, dict[str, MemberCount]]
_NONE: Final = MemberCount(0, 0, ())


class MemberChange(msgspec.Struct, frozen=True):
    """One difference between the members of old and new streams.

    Fields:
        member: the member; "" for a kind of object.
        level: how strictly the table requires the member; None if it does not.
        old, new: in how many streams each object has it, of how many, and its types.
    """

    dialect: str
    kind: str
    member: str
    change: Change
    level: Level | None
    old: MemberCount
    new: MemberCount


class ContractDiff(msgspec.Struct, frozen=True):
    """The differences between two sets of streams.

    Fields:
        schema: the version of the JSON format.
        old, new: dialect -> the number of streams; `old` is empty if a table was compared.
        compared: the dialects that both have, in order; the streams of others were not compared.
        changes: by dialect, kind and member.
    """

    schema: int
    old: dict[str, int]
    new: dict[str, int]
    compared: tuple[str, ...]
    changes: tuple[MemberChange, ...]

    @property
    def violates_must(self) -> bool:
        """Whether a member with the level MUST is missing, rarer or of another type."""
        worse = ("missing", "rarer", "type")
        return any(it.level == "MUST" and it.change in worse for it in self.changes)


def contract_diff(old: Iterable[Interaction] | None, new: Iterable[Interaction]) -> ContractDiff:
    """Return what changed between old and new streams.

    Args:
        old: the old streams; None to compare with the tables.
        new: the new streams. Only the dialects of both are compared.
    """
    before = None if old is None else _by_dialect(old)
    after = _by_dialect(new)
    known = load_tables() if before is None else before
    compared = tuple(sorted(after.keys() & known.keys()))
    changes = [
        change
        for dialect in compared
        for change in _changes(dialect, None if before is None else before[dialect], after[dialect])
    ]
    sizes = {name: len(each) for name, each in (before or {}).items()}
    counts = {name: len(each) for name, each in after.items()}
    return ContractDiff(SCHEMA, sizes, counts, compared, tuple(changes))


def _by_dialect(interactions: Iterable[Interaction]) -> dict[str, list[Interaction]]:
    found: dict[str, list[Interaction]] = {}
    for each in interactions:
        found.setdefault(each.dialect, []).append(each)
    return found


def _changes(
    dialect: str, old: list[Interaction] | None, new: list[Interaction]
) -> Iterator[MemberChange]:
    table = load_tables().get(dialect)
    grammar = table.grammar if table else Grammar()
    before: _Counts
    before = table.counts() if old is None and table else count_members(old or (), grammar)
    after = count_members(new, grammar)
    duties = table.duties if table else {}
    for kind in sorted(before.keys() | after.keys()):
        rows, others = before.get(kind, {}), after.get(kind, {})
        if not rows or not others:
            # A table has all kinds that were ever recorded, so streams need not have them.
            if rows and old is None:
                continue
            change: Change = "kind-missing" if rows else "kind-new"
            first, last = (next(iter(it.values()), _NONE) for it in (rows, others))
            yield MemberChange(dialect, kind, "", change, None, first, last)
            continue
        for name in sorted(rows.keys() | others.keys()):
            one, two = rows.get(name, _NONE), others.get(name, _NONE)
            if changed := _change(one, two):
                level = duties.get(kind, {}).get(name)
                yield MemberChange(dialect, kind, name, changed, level, one, two)


def _change(old: MemberCount, new: MemberCount) -> Change | None:
    if not old.streams:
        return "new"
    always = old.present == old.streams
    if not new.streams:
        return "missing" if always else None
    if always and new.present < new.streams:
        return "rarer"
    return None if set(new.types) <= set(old.types) else "type"
