"""`action-protocol`: the third seed system, mended: each reply is one JSON object.

A prompt teaches the protocol to a service without native tools. `reasoning` and the answer
are passed on while they arrive, calls at the end of the turn; the reply may be wrapped in a
string, an envelope or a code block. Text that is no such object is text, and nothing in it
runs; the API's own calls pass through, for the models that have some.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from harness.dialects.table import DIALECTS
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import respond_with_text_calls
from harness.text_calls import TextPolicy
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

POLICY: Final = TextPolicy(dialects=frozenset(("action-protocol",)))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response."""
    return respond_with_text_calls(interaction, reads, POLICY)


normalizer = Normalizer(
    name="action-protocol",
    normalize=normalize,
    dialects=frozenset(DIALECTS),
    capabilities=frozenset(CAPABILITIES),
    summary="seed system 3: a reply is one JSON object with an action, taught by prompt",
    policies=POLICY.declared(),
    text_dialects=POLICY.dialects,
)
