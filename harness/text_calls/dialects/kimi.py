"""Read `<|tool_calls_section_begin|><|tool_call_begin|>ID<|tool_call_argument_begin|>{...}`.

Kimi K2 writes one section of calls, each with its id, such as `functions.NAME:0`, before the
arguments. The name is between `functions.` and the counter, and the id stays unchanged. Servers
leave the section in the content or in the reasoning, and some write its tokens without the first s.
Source: chat template and tool-call guide of Kimi-K2-Instruct; quirks TEXT-KIMI-SECTION,
TEXT-KIMI-IN-REASONING.
"""

import re

from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.tokens import TokenCalls, after_fence

_AROUND_NAME = re.compile(r"\Afunctions\.|:[0-9]+\Z")


class Kimi(TokenCalls):
    """Reads and writes calls in the special tokens of Kimi K2."""

    title = "Sections of special tokens with ids (Kimi K2)"
    section_begins = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
    call_begins = ("<|tool_call_begin|>",)
    separators = ("<|tool_call_argument_begin|>",)
    call_ends = ("<|tool_call_end|>",)
    section_ends = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
    ends = ("<|im_end|>",)
    openers = (*section_begins, *call_begins)
    # JSON in a code block is rejected, and the end of the block is not shown.
    trailers = (*after_fence(call_ends), *call_ends)
    orphans = call_ends
    noise = (*section_ends, *ends)
    markers = (*openers, *separators, *orphans, *noise)

    def named(self, header: str, body: str, offered: Offered) -> WrittenCall:
        """Return the call. Its header is its id, which contains the name, or only the name."""
        name = header if header in offered else _AROUND_NAME.sub("", header)
        return WrittenCall(name, body.strip(), "" if name == header else header)

    def written_header(self, call: WrittenCall, index: int) -> str:
        """Return the id of the call, or the id that the chat template would generate."""
        return call.id or f"functions.{call.name}:{index}"
