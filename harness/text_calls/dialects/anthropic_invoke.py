"""Read Claude's own markup, which other models imitate, and proxies let through.

    <function_calls>
    <invoke name="NAME">
    <parameter name="KEY">VALUE</parameter>
    </invoke>
    </function_calls>

Each tag may have a namespace, `antml:` or Muse Glimmer's `atem:`. The outer tag is often missing,
and dots calls it `dots_function_call`. Models write strings unchanged and everything else as JSON.
The type comes from the schema. Prose that mentions a tag is text.

Muse Glimmer writes messages, `<|start|>assistant to=WHOM<|message|>...<|eom|>`, and the last ends
with `<|eot|>`. The prompt ends with `<|start|>assistant`, so that the reply begins with ` to=`. A
message to `self` is reasoning, and one to `user` is the answer: a call in either is quoted. A
message to a tool contains its call. Sometimes `<|eom|>` and the start before the header of a call
are missing. Source: Anthropic's guide to tool use of the time before the API had tools, the chat
template of Muse Glimmer, and vLLM's parsers for Muse Glimmer (pull request 51655) and dots; quirks
TEXT-ANTHROPIC-MARKUP, TEXT-FP-PROSE, TEXT-ORPHAN-CLOSER.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import BlockStart, Section, WrittenCall
from harness.text_calls.tag_blocks import (
    JSON_IN_TAG,
    TagDialect,
    bare_invoke_heads,
    invoke_grammar,
    meant_head,
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
_START: Final = "<|start|>"
_MESSAGE: Final = "<|message|>"
_ENDS: Final = ("<|eom|>", "<|eot|>")
# Those of gpt-oss too, whose messages without a recipient look the same.
_ALL_ENDS: Final = (*_ENDS, "<|end|>", "<|return|>")
_RECIPIENT: Final = r"(?P<to>[\w.\-]{1,128}+)"
# JSON after a header is a call of gpt-oss, whose messages have the same tokens.
_HEADERS: Final = (
    (*literal("self"), *literal(_MESSAGE)),
    (*literal("user"), *literal(_MESSAGE)),
    (_RECIPIENT, *literal(_MESSAGE), SPACE, r"[^{\s]"),
)
_TO: Final = tuple(Head(*header, commits=len(header) - 3) for header in _HEADERS)
_ROLE: Final = (*literal("assistant"), r"[ \t]*+", *literal("to="))
_STARTED: Final = (
    *(Head(*_ROLE, *header, commits=len(_ROLE) - 3) for header in _HEADERS),
    Head(*literal("assistant"), *literal(_MESSAGE), commits=len("assistant") + 2),
)
_HEADER: Final = re.compile(rf"(?:assistant[ \t]*+)?+(?:to=)?+{_RECIPIENT}?+{re.escape(_MESSAGE)}")
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
    openers = (*_BLOCKS, *_CALLS, _START, " to=", "to=")
    first = openers[-2:]
    heads: ClassVar = {
        **dict.fromkeys(_BLOCKS, _IN_BLOCK),
        **dict.fromkeys(_CALLS, bare_invoke_heads(*_PREFIXES)),
        _START: _STARTED,
        **dict.fromkeys(first, _TO),
    }
    broken: ClassVar = dict.fromkeys(_BLOCKS, (JSON_IN_TAG,))
    meant: ClassVar = dict.fromkeys(
        _BLOCKS, tuple(meant_head(f"<{prefix}invoke", "ap", 1) for prefix in _PREFIXES)
    )
    # An outer tag whose start is missing; that of MiniMax is one where only the call is left.
    trailers = ("</function_calls>", "</antml:function_calls>", "</minimax:tool_call>")
    untyped_end = True
    orphans = _CLOSERS
    noise = _ENDS
    markers = (
        *_BLOCKS,
        *_CALLS,
        _START,
        *noise,
        *(f"<{prefix}parameter name=" for prefix in _PREFIXES),
        *_CLOSERS,
    )

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of a message; None if a block of calls begins."""
        if start.opener not in {_START, *self.first}:
            return None
        header = _HEADER.match(start.head)
        if header is None:  # the text ended in the header
            return Section(reasoning=False, closers=(), header=len(start.head))
        if header["to"] in {None, "user"}:
            closers: tuple[str, ...] = _ALL_ENDS
            is_thought = False
        elif header["to"] == "self":
            calls = (f" to={name}{_MESSAGE}" for name in start.offered)
            closers, is_thought = (*_ENDS, *calls), True
        else:
            return Section(reasoning=False, closers=(), header=header.end())
        return Section(is_thought, closers, header.end(), ended_by=(_START,), opens=(_START,))

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag."""
        return write_invoke_calls(calls, "function_calls")
