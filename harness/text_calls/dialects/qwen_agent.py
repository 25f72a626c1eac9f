"""Read `✿FUNCTION✿: NAME` and `✿ARGS✿: {...}` on two lines: Qwen 2 with Qwen-Agent's prompt.

The prompt also has a line `✿RESULT✿:` for the result and `✿RETURN✿:` for the answer, at which the
client stops the model. A result that the model invented ends the reply, as in ReAct. Source:
`qwen_fncall_prompt.py` of Qwen-Agent.
"""

from typing import Final

from harness.text_calls.boundaries import Ending, literal_end
from harness.text_calls.dialect import BlockStart, Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.tokens import TokenCalls

_NAME: Final = "✿FUNCTION✿:"
_ARGUMENTS: Final = "✿ARGS✿:"
_RESULT: Final = "✿RESULT✿"
_ANSWER: Final = "✿RETURN✿"
# No text has it, so that a result has no end.
_NEVER: Final = "✿✿"


class QwenAgent(TokenCalls):
    """Reads and writes calls in the two-line format of Qwen-Agent."""

    title = "Lines of ✿FUNCTION✿ and ✿ARGS✿ (Qwen 2, Qwen-Agent)"
    line_ends = 1
    section_begins = section_ends = call_ends = ()
    call_begins = (_NAME,)
    separators = (_ARGUMENTS,)
    ends = (_RESULT, _ANSWER)
    openers = (_NAME, _RESULT)
    closed_by_trailer = untyped_end = False
    noise = on_new_lines = tuple(f"{_ANSWER}{rest}" for rest in (": ", ":", ""))
    markers = (_NAME, _ARGUMENTS, *ends)

    write = TextDialect.write

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a name and its arguments follow, or a result that the model invented."""
        if start.opener != _RESULT:
            return super().starts(start)
        return start.head.startswith(":") if start.head else start.final or None

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether the block is a call, because a result must begin its line."""
        return start.opener != _RESULT

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON; a result lasts to the end of the text."""
        return literal_end(_NEVER) if opener == _RESULT else super().ending(opener)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of the block; () for a result."""
        return () if block.opener == _RESULT else super().calls(block)

    def named(self, header: str, body: str, _offered: Offered) -> WrittenCall:
        """Return the call with the name in the header and the arguments in the body."""
        return WrittenCall(header, body.strip())

    def write_call(self, call: WrittenCall) -> str:
        """Return the two lines of a call."""
        return f"{_NAME} {call.name}\n{_ARGUMENTS} {call.arguments or '{}'}"
