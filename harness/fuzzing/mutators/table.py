"""List all mutators, and apply them. Hypothesis prefers the first ones, which are preserving."""

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

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
from harness.fuzzing.mutators.mutator import (
    DECLARED,
    MADE,
    REALISMS,
    MutatedInput,
    Mutation,
    Mutator,
    Realism,
    draw_place,
)
from harness.normalizers.protocol import CAPABILITIES
from harness.wire.interaction import Interaction

# The length of a body -> an offset in it.
Place: TypeAlias = Callable[[int], int]
_MODULES: Final = (  # each declares its mutators
    calls, chat_chunks, chat_entries, chat_options, endings, framing, payloads, pieces, texts,
)  # fmt: skip
MUTATORS: Final = tuple(MADE[name] for name in DECLARED)


def fitting(
    dialect: str,
    *,
    capabilities: Collection[str] = tuple(CAPABILITIES),
    chosen: tuple[Mutator, ...] = MUTATORS,
) -> tuple[Mutator, ...]:
    """Return the mutators of `chosen` that fit a dialect and the capabilities of a normalizer.

    Args:
        dialect: the dialect of the interaction.
        capabilities: the capabilities that the normalizer declares; by default, all.
        chosen: the mutators to choose from.
    """
    return tuple(
        each
        for each in chosen
        if (not each.dialects or dialect in each.dialects) and each.needs.issubset(capabilities)
    )


def quirks_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the quirks that the mutators with these names produce."""
    return tuple(quirk for name in names if name in MADE for quirk in MADE[name].quirks)


def realism_of(steps: Iterable[str], seed: Realism) -> Realism:
    """Return the realism of the least realistic mutator, or that of the seed if it is lower.

    Args:
        steps: names of mutators.
        seed: the realism of the unchanged seed.
    """
    made = (REALISMS.index(MADE[name].realism) for name in steps if name in MADE)
    return REALISMS[max((REALISMS.index(seed), *made))]


def only_failure(steps: Iterable[Mutation]) -> bool:
    """Return whether, after these mutations, rules judge only that the client reports a failure."""
    return any(MADE[step.name].only_failure for step in steps if step.name in MADE)


def may_call_more(steps: Collection[Mutation]) -> bool:
    """Return whether these mutations may add a call that the clean turn does not have.

    If not, such a call (another name, other arguments, or a repetition) is a wrong executed call,
    even if the oracle does not judge the changed bytes.
    """
    return any(MADE[step.name].new_calls for step in steps if step.name in MADE)


@st.composite
def mutated_inputs(
    draw: DrawFn, interaction: Interaction, *, chosen: tuple[Mutator, ...] = MUTATORS, most: int = 3
) -> MutatedInput:
    """Draw up to `most` mutations of `interaction`, and return the changed interaction.

    A mutator that cannot be applied is left out, so there may be fewer mutations than drawn, or
    none. Hypothesis shrinks to fewer mutations and to mutators that come first.

    Args:
        draw: the function of Hypothesis.
        interaction: the clean interaction.
        chosen: the mutators to draw from. Those that do not fit the dialect are left out.
        most: the largest number of mutations.
    """
    those = fitting(interaction.dialect, chosen=chosen)
    steps = draw(st.lists(st.sampled_from(those), max_size=most)) if those else []
    return apply_mutators(draw, interaction, steps)


def apply_mutators(
    draw: DrawFn,
    interaction: Interaction,
    steps: Iterable[Mutator],
    places: Mapping[str, Place] = MappingProxyType({}),
) -> MutatedInput:
    """Apply the mutators `steps` in order, and return the changed interaction.

    A mutator that cannot be applied is left out.

    Args:
        draw: the function of Hypothesis.
        interaction: the clean interaction.
        steps: the mutators.
        places: name of a mutator -> function that returns the byte offset for a body of a given
            length. Other mutators draw their offset.
    """
    applied: list[Mutation] = []
    preserving = True
    for mutator in steps:
        changed, where = _apply(draw, interaction, mutator, places.get(mutator.name))
        if changed is not None:
            interaction, detail = changed
            applied.append(Mutation(mutator.name, detail, where))
            preserving = preserving and mutator.preserving
    return MutatedInput(interaction, tuple(applied), preserving)


def _apply(
    draw: DrawFn, interaction: Interaction, mutator: Mutator, place: Place | None
) -> tuple[tuple[Interaction, str] | None, tuple[int, int] | None]:
    """Return the result of one mutator, and the numbers of bytes before and after its offset."""
    size = len(interaction.body)
    if mutator.mutate_at is None or not size:
        return mutator.mutate(draw, interaction), None
    at = draw_place(draw, interaction.body) if place is None else place(size)
    at = min(max(0, at), size - 1)
    return mutator.mutate_at(draw, interaction, at), (at, size - at)
