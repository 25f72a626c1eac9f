"""A mutator: one way to change what a provider sent, and whether the turn must stay equal.

It draws its choices from Hypothesis, so that a finding shrinks to the fewest and simplest
steps; it never looks at a normalizer.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

import msgspec
from hypothesis.strategies import DrawFn
from msgspec.structs import replace

from harness.wire.interaction import Interaction
from harness.wire.reads import synthetic_reads

Mutate: TypeAlias = Callable[[DrawFn, Interaction], tuple[Interaction, str] | None]


class Mutation(msgspec.Struct, frozen=True):
    """One applied step.

    Fields:
        name: of the mutator.
        detail: what it did, and where, such as "cut at byte 412".
    """

    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}"


class Mutator(msgspec.Struct, frozen=True):
    """One way to change an interaction.

    Fields:
        name: kebab-case, stable.
        preserving: whether the turn must stay equal, by the API's contract or by a catalogued
            quirk that a client must survive; else it may change, and must be reported as it is.
        summary: one line.
        quirks: ids of the catalogue that it makes.
        mutate: draw, interaction -> the changed one and what was done where; None where it
            does not apply.
        dialects: that it applies to; empty for all.
        needs: capabilities that a normalizer must declare for the turn to stay equal; of one
            that does not, nothing is asked after this step.
        new_calls: whether a call may come out that the clean turn has not. After any other
            step one that does is a wrong executed call, whatever else is ambiguous.
    """

    name: str
    preserving: bool
    summary: str
    quirks: tuple[str, ...]
    mutate: Mutate
    dialects: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    new_calls: bool = False


class MutatedInput(msgspec.Struct, frozen=True):
    """An interaction after some steps, in the order in which they were applied.

    Fields:
        steps: empty where no step applied; then the interaction is the one given.
        preserving: whether all steps were.
    """

    interaction: Interaction
    steps: tuple[Mutation, ...]
    preserving: bool


def _mutator(  # noqa: PLR0913 - the fields of a mutator, most of them by name
    name: str,
    summary: str,
    *quirks: str,
    preserving: bool,
    dialects: Iterable[str] = (),
    needs: Iterable[str] = (),
    new_calls: bool = False,
) -> Callable[[Mutate], Mutator]:
    """Return a decorator that makes a mutation a mutator."""
    return partial(
        Mutator,
        name,
        preserving,
        summary,
        quirks,
        dialects=frozenset(dialects),
        needs=frozenset(needs),
        new_calls=new_calls,
    )


# The mutation must keep the turn equal, or it may change the turn.
preserving = partial(_mutator, preserving=True)
changing = partial(_mutator, preserving=False)


def with_body(interaction: Interaction, body: bytes) -> Interaction:
    """Return `interaction` with `body`, one read for each frame."""
    return replace(interaction, body=body, reads=synthetic_reads(body), reads_kept=False)
