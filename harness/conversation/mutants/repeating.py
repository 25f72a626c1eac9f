"""Miniatures whose conversation depends on more than the task."""

import itertools

from msgspec.structs import replace

from harness.conversation.mutants.edit import mutant
from harness.conversation.prompts import PROMPTS
from harness.conversation.tool_loop import AgentConfig
from harness.normalizers.mutants import MUTANTS as NORMALIZERS

_COUNTER = itertools.count()
_NATIVE = frozenset(prompt.id for prompt in PROMPTS.values() if not prompt.taught)


def _number_conversations(way: AgentConfig) -> AgentConfig:
    """Number the conversations of this process."""
    return replace(way, options={**way.options, "user": f"conversation-{next(_COUNTER)}"})


def _decoding_reads(way: AgentConfig) -> AgentConfig:
    return replace(way, normalize=NORMALIZERS["decoded-per-read"].normalize)


def _remembering(way: AgentConfig) -> AgentConfig:
    return replace(way, normalize=NORMALIZERS["answers-remembered"].normalize)


MINIATURES = (
    mutant(
        "conversations-numbered",
        "CONV-REPEATABLE CONV-CUT-INVARIANT",
        "sends a number that is another for each conversation",
        way=_number_conversations,
    ),
    replace(
        mutant(
            "replies-remembered",
            "CONV-REPEATABLE",
            "reads a reply that came before from a cache, which kept less",
            way=_remembering,
        ),
        prompts=_NATIVE,  # as below
    ),
    replace(
        mutant(
            "reads-decoded-apart",
            "CONV-CUT-INVARIANT",
            "decodes each network read by itself",
            way=_decoding_reads,
        ),
        prompts=_NATIVE,  # it reads no calls in text, which would break other rules
    ),
)
