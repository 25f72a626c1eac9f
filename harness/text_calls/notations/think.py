"""`<think>...</think>` and its like in the visible text: reasoning that no server took out.

Not a dialect of calls, but in the way of each: a call drafted in it must not run (quirks
TEXT-THINK-PHANTOM, TEXT-THINK-LOST). A tag counts at the start of a line only, because prose may
speak of it; a special token counts anywhere, but not with a space after it. Source: chat
templates of Qwen3, DeepSeek-R1, Seed-OSS, Kimi-VL-Thinking, Kimi K3 and Magistral.
"""

from typing import Final

from harness.text_calls.boundaries import Ending, literal_end
from harness.text_calls.dialect import BlockStart, RawBlock, Section, TextDialect, WrittenCall

# Opening marker -> the only one that closes it.
_CLOSERS: Final = {
    **{f"<{it}>": f"</{it}>" for it in ("think", "thinking", "thought", "reasoning", "seed:think")},
    "[THINK]": "[/THINK]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
}
# Special tokens, which begin reasoning within a line too.
TOKENS: Final = frozenset(("[THINK]", "\u25c1think\u25b7", "<|open|>think<|sep|>"))


class Think(TextDialect):
    """The section, in the form of a dialect that has no calls."""

    title = "Reasoning in think tags"
    openers = tuple(_CLOSERS)
    begins_line = True
    closers = tuple(_CLOSERS.values())
    markers = (*openers, *closers)

    def starts(self, start: BlockStart) -> bool | None:
        """The tag alone is enough; after a token words follow, or a line end."""
        if start.opener not in TOKENS:
            return True
        return not start.head.startswith(" ") if start.head or start.final else None

    def section(self, start: BlockStart) -> Section:
        """Return the reasoning."""
        return Section(reasoning=True, closers=(_CLOSERS[start.opener],))

    def ending(self, opener: str) -> Ending:
        """Return the end of the section; never asked for."""
        return literal_end(_CLOSERS[opener])

    def calls(self, _block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """There are none."""
        return None


THINK: Final = Think()
