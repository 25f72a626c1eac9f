"""`<|START_ACTION|>[{"tool_call_id", "tool_name", "parameters"}]<|END_ACTION|>`: Cohere Command.

One array of calls in a block; its reasoning is between thinking tokens and is a section,
its answer between response tokens, which add nothing to the text. Source: chat templates
of Command R7B and Command A; quirk TEXT-COHERE-ACTION.
"""

import json
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Ending, Head
from harness.text_calls.dialect import BlockStart, RawBlock, Section, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_marked_calls
from harness.text_calls.json_end import JsonEnd

_OPENER: Final = "<|START_ACTION|>"
_CLOSER: Final = "<|END_ACTION|>"
_THINKING: Final = "<|START_THINKING|>"
_THOUGHT: Final = "<|END_THINKING|>"
_SAID: Final = (
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<|END_OF_TURN_TOKEN|>",
)


class CohereAction(TextDialect):
    """See the module."""

    title = "Action blocks and thinking sections (Cohere Command)"
    openers = (_OPENER, _THINKING)
    heads: ClassVar = {_OPENER: (Head(SPACE, r"[\[{]"),), _THINKING: (Head(),)}
    trailers = orphans = (_CLOSER,)
    closed_by_trailer = True
    noise = (_THOUGHT, *_SAID)
    markers = (*openers, *orphans, *noise)

    def section(self, start: BlockStart) -> Section | None:
        """Return the reasoning."""
        return Section(reasoning=True, closers=(_THOUGHT,)) if start.opener == _THINKING else None

    def ending(self, _opener: str) -> Ending:
        """The end of the JSON, or the closing token where it is broken."""
        return JsonEnd(closers=(_CLOSER, "<|END_OF_TURN_TOKEN|>"), openers=(_OPENER,))

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Every object of the array is a call; an empty one has none."""
        error = "the JSON of the action names no tool"
        return read_marked_calls(block.raw.strip(), block.offered, error)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """One block with all calls, numbered where they have no ids."""
        if not calls:
            return ""
        items = ",\n".join(map(_written, range(len(calls)), calls))
        return f"{_OPENER}[\n{items}\n]{_CLOSER}"


def _written(index: int, call: WrittenCall) -> str:
    call_id, name = json.dumps(call.id or str(index)), json.dumps(call.name, ensure_ascii=False)
    arguments = call.arguments or "{}"
    return f'    {{"tool_call_id": {call_id}, "tool_name": {name}, "parameters": {arguments}}}'
