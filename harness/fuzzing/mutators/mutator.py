"""Define a mutator: one way to change an interaction, and whether the turn must stay equal.

It draws its choices from Hypothesis, so that a finding shrinks to the fewest and simplest
mutations. It does not depend on the normalizer.
"""

from collections.abc import Callable, Iterable
from importlib import resources
from typing import Final, Literal, Protocol, TypeAlias, get_args

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import asdict, replace

from harness.wire.cuts import seams
from harness.wire.interaction import Interaction
from harness.wire.reads import synthetic_reads

Realism = Literal["seen", "possible", "never seen"]
# The most realistic first.
REALISMS: Final[tuple[Realism, ...]] = get_args(Realism)
# Draw, interaction, offset in its body -> as `Mutate`.
MutateAt: TypeAlias = Callable[[DrawFn, Interaction, int], tuple[Interaction, str] | None]
Mutate: TypeAlias = Callable[[DrawFn, Interaction], tuple[Interaction, str] | None]


class Mutation(msgspec.Struct, frozen=True):
    """One change that a mutator made to an interaction.

    Fields:
        name: the name of the mutator.
        detail: what it changed, and where, such as "cut at byte 412".
        place: the numbers of bytes before and after the changed byte, if the mutator changes the
            body at one offset; else None.
    """

    name: str
    detail: str
    place: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}"


class Declaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a mutator that the file `mutators.toml` declares.

    Fields:
        summary: a description in one line.
        quirks: ids of the quirks that the mutator produces.
        realism: `seen` if a server is known to do it, which `quirks` or `source` cite; `possible`
            if the API allows it, or a server, a proxy or a model may do it; otherwise `never seen`.
        source: the URL of a page that shows a server doing it, if no quirk does.
        dialects: the dialects to which it can be applied; empty for all.
        needs: the capabilities that a normalizer must declare to read the changed bytes. The search
            does not apply the mutator to a normalizer without them.
        new_calls: whether the changed turn may contain a call that the clean turn does not have. If
            no mutation has this flag, such a call is always wrong, even if the oracle does not
            judge the calls of the changed bytes.
        only_failure: whether rules judge only that the client reports the failure.
    """

    summary: str
    quirks: tuple[str, ...] = ()
    realism: Realism = "possible"
    source: str = ""
    dialects: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    new_calls: bool = False
    only_failure: bool = False


class Mutator(Declaration, frozen=True, kw_only=True):
    """A mutator: one way to change an interaction.

    Fields:
        name: a stable name in kebab-case.
        preserving: whether the turn must stay equal, by the contract of the API or by a quirk that
            clients must handle. If not, the client must report the changed turn as it was sent.
        mutate: a function of (draw, interaction) that returns the changed interaction and a
            description; None if the mutator cannot be applied.
        mutate_at: `mutate` at a byte offset that the caller chooses; None if it needs no offset.
    """

    name: str
    preserving: bool
    mutate: Mutate
    mutate_at: MutateAt | None = None


class MutatedInput(msgspec.Struct, frozen=True):
    """An interaction after some mutations.

    Fields:
        steps: the mutations in order; empty if the interaction is unchanged.
        preserving: whether the turn must stay equal after all mutations.
    """

    interaction: Interaction
    steps: tuple[Mutation, ...]
    preserving: bool


_TEXT = resources.files(__package__).joinpath("mutators.toml").read_text(encoding="utf-8")
_KINDS = msgspec.toml.decode(_TEXT, type=dict[str, dict[str, Declaration]])
# All mutators, in the order in which Hypothesis prefers them.
DECLARED: Final = {name: each for kind in _KINDS.values() for name, each in kind.items()}
# Those whose modules were imported.
MADE: Final[dict[str, Mutator]] = {}


class MakeMutator(Protocol):
    """The interface of a decorator that turns a function into a mutator."""

    def __call__(self, mutate: Mutate, mutate_at: MutateAt | None = None) -> Mutator:
        """Return the mutator with these functions."""


def mutator(name: str, *, dialects: Iterable[str] = ()) -> MakeMutator:
    """Return a decorator that makes the mutator that is declared under `name`.

    Args:
        name: a name in the file `mutators.toml`.
        dialects: the dialects to which it can be applied, if the file cannot list them.
    """
    declared = DECLARED[name]
    known = frozenset(dialects) or declared.dialects

    def make(mutate: Mutate, mutate_at: MutateAt | None = None) -> Mutator:
        own = {"name": name, "preserving": name in _KINDS["preserving"], "dialects": known}
        MADE[name] = Mutator(**asdict(declared) | own, mutate=mutate, mutate_at=mutate_at)
        return MADE[name]

    return make


def draw_place(draw: DrawFn, body: bytes) -> int:
    """Draw an offset in `body`: any offset, or one that is likely to break a parser (a seam)."""
    anywhere = st.integers(0, len(body) - 1)
    found = seams(body)
    return draw(anywhere | st.sampled_from(found) if found else anywhere)


def at_place(make: MakeMutator) -> Callable[[MutateAt], Mutator]:
    """Return a decorator that makes a mutator of a function that changes the body at one offset."""

    def decorate(mutate_at: MutateAt) -> Mutator:
        def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
            body = interaction.body
            return mutate_at(draw, interaction, draw_place(draw, body)) if body else None

        return make(mutate, mutate_at)

    return decorate


def with_body(interaction: Interaction, body: bytes) -> Interaction:
    """Return `interaction` with another body, and one read for each frame of it."""
    return replace(interaction, body=body, reads=synthetic_reads(body), reads_kept=False)
