"""Write the comparison of two runs as text for a terminal, or as Markdown."""

from collections.abc import Iterable, Iterator
from typing import Literal

from harness.reporting.visible import (
    aligned_columns,
    markdown_code,
    markdown_table,
    markdown_text,
    marked,
    plain,
)
from harness.reporting.words import points
from harness.verdicts.causes import FailureCause
from harness.verdicts.compare import CHANGE_KINDS, Change, Comparison, RateChange
from harness.verdicts.statistics import percent
from harness.wording import pluralize

Format = Literal["pretty", "markdown"]

MOST_CHANGES = 50
_ENDS = ("before", "after")
_HEAD = ("name", "{unit} of both", "before", "after", "difference", "95 % interval", "p")


def comparison_text(found: Comparison, runs: tuple[str, str], style: Format = "pretty") -> str:
    """Return `found` as text that ends in a newline; at most `MOST_CHANGES` cells are named.

    Args:
        found: the differences.
        runs: the names of the two runs, the older one first.
        style: the style of the text.
    """
    write = _markdown if style == "markdown" else _pretty
    return "\n".join([*write(found, runs), ""])


def change_line(found: Comparison, label: str) -> str:
    """Return in one line what changed since the run `label`, in cells and in causes."""
    counts, causes = found.counts, found.new_causes
    new = f", {pluralize(len(causes), 'new cause')}" if causes else ""
    such = f", such as {causes[0].normalizer} {causes[0].name}" if causes else ""
    changed = f"+{counts['broken']} broken, {counts['fixed']} fixed"
    return f"{changed}{new} since {label}{such}"


def _pretty(found: Comparison, runs: tuple[str, str]) -> Iterator[str]:
    yield from (f"{word}  {marked(name)}" for word, name in zip(_ENDS, runs, strict=True))
    yield from (f"warning: {marked(each)}" for each in found.warnings)
    yield _counts(found)
    for word, each in _causes(found):
        yield f"  {word} cause  {pluralize(each.cells, 'cell')}  {marked(_cause_text(each))}"
    for change in found.changes[:MOST_CHANGES]:
        yield f"  {change.way:<8} {marked(change.cell)}  {_outcomes(change)}"
    yield from _more(found)
    for title, unit, rates in _boards(found):
        yield from ("", title)
        rows = [_head(unit), *(_cells(rate, plain(rate.name, limit=60)) for rate in rates)]
        yield from (f"  {line}" for line in aligned_columns(rows))


def _markdown(found: Comparison, runs: tuple[str, str]) -> Iterator[str]:
    yield from (f"- {word}: {markdown_code(name)}" for word, name in zip(_ENDS, runs, strict=True))
    yield ""
    yield from (f"> {markdown_text(each)}" for each in found.warnings)
    yield from (_counts(found), "")
    for word, each in _causes(found):
        named = markdown_code(_cause_text(each))
        yield f"- {word} cause: {named} in {pluralize(each.cells, 'cell')}"
    for change in found.changes[:MOST_CHANGES]:
        outcomes = markdown_text(_outcomes(change))
        yield f"- {change.way}: {markdown_code(change.cell)} {outcomes}"
    yield from _more(found)
    for title, unit, rates in _boards(found):
        rows = (_cells(rate, markdown_text(rate.name, limit=60)) for rate in rates)
        yield from ("", f"### {title}", "", markdown_table(_head(unit), rows))


def _counts(found: Comparison) -> str:
    counts = [f"{found.counts[way]} {way}" for way in CHANGE_KINDS]
    causes = f"{len(found.new_causes)} new and {len(found.fixed_causes)} fixed causes of failure"
    return f"cells: {', '.join(counts)}; {found.same} unchanged; {causes}"


def _causes(found: Comparison) -> Iterator[tuple[str, FailureCause]]:
    """Yield each cause of failures with how it changed; at most `MOST_CHANGES` of each kind."""
    yield from (("new", each) for each in found.new_causes[:MOST_CHANGES])
    yield from (("fixed", each) for each in found.fixed_causes[:MOST_CHANGES])


def _cause_text(each: FailureCause) -> str:
    return f"{each.normalizer}: {each.cause}, such as {each.cell}"


def _more(found: Comparison) -> Iterator[str]:
    left = len(found.changes) - MOST_CHANGES
    if left > 0:
        yield f"  and {left} more. Use --format json to list all."


def _outcomes(change: Change) -> str:
    was = change.before.value if change.before else "none"
    now = change.after.value if change.after else "none"
    return f"{was} -> {now}"


def _boards(found: Comparison) -> Iterator[tuple[str, str, Iterable[RateChange]]]:
    """Yield the title, the unit and the changed rates of each ranking."""
    if found.conformance:
        yield "Conformance on the cells of both runs", "cells", found.conformance
    if found.turn_success:
        yield "Turn success on the recorded turns of both runs", "turns", found.turn_success


def _head(unit: str) -> tuple[str, ...]:
    return tuple(each.format(unit=unit) for each in _HEAD)


def _cells(rate: RateChange, name: str) -> tuple[str, ...]:
    word = "" if rate.sure else ", not significant"
    return (
        name,
        str(rate.pairs.n),
        percent(rate.before),
        percent(rate.after),
        f"{points(rate.after - rate.before)} points",
        f"{points(rate.low)} to {points(rate.high)} points",
        f"{rate.p:.3f}{word}",
    )
