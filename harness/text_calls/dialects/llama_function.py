"""Read `<function=NAME>{"key": value}</function>`: Llama 3.1's custom format, and functionary.

The arguments are JSON, so a closing tag inside a string of them is data. The text dialect
`qwen-xml` has the same opening marker. There another tag follows it, and here a JSON object.
Source: Meta's prompt format of Llama 3.1, "user-defined custom tool calling"; chat template of
functionary v3.1; quirk TEXT-DIALECT-COLLISION.
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
from harness.text_calls.dialect import Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.streamed import BlockStream, HeadedStream
from harness.turns.arguments import parse

_CALL: Final = "<function="
_BLOCK: Final = "<tool_call>"
_CLOSER: Final = "</function>"
_NAMED: Final = (NAME, ">", SPACE, r"\{")


class LlamaFunction(TextDialect):
    """Reads and writes calls as a function tag with a JSON object."""

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
        """Return an `Ending` that finds the end of the JSON object."""
        closers, openers = (_CLOSER, "</tool_call>"), (_CALL, _BLOCK)
        return SequenceEnd(
            literal_end("{", inclusive=False),
            lambda _text, _at: JsonEnd(closers=closers, openers=openers),
        )

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the header, and then the JSON while it arrives."""
        return HeadedStream(self, opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of the block, in a tuple."""
        named, _, body = block.raw.partition(">")
        name, arguments = named.rpartition("=")[2].strip(), body.strip()
        error = parse(arguments).error if arguments else "the text ended before its arguments"
        return (WrittenCall(name, arguments, error=error),)

    def write_call(self, call: WrittenCall) -> str:
        """Return one function tag with the arguments of the call."""
        return f"{_CALL}{call.name}>{call.arguments or '{}'}{_CLOSER}"
