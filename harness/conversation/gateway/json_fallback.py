"""The second way: tools told in the system text, a call is JSON in the reply's text.

The template asks for one code block and nothing else; models add narration, forget the fence
or the end. What is a call there runs; what was meant as one and cannot be read is a parse
error: the user sees that nothing ran, and the model is asked again.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from harness.conversation.dialogue import Way
from harness.conversation.gateway.attempts import attempt_in
from harness.conversation.gateway.faults import fault_of
from harness.conversation.gateway.stop_reason import settle_stop_reason
from harness.conversation.history.storing import Storing
from harness.conversation.prompts import find_prompt
from harness.conversation.task import Task
from harness.conversation.wording import Language
from harness.normalizers.text_policy import respond_with_text_calls
from harness.turns.deltas import Delta
from harness.turns.text_calls.policy import TextPolicy
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

_PROMPTS: dict[Language, str] = {"en": "json-fallback/v1", "zh": "json-fallback-zh/v1"}
# The template teaches that a code block is a call, so here it is no example.
POLICY: Final = TextPolicy(
    dialects=frozenset(("fenced-json", "bare-json", "tagged-json")), bare="anywhere", code="calls"
)
# What is left of a code block whose call was taken out.
_EMPTY_FENCE: Final = re.compile(r"```[a-zA-Z_]{0,20}\s{0,20}```")


def json_fallback(task: Task) -> Way:
    """Return how the gateway talks to a provider that takes no tools."""
    known = frozenset(tool.name for tool in task.tools)
    return Way(
        normalize=_normalize,
        prompt=find_prompt(_PROMPTS[find_prompt(task.prompt).language]),
        strategy="json_fallback",
        storing=Storing(rejected="text"),
        # The template asks for one call in each reply.
        serial=True,
        settle=lambda turn: settle_stop_reason(_attempts_told(turn, known)),
        fault=fault_of,
    )


def _normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    return respond_with_text_calls(interaction, reads, POLICY)


def _attempts_told(turn: Turn, known: frozenset[str]) -> Turn:
    """Return `turn` with a report of what was meant as a call and is none."""
    if turn.tool_calls or turn.parse_errors:
        return replace(turn, text=_EMPTY_FENCE.sub("", turn.text).strip())
    attempt = attempt_in(turn.text, known) if known and turn.failure is None else None
    return replace(turn, parse_errors=(attempt,)) if attempt else turn
