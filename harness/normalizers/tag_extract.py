"""`tag-extract`: the second seed system, mended: calls in `<tool_call>` tags, or bare.

A prompt teaches the tags, over Volcano Ark and a local Ollama. Three formats count, from strict to
loose: JSON in a closed tag, JSON in a tag that is never closed, and JSON without a tag
anywhere in the reply, flat (`{"tool": NAME, ...}`) or with a name and arguments, if it names
a tool that was offered. Text is passed on at once, as that system does; the API's own calls
pass through, for the models that have some.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import respond_with_text_calls
from harness.text_calls import TextPolicy
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

POLICY: Final = TextPolicy(dialects=frozenset(("tagged-json", "bare-json")), bare="anywhere")


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response."""
    return respond_with_text_calls(interaction, reads, POLICY)


normalizer = Normalizer(
    name="tag-extract",
    normalize=normalize,
    dialects=frozenset(("openai-chat", "ollama")),
    capabilities=frozenset(CAPABILITIES),
    summary="seed system 2: calls in <tool_call> tags, closed or open, or bare JSON",
    policies=POLICY.declared(),
    text_dialects=POLICY.dialects,
)
