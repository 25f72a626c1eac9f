"""What a search draws: seeds after steps, written turns, and how each is cut."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.fuzzing.mutators import MUTATORS, MutatedInput, Mutator, apply_mutators, fitting
from harness.fuzzing.strategies import chunkings
from harness.fuzzing.turns.evaluate import Trial
from harness.fuzzing.turns.seeds import Seed
from harness.normalizers.protocol import Normalizer

# What one draw gives: many trials at once, since a draw costs as much as several of them.
TrialGroup: TypeAlias = tuple[Trial, ...]
TrialGroups: TypeAlias = SearchStrategy[TrialGroup]

_MOST_STEPS = 3


def steps_for(normalizer: Normalizer) -> tuple[Mutator, ...]:
    """Return the mutators whose bytes `normalizer` undertakes to read.

    Those that keep the meaning and those that do not stand by turns, since each kind finds bugs
    of its own.
    """
    found = {
        step.name
        for dialect in normalizer.dialects
        for step in fitting(dialect, capabilities=normalizer.capabilities)
    }
    keeping = [step for step in MUTATORS if step.name in found and step.preserving]
    changing = [step for step in MUTATORS if step.name in found and not step.preserving]
    pairs = zip_longest(changing, keeping)
    return tuple(step for pair in pairs for step in pair if step is not None)


@st.composite
def stepped_trials(draw: DrawFn, seed: Seed, steps: Sequence[Mutator]) -> Trial | None:
    """Draw `seed` after `steps` in their order; None where not all of them apply."""
    mutant = draw_steps(draw, seed, steps)
    if len(mutant.trail) < len(steps):
        return None
    return Trial(seed, mutant, (draw(chunkings(mutant.interaction.body)),))


@st.composite
def mutated_trials(draw: DrawFn, seeds: Sequence[Seed], steps: Sequence[Mutator]) -> TrialGroup:
    """Draw one of `seeds` after any of `steps`, cut anywhere."""
    seed = draw(st.sampled_from(seeds))
    those = fitting(seed.interaction.dialect, chosen=tuple(steps))
    chosen = draw(st.lists(st.sampled_from(those), max_size=_MOST_STEPS)) if those else []
    mutant = draw_steps(draw, seed, chosen)
    return (Trial(seed, mutant, (draw(chunkings(mutant.interaction.body)),)),)


def one_of_each(drawn: Iterable[SearchStrategy[Trial | None]]) -> TrialGroups:
    """Return one trial of each strategy, of those that have one."""
    return st.tuples(*drawn).map(lambda found: tuple(it for it in found if it is not None))


def draw_steps(draw: DrawFn, seed: Seed, steps: Sequence[Mutator]) -> MutatedInput:
    """Apply those of `steps` to `seed` that are of its dialect."""
    fit = fitting(seed.interaction.dialect, chosen=tuple(steps))
    return apply_mutators(draw, seed.interaction, fit)
