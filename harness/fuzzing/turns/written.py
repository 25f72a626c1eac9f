"""Turns that nobody recorded, written by a dialect's own writer: seeds without a cassette.

What must come out is what the strict reading finds in the bytes, which knows nothing of the
writer.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.dialects.oracles import oracle_reading
from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators import Mutator
from harness.fuzzing.strategies import argument_texts, chunkings, malformed_arguments, turn_scripts
from harness.fuzzing.turns import inputs
from harness.fuzzing.turns.evaluate import Trial
from harness.fuzzing.turns.seeds import Seed
from harness.judging.expected import expectation_from
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_reads

PARENT: Final = "written"

_ANY: Final = True  # the schema that allows all
# Larger than what a double holds exactly.
_LONG = st.integers(2**53 + 1, 2**63).map(lambda number: f'{{"id": {number}}}')
_ARGUMENTS = _LONG | argument_texts(_ANY) | malformed_arguments(_ANY).map(lambda bad: bad.text)


@st.composite
def written_trials(
    draw: DrawFn, dialects: Sequence[str], steps: Sequence[Mutator]
) -> tuple[Trial, ...]:
    """Draw one turn in each of `dialects` that can say it, some after a step, cut anywhere."""
    deltas = draw(_deltas())
    step = draw(st.none() | st.sampled_from(steps))
    trials = []
    for dialect in dialects:
        try:
            seed = written_seed(dialect, deltas)
        except ValueError:  # the API has no way to say it
            continue
        mutant = inputs.draw_steps(draw, seed, () if step is None else (step,))
        trials.append(Trial(seed, mutant, (draw(chunkings(mutant.interaction.body)),)))
    return tuple(trials)


def written_seed(dialect: str, deltas: list[Delta]) -> Seed:
    """Return what the writer of `dialect` makes of `deltas`."""
    known = DIALECTS[dialect]
    body = b"".join(known.write(deltas))
    interaction = Interaction(
        Request(),
        200,
        (("content-type", known.content_type),),
        body,
        synthetic_reads(body),
        reads_kept=False,
        dialect=dialect,
    )
    return Seed(PARENT, "", interaction, expectation_from(oracle_reading(interaction)))


@st.composite
def _deltas(draw: DrawFn) -> list[Delta]:
    """Draw a turn; half of those with calls have other arguments, and some of them broken ones."""
    script = draw(turn_scripts())
    if draw(st.booleans()):
        return script.deltas()
    calls = tuple((call_id, name, (draw(_ARGUMENTS),)) for call_id, name, _ in script.calls)
    return msgspec.structs.replace(script, calls=calls).deltas()
