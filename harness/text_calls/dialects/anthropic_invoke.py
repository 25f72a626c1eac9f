"""Read Claude's own markup, which other models imitate, and proxies let through.

    <function_calls>
    <invoke name="NAME">
    <parameter name="KEY">VALUE</parameter>
    </invoke>
    </function_calls>

Each tag may have a namespace, `antml:` or Muse Glimmer's `atem:`. The outer tag is often missing,
and dots calls it `dots_function_call`. Models write strings unchanged and everything else as JSON.
The type comes from the schema. Prose that mentions a tag is text. Source: Anthropic's guide
to tool use of the time before the API had tools, the chat template of Muse Glimmer, and vLLM's
parser for dots; quirks TEXT-ANTHROPIC-MARKUP, TEXT-FP-PROSE, TEXT-ORPHAN-CLOSER.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import WrittenCall
from harness.text_calls.tag_blocks import (
    TagDialect,
    bare_invoke_heads,
    invoke_grammar,
    write_invoke_calls,
)

_PREFIXES: Final = ("", "antml:", "atem:")
_DOTS: Final = "dots_function_call"
_BLOCKS: Final = (*(f"<{prefix}function_calls>" for prefix in _PREFIXES), f"<{_DOTS}>")
_CALLS: Final = tuple(f"<{prefix}invoke name=" for prefix in _PREFIXES)
_CLOSERS: Final = (
    *(
        f"</{prefix}{word}>"
        for prefix in _PREFIXES
        for word in ("function_calls", "invoke", "parameter")
    ),
    f"</{_DOTS}>",
)
_IN_BLOCK: Final = tuple(
    Head(SPACE, *literal(f"<{prefix}invoke"), r"\s", commits=1) for prefix in _PREFIXES
)


class AnthropicInvoke(TagDialect):
    """Reads and writes calls in the `invoke` tags of Claude."""

    grammar = invoke_grammar(
        r"<(?:a(?:ntml|tem):)?", r"</(?:a(?:ntml|tem):)?", rf"(?:function_calls|{_DOTS})"
    )
    title = "invoke and parameter tags (Claude's markup)"
    line_ends = 2
    openers = (*_BLOCKS, *_CALLS)
    heads: ClassVar = {
        **dict.fromkeys(_BLOCKS, _IN_BLOCK),
        **dict.fromkeys(_CALLS, bare_invoke_heads(*_PREFIXES)),
    }
    # An outer tag whose start is missing; that of MiniMax is one where only the call is left.
    trailers = ("</function_calls>", "</antml:function_calls>", "</minimax:tool_call>")
    untyped_end = True
    orphans = _CLOSERS
    markers = (*openers, *(f"<{prefix}parameter name=" for prefix in _PREFIXES), *_CLOSERS)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag."""
        return write_invoke_calls(calls, "function_calls")
