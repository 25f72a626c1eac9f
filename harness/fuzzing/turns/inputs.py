"""Draw the inputs of a search: seeds after mutations, generated turns, and their chunkings.

A dialect's own writer encodes the generated turns. Their expected result is the oracle's reading
of the bytes, because the oracle shares no code with the writer.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.dialects.table import DIALECTS, oracle_reading
from harness.fuzzing.found import Parent
from harness.fuzzing.mutators.mutator import REALISMS, MutatedInput, Mutator
from harness.fuzzing.mutators.table import (
    MUTATORS,
    Place,
    apply_mutators,
    fitting,
    mutated_inputs,
)
from harness.fuzzing.strategies import argument_texts, chunkings, malformed_arguments, turn_scripts
from harness.fuzzing.strategies.turns import member_of
from harness.fuzzing.turns.evaluate import Trial
from harness.fuzzing.turns.seeds import Seed
from harness.judging.expected import expectation_from
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta
from harness.turns.turn import Tool

GENERATED: Final = "written"  # an id of findings that are stored

# What one draw gives: many trials at once, because a draw costs as much as several of them.
TrialGroup: TypeAlias = tuple[Trial, ...]

_TOOLS: Final = tuple(map(Tool, ("get_weather", "get_time", "search_files")))
_ANY: Final = True  # the schema that allows all
# Larger than the integers that a double holds exactly.
_LONG = st.integers(2**53 + 1, 2**63).map(lambda number: f'{{"id": {number}}}')
_ARGUMENTS = _LONG | argument_texts(_ANY) | malformed_arguments(_ANY).map(lambda bad: bad.text)


def steps_for(normalizer: Normalizer) -> tuple[Mutator, ...]:
    """Return the mutators for the dialects and capabilities that `normalizer` declares.

    Preserving ones alternate with the others, because each kind finds different bugs. Mutations
    that no server is known to make come last.
    """
    found = {
        step.name
        for dialect in normalizer.dialects
        for step in fitting(dialect, capabilities=normalizer.capabilities)
    }
    keeping = [step for step in MUTATORS if step.name in found and step.preserving]
    changing = [step for step in MUTATORS if step.name in found and not step.preserving]
    pairs = zip_longest(changing, keeping)
    mixed = (step for pair in pairs for step in pair if step is not None)
    return tuple(sorted(mixed, key=lambda step: step.realism == REALISMS[-1]))


@st.composite
def stepped_trials(draw: DrawFn, seed: Seed, steps: Sequence[Mutator]) -> Trial | None:
    """Draw `seed` after the mutators `steps` in order; None if one of them cannot be applied."""
    trial = _draw_trial(draw, seed, steps)
    return None if len(trial.mutators) < len(steps) else trial


@st.composite
def mutated_trials(draw: DrawFn, seeds: Sequence[Seed], steps: Sequence[Mutator]) -> TrialGroup:
    """Draw one of `seeds` after some of the mutators `steps`, with any cuts."""
    seed = draw(member_of(seeds))
    return (_cut(draw, seed, draw(mutated_inputs(seed.interaction, chosen=tuple(steps)))),)


def one_of_each(drawn: Iterable[SearchStrategy[Trial | None]]) -> SearchStrategy[TrialGroup]:
    """Return a strategy that draws one trial from each strategy, if that has one."""
    return st.tuples(*drawn).map(lambda found: tuple(it for it in found if it is not None))


def draw_steps(
    draw: DrawFn,
    seed: Seed,
    steps: Iterable[Mutator],
    places: Mapping[str, Place] = MappingProxyType({}),
) -> MutatedInput:
    """Apply the mutators that fit the dialect of `seed`; return the changed interaction.

    `places` has the byte offsets for some mutators, as in `apply_mutators`.
    """
    fit = fitting(seed.interaction.dialect, chosen=tuple(steps))
    return apply_mutators(draw, seed.interaction, fit, places)


def _draw_trial(draw: DrawFn, seed: Seed, steps: Iterable[Mutator]) -> Trial:
    return _cut(draw, seed, draw_steps(draw, seed, steps))


def _cut(draw: DrawFn, seed: Seed, mutated: MutatedInput) -> Trial:
    return Trial(seed, mutated, (draw(chunkings(mutated.interaction.body)),))


@st.composite
def generated_trials(draw: DrawFn, dialects: Sequence[str], steps: Sequence[Mutator]) -> TrialGroup:
    """Draw one turn, and return it in each dialect that can encode it, with any cuts.

    Some of the turns are changed by one of the mutators `steps`.
    """
    deltas = draw(_deltas())
    step = draw(st.none() | st.sampled_from(steps))
    trials = []
    for dialect in dialects:
        try:
            seed = generated_seed(dialect, deltas)
        except ValueError:  # the API cannot encode it
            continue
        trials.append(_draw_trial(draw, seed, () if step is None else (step,)))
    return tuple(trials)


def generated_seed(dialect: str, deltas: list[Delta]) -> Seed:
    """Return a seed whose body is `deltas`, encoded by the writer of `dialect`."""
    interaction = DIALECTS[dialect].interaction(deltas)
    return Seed(Parent(GENERATED), interaction, expectation_from(oracle_reading(interaction)))


@st.composite
def _deltas(draw: DrawFn) -> list[Delta]:
    """Draw the deltas of a turn. Half of the turns have other arguments, some of them broken.

    Ids and names are those of a real server, which checks the names in a request.
    """
    script = draw(turn_scripts(tools=_TOOLS))
    is_other = draw(st.booleans())
    calls = tuple(
        (f"call_{number}", name, (draw(_ARGUMENTS),) if is_other else pieces)
        for number, (_, name, pieces) in enumerate(script.calls, 1)
    )
    return msgspec.structs.replace(script, calls=calls).deltas()
