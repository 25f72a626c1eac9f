"""A body that breaks off after a byte: alone, or with a gateway's error behind it.

Which byte it is decides what a reader makes of it, so that every one is worth a try.
"""

from collections.abc import Iterator
from typing import Final

from harness.fuzzing.mutators.mutator import Mutant, Mutation
from harness.fuzzing.mutators.sent import sent
from harness.fuzzing.mutators.with_body import with_body
from harness.wire.interaction import Interaction

CUT: Final = "cut-short"
GLUED: Final = "error-glued"
_ERROR: Final = b'{"error": {"message": "The server had an error", "type": "server_error"}}'


def cut_after(interaction: Interaction, at: int) -> tuple[Interaction, str]:
    """Return what is left of `interaction` where its body ends after `at` bytes."""
    body = interaction.body
    return with_body(interaction, body[:at]), f"after byte {at} of {len(body)}"


def glued_after(interaction: Interaction, at: int, error: bytes) -> tuple[Interaction, str]:
    """Return `interaction` with `error` in place of what comes after `at` bytes."""
    return with_body(interaction, interaction.body[:at] + error), f"after byte {at}"


def broken_off(interaction: Interaction) -> Iterator[Mutant]:
    """Yield `interaction` broken off after each byte, as the mutators of these names do."""
    frames = sent(interaction.body)
    error = b"data: " + _ERROR + b"\n\n" if frames and frames.framing == "sse" else _ERROR + b"\n"
    for at in range(len(interaction.body)):
        yield _mutant(CUT, cut_after(interaction, at))
        yield _mutant(GLUED, glued_after(interaction, at, error))


def _mutant(name: str, changed: tuple[Interaction, str]) -> Mutant:
    interaction, how = changed
    return Mutant(interaction, (Mutation(name, how),), preserving=False)
