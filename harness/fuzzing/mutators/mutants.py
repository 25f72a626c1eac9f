"""An interaction and some mutators -> mutants of it, each after up to `most` steps."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.fuzzing.mutators.mutator import Mutant, Mutation, Mutator
from harness.fuzzing.mutators.table import MUTATORS
from harness.wire.interaction import Interaction


def mutants(
    interaction: Interaction, *, chosen: tuple[Mutator, ...] = MUTATORS, most: int = 3
) -> SearchStrategy[Mutant]:
    """Return a strategy for `interaction` after up to `most` steps.

    A mutator that does not apply is passed over, so a trail may be shorter than what was
    drawn, and empty; it shrinks to fewer steps and to mutators that stand first.

    Args:
        interaction: the clean one.
        chosen: mutators to draw from; those of other dialects are left out.
        most: steps at most.
    """
    fitting = tuple(
        each for each in chosen if not each.dialects or interaction.dialect in each.dialects
    )
    steps = st.lists(st.sampled_from(fitting), max_size=most) if fitting else st.just([])
    return _mutants(interaction, steps)


@st.composite
def _mutants(
    draw: DrawFn, interaction: Interaction, steps: SearchStrategy[list[Mutator]]
) -> Mutant:
    trail: list[Mutation] = []
    preserving = True
    for mutator in draw(steps):
        changed = mutator.mutate(draw, interaction)
        if changed is not None:
            interaction, detail = changed
            trail.append(Mutation(mutator.name, detail))
            preserving = preserving and mutator.preserving
    return Mutant(interaction, tuple(trail), preserving)
