"""Read DeepSeek's tool calls in special tokens: V3 and R1 with a code block, V3.1 without.

    V3, R1: <bar>tool calls begin<bar> <tool call begin> function <tool sep> NAME newline
            ```json {...} ``` <tool call end> ... <tool calls end>
    V3.1:   <tool calls begin> <tool call begin> NAME <tool sep> {...} <tool call end> ...

The tokens are `<`, a full-width bar, words joined by U+2581, a bar, `>`. Models and proxies
also write one or two bars before the words, ASCII bars, and underscores or spaces between the
words. Such variants count only with full-width bars, because Kimi's tokens have ASCII bars. A code
fence that is left after the JSON belongs to the call. Source: chat templates of DeepSeek-V3-0324,
DeepSeek-R1 and DeepSeek-V3.1.
"""

import re
from typing import Final

from harness.text_calls.boundaries import SPACE, Head
from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.tokens import FENCE, TokenCalls, after_fence

_BAR: Final = "\uff5c"
_JOIN: Final = "\u2581"
# Bars before and after the words, and what joins the words; the first is the templates' own.
_SPELLINGS: Final = (
    ((_BAR, _BAR), _JOIN),
    ((_BAR * 2, _BAR), _JOIN),
    ((_BAR * 2, _BAR * 2), _JOIN),
    (("|", "|"), _JOIN),
    ((_BAR, _BAR), "_"),
    ((_BAR, _BAR), " "),
)
# `function`, the kind of a tool, is where V3.1 has the name.
_KIND: Final = "function"
_FENCED = re.compile(r"\s*([^\s{`<]*)\s*(?:```\w*)?\s*")


def _tokens(words: str) -> tuple[str, ...]:
    """Return all known variants of the special token with these `words`."""
    return tuple(f"<{a}{words.replace(' ', join)}{b}>" for (a, b), join in _SPELLINGS)


class DeepSeek(TokenCalls):
    """Reads DeepSeek's calls in special tokens, and writes them as V3.1 does."""

    title = "Special tokens of DeepSeek V3, R1 and V3.1"
    line_ends = 1  # V3 and R1 write one between calls
    section_begins = _tokens("tool calls begin")
    call_begins = _tokens("tool call begin")
    separators = _tokens("tool sep")
    call_ends = _tokens("tool call end")
    section_ends = _tokens("tool calls end")
    ends = _tokens("end of sentence")
    kinds = (_KIND,)
    before_json = Head(r"[^\s{`<]*+", SPACE, "[{`]", commits=0)
    openers = (*section_begins, *call_begins)
    closers = (*call_ends, *section_ends, *ends)
    trailers = (*after_fence(closers), *call_ends)
    orphans = call_ends
    noise = (*section_ends, *ends)
    markers = (*openers, *separators, *closers)

    def named(self, header: str, body: str, offered: Offered) -> WrittenCall:
        """Return the call. Its name precedes the separator, or follows it before a code fence."""
        del offered
        lead = next(_FENCED.finditer(body))  # each of its parts may be missing
        name, rest = lead[1], body[lead.end() :]
        if name and header != _KIND:
            error = "something that is not JSON is between the name and the arguments"
            return WrittenCall(header, error=error)
        return WrittenCall(name or header, rest.strip().removesuffix(FENCE).rstrip())
