"""Clean interactions that ship: whole turns in which nothing is left open, by dialect.

To choose them, all bundled bodies are read. So `clean_interactions.txt` stores the choice, and
`UPDATE_GOLDEN=1 pytest tests/fuzzing/test_fuzzing_mutators.py -n 0 -o addopts=` makes it again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from harness.dialects.table import oracle_reading
from harness.normalizers import reference
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction
from tests.dialects.shipped_bodies import cassettes

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
STORED: Final = Path(__file__).with_name("clean_interactions.txt")


@cache
def clean() -> dict[str, tuple[Interaction, ...]]:
    """Return dialect -> interactions, a few of each kind: with calls, text, usage and so on."""
    by_id = {cassette.id: cassette.interactions for cassette in cassettes()}
    found: dict[str, list[Interaction]] = defaultdict(list)
    for line in STORED.read_text(encoding="utf-8").splitlines():
        name, _, place = line.partition(" ")
        each = by_id[name][int(place)]
        found[each.dialect].append(each)
    return {dialect: tuple(interactions) for dialect, interactions in found.items()}


def choose_clean() -> str:
    """Return the text of `clean_interactions.txt`: cassettes, each with the place in it."""
    return "".join(f"{name} {place}\n" for name, place in _varied())


def _varied() -> Iterator[tuple[str, int]]:
    """Yield clean interactions; the oracle, which is slow, reads no more than it takes."""
    seen: Counter[object] = Counter()
    for cassette in cassettes():
        for place, each in enumerate(cassette.interactions):
            if each.status != 200:
                continue
            kind = kind_of(each)
            if seen[kind] < _OF_A_KIND and is_clean(each):
                seen[kind] += 1
                yield cassette.id, place


def kind_of(interaction: Interaction) -> tuple[object, ...]:
    """Return what an interaction is a sample of."""
    turn = turn_of(interaction)
    has = (bool(turn.text), bool(turn.reasoning), turn.usage is None)
    return (interaction.dialect, len(turn.tool_calls), *has)


def is_clean(interaction: Interaction) -> bool:
    """Return whether the oracle leaves nothing in the interaction open."""
    reading = oracle_reading(interaction)
    return (
        interaction.status == 200
        and reading.calls is not None
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
