"""The part of the matrix about cost: a table of the measured peers, and why others were not."""

from collections.abc import Iterator, Sequence
from typing import Final

from harness.cost.table import COST_HEAD, cost_cells, cost_order
from harness.judging.rules.cost import MOST_GROWTH, MOST_HELD_BACK, MOST_MEMORY, MOST_TIME
from harness.peers.record import PeerResults
from harness.reporting.visible import markdown_table, markdown_text

_INTRODUCTION: Final = f"""
Measured with streams of many small deltas, half text and half the arguments of one call, as
[`harness cost`](reference/cli.md#harness-cost) describes. **!** marks a value beyond the limit of
its [SHOULD rule](reference/rules.md#rules-for-cost):

- **time / floor**: CPU time for one delta, as a multiple of finding and decoding its payload
  (COST-TIME, at most {MOST_TIME:g} in the shortest stream). Compare it within one dialect.
- **growth**: that ratio in the longest stream, divided by that in the shortest one (COST-GROWTH,
  at most {MOST_GROWTH:g}). 1.0 is linear.
- **memory / body**: peak memory for each further byte of the body (COST-MEMORY, at most
  {MOST_MEMORY:g}).
- **held back**: bytes read before the first text was emitted (COST-FIRST-TEXT, at most
  {MOST_HELD_BACK:,}).

The values of a Python library contain its adapter. Those of a JavaScript library are of its
process, contain the connection to the harness, and have no time of text. `not measured` is not a
pass.
"""


def cost_section(results: Sequence[PeerResults]) -> Iterator[str]:
    """Yield the section: peers by dialect, and the fastest of a dialect first."""
    found = [
        (each.record.name, each.record.cost, each.run.header.kind_of(each.record.name))
        for each in results
        if each.run is not None and each.record.cost is not None
    ]
    yield "\n## Cost"
    if not found:
        yield "\nThe cost of no peer was measured."
        return
    yield _INTRODUCTION
    rows = sorted(found, key=lambda row: cost_order(row[0], row[1]))
    yield markdown_table(
        ("peer", *COST_HEAD),
        (_row(name, *cost_cells(cost, kind)) for name, cost, kind in rows),
    )
    reasons = [(name, cost.not_measured) for name, cost, _ in rows if cost.not_measured]
    if reasons:
        yield "\nNot measured completely:\n"
        yield markdown_table(("peer", "reason"), (tuple(map(markdown_text, it)) for it in reasons))


def _row(name: str, dialect: str, *numbers: str) -> tuple[str, ...]:
    return markdown_text(name), markdown_text(dialect), *numbers
