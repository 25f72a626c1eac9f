"""Read Inkling's messages, whose second token tells what they contain.

    <|message_model|><|content_thinking|>REASONING<|end_message|>
    <|message_model|><|content_text|>ANSWER<|end_message|>
    <|message_model|>NAME<|content_invoke_tool_json|>{"name": NAME, "args": {...}}<|end_message|>

`<|content_model_end_sampling|>` ends the turn. The prompt ends with `<|message_model|>`, so that
the reply may begin with a name without any marker; `prompt_end` tells it from words. What an answer
quotes is text. Quantized models write `arguments` in place of `args`. Source: SGLang's detector and
tokenizer for Inkling (pull request 32861, issue 33181), and captures in a pull request of omlx
(2555).
"""

import re
from typing import ClassVar, Final

from harness.text_calls.boundaries import (
    SPACE,
    Ending,
    Head,
    SequenceEnd,
    any_literal,
    literal,
    literal_end,
)
from harness.text_calls.dialect import (
    BlockStart,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
    follows_at_once,
)
from harness.text_calls.dialects.marked_json import OBJECT, MarkedJson
from harness.text_calls.json_calls import write_json_call

_MODEL: Final = "<|message_model|>"
_THINKING: Final = "<|content_thinking|>"
_TEXT: Final = "<|content_text|>"
_CALL: Final = "<|content_invoke_tool_json|>"
_END: Final = "<|end_message|>"
_NAME: Final = r"[^\s<>{}\"]{0,128}+"
_TWO_NAMES: Final = "the header of the call has another name"
_HEADER: Final = re.compile(
    rf"(?:{re.escape(_MODEL)}{_NAME})?+({any_literal(_THINKING, _TEXT, _CALL)})"
)
_CONTENTS: Final = (_THINKING, _TEXT, _CALL)


class Inkling(MarkedJson):
    """Reads and writes calls in the messages of Inkling."""

    title = "Messages with a token for their content (Inkling)"
    openers = (_CALL, _MODEL, _THINKING, _TEXT)
    heads: ClassVar = {
        _CALL: OBJECT,
        _MODEL: tuple(Head(_NAME, *literal(it), commits=1) for it in _CONTENTS),
    }
    meant: ClassVar = {
        _CALL: OBJECT,
        _MODEL: (
            Head(_NAME, *literal(_CALL), SPACE, r"\{", commits=1),
            *(Head(*literal(it), r"\S", commits=1) for it in (_THINKING, _TEXT)),
        ),
    }
    trailers = orphans = (_END,)
    closed_by_trailer = True
    noise = ("<|content_model_end_sampling|>",)
    markers = (*openers, *orphans, *noise)

    write = TextDialect.write

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a message, its content or the JSON of a call begins."""
        if start.opener in (_THINKING, _TEXT):
            return True
        return super().starts(start)

    def in_sentence(self, start: BlockStart) -> bool | None:
        """Return whether content follows its token at once, or JSON that of a call."""
        if start.opener in (_THINKING, _TEXT):
            return follows_at_once(start)
        return super().in_sentence(start)

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of reasoning or of an answer; None if a call begins."""
        header = _HEADER.match(start.opener + start.head)
        content = header[1] if header else _CALL
        if content == _CALL:
            return None
        is_thought = content == _THINKING
        return Section(
            reasoning=is_thought,
            closers=(_END,),
            header=header.end() - len(start.opener) if header else 0,
            ended_by=(_MODEL,),
            opens=None if is_thought else (),
        )

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON after the token of a call."""
        if opener == _CALL:
            return super().ending(opener)
        return SequenceEnd(literal_end(_CALL), lambda _text, _at: MarkedJson.ending(self, _CALL))

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the call of the block. Its header, which repeats the name, must fit."""
        header, marker, body = block.text.partition(_CALL)
        found = super().calls(RawBlock(_CALL, body, block.offered, block.closed)) or ()
        name = header.removeprefix(_MODEL)
        if not marker:
            return (WrittenCall(name, error="the text ended in the header of the call"),)
        if name and any(call.name not in (name, "") for call in found):
            return tuple(WrittenCall(call.name, error=_TWO_NAMES) for call in found)
        return found

    def write_call(self, call: WrittenCall) -> str:
        """Return one message with the call."""
        return f"{_MODEL}{call.name}{_CALL}{write_json_call(call, arguments='args')}{_END}"
