"""Read MiniMax's calls: `invoke` tags in its own tag (M2), lines of JSON in another (M1).

    <minimax:tool_call>
    <invoke name="NAME">
    <parameter name="KEY">VALUE</parameter>
    </invoke>
    </minimax:tool_call>

    <tool_calls>
    {"name": "NAME", "arguments": {...}}
    </tool_calls>

M2 writes a value that is not a string as JSON. The text dialect `anthropic-invoke` reads a call of
M2 without its outer tag. Source: MiniMax's tool calling guides and chat templates of M1 and M2;
quirk TEXT-MINIMAX.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Ending, Head, literal
from harness.text_calls.dialect import Offered, RawBlock, WrittenCall
from harness.text_calls.json_calls import read_json_calls
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.streamed import BlockStream, JsonStream
from harness.text_calls.tag_blocks import (
    JSON_IN_TAG,
    TagDialect,
    invoke_grammar,
    meant_head,
    write_invoke_calls,
)

_BLOCK: Final = "<minimax:tool_call>"
_LINES: Final = "<tool_calls>"
_LINES_CLOSER: Final = "</tool_calls>"
_CLOSERS: Final = ("</minimax:tool_call>", "</invoke>", "</parameter>")


class Minimax(TagDialect):
    """Reads calls of MiniMax M1 and M2, and writes M2's."""

    grammar = invoke_grammar("<", "</", "minimax:tool_call")
    title = "invoke tags in MiniMax's own tag (M2), JSON lines (M1)"
    line_ends = 1
    openers = (_BLOCK, _LINES)
    heads: ClassVar = {
        _BLOCK: (
            Head(SPACE, *literal("<invoke"), r"[\s>]", commits=0),
            Head(SPACE, *literal(_CLOSERS[0])),
        ),
        _LINES: (Head(SPACE, r"\{"),),
    }
    empty: ClassVar = {_BLOCK: _CLOSERS[0]}
    broken: ClassVar = {_BLOCK: (JSON_IN_TAG,)}
    meant: ClassVar = {_BLOCK: (meant_head("<invoke", "p", 0), heads[_BLOCK][1])}
    trailers = (_LINES_CLOSER, _CLOSERS[0])
    untyped_end = True
    orphans = _CLOSERS
    noise = ("[e~[", "<end_of_sentence>")
    markers = (*openers, "<invoke name=", "<parameter name=", *_CLOSERS, _LINES_CLOSER, *noise)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the closing tag, or for the end of the last line of JSON."""
        if opener == _BLOCK:
            return super().ending(opener)
        return JsonEnd(several=True, closers=(_LINES_CLOSER,), openers=(_LINES,))

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the JSON while it arrives."""
        return super().stream(opener, offered) if opener == _BLOCK else JsonStream(offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return a call for each `invoke`, or for each JSON object."""
        if block.opener == _BLOCK:
            return super().calls(block)
        return read_json_calls(block.raw, block.offered) or (
            WrittenCall(error="the JSON in the tag names no tool"),
        )

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag, as the chat template of M2 renders them."""
        return write_invoke_calls(calls, "minimax:tool_call")
