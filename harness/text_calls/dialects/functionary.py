"""Read functionary 3.2's recipients: `>>>`, the name of a tool on its line, and JSON.

    >>>all
    ANSWER>>>NAME
    {...}>>>NAME
    {...}

What follows `>>>all` is the answer. The prompt ends with `>>>`, so that the reply begins with a
recipient; `prompt_end` tells it from words. Code after the recipient `python` is not read. A marker
before any other word, such as the prompt of Python, is text. Source: the chat template of
functionary-medium-v3.2 and its tests in llama.cpp (`tests/test-chat.cpp`).
"""

from typing import ClassVar, Final

from harness.text_calls.boundaries import Ending, Head, SequenceEnd, literal, literal_end
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.streamed import BlockStream, HeadedStream
from harness.turns.arguments import parse

_MARK: Final = ">>>"
_ALL: Final = "all\n"
_NAME: Final = r"(?P<name>[\w.:/-]{1,128}+)"


class Functionary(TextDialect):
    """Reads and writes calls as recipients of functionary 3.2."""

    title = "A recipient after >>> and JSON (functionary 3.2)"
    openers = (_MARK,)
    heads: ClassVar = {
        _MARK: (
            Head(_NAME, r"[ \t\r]*+", "\n", r"\s*+\{", offered=True),
            Head(*literal(_ALL), commits=3),
        )
    }
    explicit = False
    line_ends = 1
    markers = ()

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of the answer, whose recipient is hidden; None if a call begins."""
        if not start.head.startswith(_ALL):
            return None
        return Section(reasoning=False, closers=(), header=len(_ALL))

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` that finds the end of the JSON object."""
        return SequenceEnd(
            literal_end("{", inclusive=False),
            lambda _text, _at: JsonEnd(closers=("<|eot_id|>",), openers=(_MARK,)),
        )

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the header, and then the JSON while it arrives."""
        return HeadedStream(self, opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of the block, in a tuple."""
        name, _, body = block.raw.partition("\n")
        arguments = body.strip()
        error = parse(arguments).error if arguments else "the text ended before its arguments"
        return (WrittenCall(name, arguments, error=error),)

    def write_call(self, call: WrittenCall) -> str:
        """Return the recipient and the arguments of the call."""
        return f"{_MARK}{call.name}\n{call.arguments or '{}'}"
