"""`<function=NAME>{"key": value}</function>`: Llama 3.1's custom tool format, and functionary.

The arguments are JSON, so a closing tag inside a string of them is data. The opener is that
of `qwen-xml` too: here a JSON object follows the tag, there another tag. Source: Meta's prompt
format of Llama 3.1, "user-defined custom tool calling"; chat template of functionary v3.1;
quirk TEXT-DIALECT-COLLISION.
"""

from typing import ClassVar, Final

from harness.text_calls.boundaries import (
    NAME,
    SPACE,
    Ending,
    Head,
    SequenceEnd,
    literal,
    literal_end,
)
from harness.text_calls.dialect import RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_end import JsonEnd
from harness.turns.arguments import parse

_CALL: Final = "<function="
_BLOCK: Final = "<tool_call>"
_CLOSER: Final = "</function>"
_NAMED: Final = (NAME, ">", SPACE, r"\{")


class LlamaFunction(TextDialect):
    """The format that the docstring of this module describes."""

    title = "A function tag around JSON (Llama 3.1, functionary)"
    openers = (_CALL, _BLOCK)
    heads: ClassVar = {
        _CALL: (Head(*_NAMED, commits=0),),
        _BLOCK: (Head(SPACE, *literal(_CALL), *_NAMED),),
    }
    trailers = (_CLOSER, "</tool_call>", "<|eom_id|>", "<|eot_id|>")
    closed_by_trailer = True
    orphans = (_CLOSER,)
    markers = (_CALL, _CLOSER)

    def ending(self, _opener: str) -> Ending:
        """Return what finds the end of the object."""
        closers, openers = (_CLOSER, "</tool_call>"), (_CALL, _BLOCK)
        return SequenceEnd(
            literal_end("{", inclusive=False),
            lambda _text, _at: JsonEnd(closers=closers, openers=openers),
        )

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of the block."""
        named, _, body = block.raw.partition(">")
        name, arguments = named.rpartition("=")[2].strip(), body.strip()
        error = parse(arguments).error if arguments else "the text ended before its arguments"
        return (WrittenCall(name, arguments, error=error),)

    def write_call(self, call: WrittenCall) -> str:
        """Return one tag."""
        return f"{_CALL}{call.name}>{call.arguments or '{}'}{_CLOSER}"
