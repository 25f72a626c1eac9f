"""Write the summary for a CI service: the worst failures first, within a limit of bytes.

It states how many entries do not fit.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec

from harness.reporting.failures import FAILING_NO_CELL, Failure, list_failures
from harness.reporting.text.terminal import tables
from harness.reporting.visible import markdown_code, markdown_table, markdown_text
from harness.results.run import Run
from harness.verdicts.gate import RuleVerdict, Summary
from harness.verdicts.statistics import percent, percent_range
from harness.wording import pluralize

# GitHub rejects a step summary over 1 MiB; a readable one needs less than a fifth of that.
MAX_BYTES = 200_000
# More lines than a screen or two are not read.
MAX_LINES = 60
_RESERVED = 200
_RESERVED_LINES = 5
_REASONS = 6
_MOST_FAILURES = 7

# By whether they fail cells.
_HEADINGS = {True: "### Failures", False: f"### {FAILING_NO_CELL}"}
_RULES = ("rule", "metric", "verdict", "k/n", "rate", "95 % interval", "bound")


def summary_markdown(run: Run, summary: Summary, limit: int = MAX_BYTES, changed: str = "") -> str:
    """Return the summary of `run`, ending in a newline: at most `MAX_LINES` lines.

    Args:
        run: the run.
        summary: its summary.
        limit: the most bytes of UTF-8.
        changed: what changed since the last run, in one line.
    """
    failures = list_failures(run, summary.gate)
    head = "\n".join(_head(summary, changed))
    # The failures are above the rankings, with more details than in a table.
    rankings = tables(msgspec.structs.replace(summary, causes=()), "markdown").split("\n\n### ")
    room = _Room(limit - _RESERVED, MAX_LINES - _RESERVED_LINES)
    head = _cut(head, room) if room.lacks(head) else head
    room = room.without(head)
    shown = _parts_that_fit(_failure_texts(failures[:_MOST_FAILURES]), room)
    left = len(failures) - len(shown)
    room = room.without(*shown)
    tables_shown = _parts_that_fit(
        (f"### {each.removeprefix('### ')}\n" for each in rankings), room
    )
    more = [f"and {left} more causes of failure: see the report", ""] if left else []
    if len(tables_shown) < len(rankings):
        tables_shown.append("More rankings are in the report.\n")
    return "\n".join([head, *shown, *more, *tables_shown])


class _Room(NamedTuple):
    """How many bytes and lines a text may have."""

    size: int
    lines: int

    def without(self, *parts: str) -> "_Room":
        """Return the room that is left after `parts`."""
        lines = sum(part.count("\n") + 1 for part in parts)
        return _Room(self.size - _size(*parts), self.lines - lines)

    def lacks(self, text: str) -> bool:
        """Return whether `text` does not fit."""
        left = self.without(text)
        return left.size < 0 or left.lines < 0


def _head(summary: Summary, changed: str) -> Iterator[str]:
    gate = summary.gate
    yield f"## Gate: {gate.verdict}"
    yield ""
    yield from (f"**Changes:** {markdown_text(changed)}", "") if changed else ()
    reasons = gate.reasons[:_REASONS]
    yield from (f"- {markdown_text(reason, limit=1_000)}" for reason in reasons)
    if len(gate.reasons) > _REASONS:
        yield f"- and {pluralize(len(gate.reasons) - _REASONS, 'more reason')}"
    yield ""
    yield from (f"Not judged: {markdown_text(gate.remark)}", "") if gate.remark else ()
    if gate.rules:
        yield markdown_table(_RULES, map(_rule, gate.rules))
        yield ""
    if gate.excused:
        count = pluralize(len(gate.excused), "accepted failure")
        yield f"{count} in expectations.toml or the baseline."
        yield ""


def _rule(rule: RuleVerdict) -> tuple[str, ...]:
    named: dict[str, str] = msgspec.to_builtins(rule.where)
    filters = "".join(f", {key} {markdown_text(value)}" for key, value in named.items())
    bounds = (("min", rule.min), ("max", rule.max))
    return (
        markdown_text(rule.rule),
        f"{markdown_text(rule.metric)}{filters}",
        rule.verdict,
        f"{rule.k}/{rule.n}",
        "-" if rule.rate is None else percent(rule.rate),
        percent_range(rule.low, rule.high),
        " ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
        + f", {rule.basis}",
    )


def _failure_texts(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield a text for each failure, with a heading before MUST rules and before other rules."""
    for fail, found in groupby(failures, key=lambda each: each.is_must):
        heading = f"{_HEADINGS[fail]}\n\n"
        for each in found:
            yield heading + _failure(each)
            heading = ""


def _failure(each: Failure) -> str:
    found, count = each.example, each.group.cells
    accepted = f", {each.accepted} accepted" if each.accepted else ""
    such = f"such as {markdown_code(each.cell)} ({markdown_text(each.title)})"
    title = markdown_text(each.headline)
    lines = [f"- **{title}** in {pluralize(count, 'cell')}{accepted}, {such}"]
    lines += [f"  - {markdown_text(each.evidence.text)}"] if each.evidence else []
    if found is not None:
        lines.append(
            f"  - at {markdown_code(found.path)}: expected {markdown_text(found.expected)}"
        )
        lines.append(f"  - actual: {markdown_text(found.actual)}")
    return "\n".join([*lines, f"  - {markdown_code(each.to_copy)}", ""])


def _parts_that_fit(parts: Iterable[str], room: _Room) -> list[str]:
    """Return the first parts that fit into `room`."""
    fitting = []
    for part in parts:
        if room.lacks(part):
            break
        room = room.without(part)
        fitting.append(part)
    return fitting


def _cut(text: str, room: _Room) -> str:
    lines = _parts_that_fit(text.split("\n"), room)
    left = text.count("\n") + 1 - len(lines)
    return "\n".join([*lines, "", f"and {left} more lines", ""]) if left else text


def _size(*parts: str) -> int:
    return sum(len(part.encode()) + 1 for part in parts)
