"""What a search draws: seeds after steps, written turns, and how each is cut."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.fuzzing.mutators import MUTATORS, Mutant, Mutation, Mutator
from harness.fuzzing.oracle import Trial
from harness.fuzzing.seeds import Seed
from harness.fuzzing.strategies import chunkings
from harness.normalizers.protocol import Normalizer

# What one draw gives: many trials at once, since a draw costs as much as several of them.
Some: TypeAlias = tuple[Trial, ...]
Trials: TypeAlias = SearchStrategy[Some]

_MOST_STEPS = 3
# Steps that make what a normalizer must declare to be judged by it (`protocol.CAPABILITIES`).
_CAPABILITY_OF: Final = {
    "index-missing": "calls-without-index",
    "index-all-zero": "calls-without-index",
    "arguments-repeated": "repeated-arguments",
    "name-in-pieces": "names-in-pieces",
}


def steps_for(normalizer: Normalizer) -> tuple[Mutator, ...]:
    """Return the mutators whose bytes `normalizer` undertakes to read.

    Those that keep the meaning and those that do not stand by turns, since each kind finds bugs
    of its own.
    """
    fitting = [it for it in MUTATORS if _undertaken(it, normalizer)]
    keeping = [step for step in fitting if step.preserving]
    changing = [step for step in fitting if not step.preserving]
    pairs = zip_longest(changing, keeping)
    return tuple(step for pair in pairs for step in pair if step is not None)


def _undertaken(step: Mutator, normalizer: Normalizer) -> bool:
    wanted = _CAPABILITY_OF.get(step.name)
    return wanted is None or wanted in normalizer.capabilities


@st.composite
def stepped(draw: DrawFn, seed: Seed, steps: Sequence[Mutator]) -> Trial | None:
    """Draw `seed` after `steps` in their order; None where not all of them apply."""
    mutant = draw_steps(draw, seed, steps)
    if len(mutant.trail) < len(steps):
        return None
    return Trial(seed, mutant, (draw(chunkings(mutant.interaction.body)),))


@st.composite
def wild(draw: DrawFn, seeds: Sequence[Seed], steps: Sequence[Mutator]) -> Some:
    """Draw one of `seeds` after any of `steps`, cut anywhere."""
    seed = draw(st.sampled_from(seeds))
    fitting = [step for step in steps if applies(step, seed)]
    chosen = draw(st.lists(st.sampled_from(fitting), max_size=_MOST_STEPS)) if fitting else []
    mutant = draw_steps(draw, seed, chosen)
    return (Trial(seed, mutant, (draw(chunkings(mutant.interaction.body)),)),)


def each(drawn: Iterable[SearchStrategy[Trial | None]]) -> Trials:
    """Return one trial of each strategy, of those that have one."""
    return st.tuples(*drawn).map(lambda found: tuple(it for it in found if it is not None))


def draw_steps(draw: DrawFn, seed: Seed, steps: Sequence[Mutator]) -> Mutant:
    """Apply `steps` to `seed`."""
    interaction, preserving = seed.interaction, True
    trail: list[Mutation] = []
    for step in steps:
        changed = step.mutate(draw, interaction) if applies(step, seed) else None
        if changed is not None:
            interaction, detail = changed
            trail.append(Mutation(step.name, detail))
            preserving = preserving and step.preserving
    return Mutant(interaction, tuple(trail), preserving)


def applies(step: Mutator, seed: Seed) -> bool:
    """Whether `step` is one for the dialect of `seed`."""
    return not step.dialects or seed.interaction.dialect in step.dialects
