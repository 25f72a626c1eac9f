"""The suite's own normalizer `reference`: the reader of each dialect, and all text dialects.

It uses the default policy of each text dialect. It is judged like every other normalizer.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from harness.dialects.table import DIALECTS
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import DEFAULT_READER, respond_with_text_calls
from harness.text_calls import TEXT_DIALECTS, TextPolicy
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

POLICY: Final = TextPolicy(dialects=frozenset(TEXT_DIALECTS))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response."""
    return respond_with_text_calls(interaction, reads, POLICY)


normalizer = Normalizer(
    name="reference",
    normalize=normalize,
    dialects=frozenset(DIALECTS),
    capabilities=frozenset(CAPABILITIES),
    text_dialects=frozenset(TEXT_DIALECTS),
    summary="the reader of the suite: every catalogued quirk of each dialect, default policies",
    policies=DEFAULT_READER | POLICY.declared(),
)
