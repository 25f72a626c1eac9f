"""All mutators, in the order in which Hypothesis prefers them: those that keep the turn first."""

from collections.abc import Collection, Iterable
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators import (
    calls,
    chat_chunks,
    chat_entries,
    chat_options,
    endings,
    framing,
    payloads,
    pieces,
    texts,
)
from harness.fuzzing.mutators.mutator import MutatedInput, Mutation, Mutator
from harness.normalizers.protocol import CAPABILITIES
from harness.wire.interaction import Interaction

_ALL: Final = (
    *framing.MUTATORS,
    *payloads.MUTATORS,
    *pieces.MUTATORS,
    *chat_entries.MUTATORS,
    *chat_chunks.MUTATORS,
    *chat_options.MUTATORS,
    *endings.MUTATORS,
    *calls.MUTATORS,
    *texts.MUTATORS,
)
MUTATORS: Final = tuple(sorted(_ALL, key=lambda mutator: not mutator.preserving))


_BY_NAME: Final = {mutator.name: mutator for mutator in MUTATORS}


def fitting(
    dialect: str,
    *,
    capabilities: Collection[str] = tuple(CAPABILITIES),
    chosen: tuple[Mutator, ...] = MUTATORS,
) -> tuple[Mutator, ...]:
    """Return those of `chosen` that apply to a dialect and ask no more than what is declared.

    Args:
        dialect: of the interaction.
        capabilities: that the normalizer declares; all of them by default.
        chosen: mutators to choose from.
    """
    return tuple(
        each
        for each in chosen
        if (not each.dialects or dialect in each.dialects) and each.needs.issubset(capabilities)
    )


def may_call_more(steps: Collection[Mutation]) -> bool:
    """Return whether, after these steps, the turn may have a call that the clean turn does not.

    Where not, one that does (another name, other arguments, or the same again) is a wrong
    executed call, even if the oracle does not judge the changed bytes.
    """
    return any(_BY_NAME[step.name].new_calls for step in steps if step.name in _BY_NAME)


@st.composite
def mutated_inputs(
    draw: DrawFn, interaction: Interaction, *, chosen: tuple[Mutator, ...] = MUTATORS, most: int = 3
) -> MutatedInput:
    """Draw `interaction` after up to `most` steps.

    A mutator that does not apply is passed over, so the steps may be fewer than what was
    drawn, and empty; it shrinks to fewer steps and to mutators that stand first.

    Args:
        draw: of Hypothesis.
        interaction: the clean one.
        chosen: mutators to draw from; those of other dialects are left out.
        most: steps at most.
    """
    those = fitting(interaction.dialect, chosen=chosen)
    steps = draw(st.lists(st.sampled_from(those), max_size=most)) if those else []
    return apply_mutators(draw, interaction, steps)


def apply_mutators(
    draw: DrawFn, interaction: Interaction, steps: Iterable[Mutator]
) -> MutatedInput:
    """Return `interaction` after `steps` in their order; one that does not apply is passed over."""
    applied: list[Mutation] = []
    preserving = True
    for mutator in steps:
        changed = mutator.mutate(draw, interaction)
        if changed is not None:
            interaction, detail = changed
            applied.append(Mutation(mutator.name, detail))
            preserving = preserving and mutator.preserving
    return MutatedInput(interaction, tuple(applied), preserving)
