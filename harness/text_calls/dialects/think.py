"""Read `<think>...</think>` and end tokens in the visible text, if no server removed them.

This text dialect has no calls, but it affects the others, because a call that is drafted in
reasoning must not be executed (quirks TEXT-THINK-PHANTOM, TEXT-THINK-LOST). A tag counts only at
the start of a line, because prose may mention it. A special token counts anywhere, unless a space
follows it.
Source: chat templates of Qwen3, DeepSeek-R1, Seed-OSS, Kimi-VL-Thinking, Kimi K3, Magistral,
MiniMax-M3, openPangu, HyperCLOVA X, K2 Horizon and PLaMo 3.
"""

from typing import Final

from harness.text_calls.boundaries import Ending, literal_end
from harness.text_calls.dialect import BlockStart, RawBlock, Section, TextDialect, WrittenCall

_TAGS: Final = (
    "think",
    "thinking",
    "thought",
    "reasoning",
    "seed:think",
    "mm:think",
    "longcat_think",
    "think:opensource",
    "ifm|think",
    "ifm|think_fast",
    "ifm|think_faster",
)
# Opening marker -> the only one that closes it.
_CLOSERS: Final = {
    **{f"<{it}>": f"</{it}>" for it in _TAGS},
    "[THINK]": "[/THINK]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
    "<|thought_start|>": "<|thought_end|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "[unused16]": "[unused17]",
    "<|im_start|>assistant/think": "<|im_end|>",
    "<|plamo:begin_think:plamo|>": "<|plamo:end_think:plamo|>",
}
# What also ends reasoning, and is hidden like its closing marker: Kimi K3 may leave that out.
_ANSWERS: Final = {"<|open|>think<|sep|>": ("<|open|>response<|sep|>",)}
# Special tokens, which begin reasoning within a line too.
TOKENS: Final = frozenset(
    (
        "[THINK]",
        "\u25c1think\u25b7",
        "<|open|>think<|sep|>",
        "<|inner_prefix|>",
        "[unused16]",
        "<|plamo:begin_think:plamo|>",
    )
)
# Tokens that end a turn or begin the next one in the templates of many models, whose servers
# remove them as a rule. Source: `special_tokens_map.json` of Qwen3, Llama 2 and 3.1, Gemma 3,
# Phi-4, GLM-4.5 and Granite 3.
_ENDS: Final = (
    "<|endoftext|>",
    "<|im_end|>",
    "</s>",
    "<eos>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "<|user|>",
    "<|observation|>",
)


class Think(TextDialect):
    """Reads sections of reasoning in the text, as a text dialect without calls."""

    title = "Reasoning in think tags"
    openers = tuple(_CLOSERS)
    begins_line = True
    # An end token that closes reasoning closes an answer as well.
    closers = tuple(it for it in _CLOSERS.values() if it not in _ENDS)
    tag_closers = tuple(
        closer
        for opener, closer in _CLOSERS.items()
        if opener not in TOKENS and closer not in _ENDS
    )
    noise = _ENDS
    markers = (*openers, *closers, *noise)
    line_ends = 2

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether reasoning begins: at any tag, and at a token without a space after it."""
        if start.opener not in TOKENS:
            return True
        return not start.head.startswith(" ") if start.head or start.final else None

    def section(self, start: BlockStart) -> Section:
        """Return the section of the reasoning."""
        line_ends = 0 if start.opener in TOKENS else self.line_ends
        closers = (_CLOSERS[start.opener], *_ANSWERS.get(start.opener, ()))
        return Section(reasoning=True, closers=closers, line_ends=line_ends)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the section. The scanner never calls this method."""
        return literal_end(_CLOSERS[opener])

    def calls(self, _block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return None, because reasoning contains no calls."""
        return None


THINK: Final = Think()
