"""Read `<|START_ACTION|>[{"tool_call_id", "tool_name", "parameters"}]<|END_ACTION|>` of Cohere.

One block contains one array of calls. Thinking tokens enclose a section of reasoning, and response
tokens enclose the answer, which contains no call. Source: chat templates of Command R7B and
Command A; quirk TEXT-COHERE-ACTION.
"""

import json
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Ending, Head
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
    follows_at_once,
)
from harness.text_calls.json_calls import read_marked_calls, read_marked_items
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.streamed import BlockStream, JsonStream
from harness.turns.json_prefix import PrefixState, scan

_OPENER: Final = "<|START_ACTION|>"
_CLOSER: Final = "<|END_ACTION|>"
_THINKING: Final = "<|START_THINKING|>"
_THOUGHT: Final = "<|END_THINKING|>"
_END_OF_TURN: Final = "<|END_OF_TURN_TOKEN|>"
_ANSWERS: Final = {
    "<|START_RESPONSE|>": "<|END_RESPONSE|>",
    "<|START_TEXT|>": "<|END_TEXT|>",
}
_SAID: Final = (
    *_ANSWERS.values(),
    "<|START_OF_TURN_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    _END_OF_TURN,
)


class CohereAction(TextDialect):
    """Reads and writes calls between the action tokens of Cohere Command."""

    title = "Action blocks and thinking sections (Cohere Command)"
    openers = (_OPENER, _THINKING, *_ANSWERS)
    heads: ClassVar = {
        _OPENER: (Head(SPACE, r"[\[{]"), Head(SPACE, *"```")),
        _THINKING: (Head(),),
        **dict.fromkeys(_ANSWERS, (Head(),)),
    }
    trailers = orphans = (_CLOSER,)
    closed_by_trailer = True
    noise = (_THOUGHT, *_SAID)
    markers = (*openers, *orphans, *noise)

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether text follows an answer's token at once, unlike in a sentence about it."""
        return follows_at_once(start) if start.opener in _ANSWERS else True

    def in_sentence(self, start: BlockStart) -> bool | None:
        """Return whether thoughts follow their token at once, or calls their own."""
        return follows_at_once(start) if start.opener == _THINKING else True

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of the reasoning or of the answer; None if calls begin."""
        if start.opener in _ANSWERS:
            closers = (_ANSWERS[start.opener], _END_OF_TURN)
            return Section(reasoning=False, closers=closers, opens=())
        return Section(reasoning=True, closers=(_THOUGHT,)) if start.opener == _THINKING else None

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON, or for the closing token if it is broken."""
        return JsonEnd(closers=(_CLOSER, _END_OF_TURN), openers=(_OPENER,))

    def stream(self, _opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the JSON while it arrives."""
        return JsonStream(offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call for each object of the array; () if the array is empty."""
        body = block.raw.strip().removesuffix(_CLOSER)
        if body.startswith("[") and scan(body).state is PrefixState.INVALID:
            items = read_marked_items(body, block.offered)
            if len({bool(call.error) for call in items}) > 1:
                return items
        error = "the JSON of the action names no tool"
        return read_marked_calls(block.raw.strip(), block.offered, error)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one block with all calls. Calls without ids get numbers as ids."""
        if not calls:
            return ""
        items = ",\n".join(map(_written, range(len(calls)), calls))
        return f"{_OPENER}[\n{items}\n]{_CLOSER}"


def _written(index: int, call: WrittenCall) -> str:
    call_id, name = json.dumps(call.id or str(index)), json.dumps(call.name, ensure_ascii=False)
    arguments = call.arguments or "{}"
    return f'    {{"tool_call_id": {call_id}, "tool_name": {name}, "parameters": {arguments}}}'
