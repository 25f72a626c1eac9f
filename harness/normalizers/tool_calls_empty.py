"""`tool-calls-empty`: the broken client of the action protocol's story.

It asks for text, shows all of it, and answers every question for calls with an empty list,
so that no tool ever runs and the user reads the JSON that was meant for the client. Ships to
show what the suite is for: it must fail, and the report must say where.
"""

from collections.abc import Iterable, Iterator

from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import respond
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from harness.wire.interaction import Interaction

_CALL = (ToolCallStart, ArgumentsDelta, ToolCallEnd, ToolCallRejected)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response that are no part of a call."""
    for delta in respond(interaction, reads):
        if isinstance(delta, Finish) and delta.reason is FinishReason.TOOL_CALLS:
            yield Finish(FinishReason.STOP, delta.raw)
        elif not isinstance(delta, _CALL):
            yield delta


normalizer = Normalizer(
    name="tool-calls-empty",
    normalize=normalize,
    dialects=frozenset(("openai-chat", "ollama")),
    capabilities=frozenset(CAPABILITIES),
    role="known-bad",
    breaks=frozenset(
        (
            "CALLS-KEPT",
            "FAILURE-REPORTED",
            "FINISH-REASON",
            "PARSE-ERROR-REPORTED",
            "REASONING-KEPT",
            "REASONING-NOT-IN-TEXT",
            "TEXT-EXACT",
            "TEXT-NO-MARKUP",
        )
    ),
    summary="the broken client of the action protocol's story: all is text, no call ever",
    text_dialects=frozenset(("action-protocol",)),
)
