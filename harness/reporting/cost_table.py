"""Make the columns of a table of costs. A value beyond the limit of its rule is marked."""

from typing import Final

from harness.results.cost import (
    MOST_GROWTH,
    MOST_HELD_BACK,
    MOST_MEMORY,
    MOST_TIME,
    Cost,
    beyond_limits,
)

COST_HEAD: Final = (
    *("dialect", "deltas", "time / floor", "growth", "memory / body"),
    *("held back", "held arguments"),
)
# The limits of the SHOULD rules, by column.
COST_LIMITS: Final = {
    "time / floor": f"{MOST_TIME:g} in the shortest stream",
    "growth": f"{MOST_GROWTH:g}",
    "memory / body": f"{MOST_MEMORY:g}",
    "held back": f"{MOST_HELD_BACK:,} B",
    "held arguments": f"{MOST_HELD_BACK:,} B",
}
_BEYOND: Final = " !"
_UNKNOWN: Final = "not measured"


def cost_cells(cost: Cost) -> tuple[str, ...]:
    """Return the texts for the columns of `COST_HEAD`; a value not measured has no number."""
    beyond = beyond_limits(cost)
    shown = {
        "time": "" if cost.time is None else f"{cost.time:.1f}",
        "growth": "" if cost.growth is None else f"{cost.growth:.2f}",
        "memory": "" if cost.memory is None else f"{cost.memory:.2f}",
        "held_back": "" if cost.held_back is None else f"{cost.held_back:,} B",
        "held_arguments": "" if cost.held_arguments is None else f"{cost.held_arguments:,} B",
    }
    measured = (
        f"{text}{_BEYOND * (name in beyond)}" if text else _UNKNOWN for name, text in shown.items()
    )
    return (
        cost.dialect,
        f"{cost.deltas:,}" if cost.deltas else _UNKNOWN,
        *measured,
    )
