"""Clean interactions that ship: whole turns in which nothing is left open, by dialect."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from harness.dialects.table import oracle_reading
from harness.normalizers import reference
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction
from tests.dialects.shipped_bodies import shipped

# What nearly every stream of these APIs shows.
_USUAL = frozenset(
    (
        "ANT-UNKNOWN-EVENT",
        "ANT-EMPTY-INPUT",
        "BED-MULTI-BLOCKS",
        "DASH-FINISH-NULL-TEXT",
        "DELTA-ID-EMPTY-LATER",
        "DELTA-TYPE-MISSING",
        "OLL-ARGS-OBJECT",
        "OLL-DONE-STOP",
        "TOOLCALLS-NULL",
    )
)
_OF_A_KIND = 4


@cache
def clean() -> dict[str, tuple[Interaction, ...]]:
    """Return dialect -> interactions, a few of each kind: with calls, text, usage and so on."""
    return {dialect: tuple(_varied(interactions)) for dialect, interactions in shipped().items()}


def _varied(interactions: Iterable[Interaction]) -> Iterator[Interaction]:
    """Yield clean interactions; the oracle, which is slow, reads no more than it takes."""
    seen: Counter[object] = Counter()
    for each in interactions:
        if each.status != 200:
            continue
        turn = turn_of(each)
        kind = (len(turn.tool_calls), bool(turn.text), bool(turn.reasoning), turn.usage is None)
        if seen[kind] < _OF_A_KIND and _is_clean(each):
            seen[kind] += 1
            yield each


def _is_clean(interaction: Interaction) -> bool:
    reading = oracle_reading(interaction)
    return (
        reading.calls is not None
        and all(call.id for call in reading.calls)
        and reading.ended
        and reading.knows("end")
        and reading.error is None
        and not reading.refusal
        and reading.quirks <= _USUAL
    )


def turn_of(interaction: Interaction) -> Turn:
    """Return what `reference` makes of the whole body."""
    return fold(reference.normalize(interaction, [interaction.body]))
