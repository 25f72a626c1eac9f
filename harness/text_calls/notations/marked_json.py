"""A marker, JSON of calls, and perhaps a closing marker: four families of models.

    granite    <|tool_call|>[{...}]  or  <tool_call>[{...}]      nothing closes it
    jamba      <tool_calls>[{...}]</tool_calls>
    phi        <|tool_call|>[{...}]<|/tool_call|>  or  functools[{...}]
    internlm   <|action_start|><|plugin|>{...}<|action_end|>     one object, `parameters`

Source: chat templates of Granite 3.x, Jamba 1.5, Phi-4-mini and InternLM 2, and the prompts
that engines ship for them. xLAM's array without any marker is bare JSON.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Ending, Head
from harness.text_calls.dialect import RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_marked_calls, write_json_call
from harness.text_calls.json_end import JsonEnd

_ARRAY: Final = (Head(SPACE, r"\[", SPACE, r"[{\]]", commits=2),)
_ARRAY_OR_OBJECT: Final = (*_ARRAY, Head(SPACE, r"\{"))


class MarkedJson(TextDialect):
    """What they share; an end token may end a call whose JSON is broken, too."""

    def ending(self, opener: str) -> Ending:
        """The end of the JSON, or a marker where it is broken."""
        closers = (*self.trailers, *self.noise)
        return JsonEnd(_opened(opener), closers=closers, openers=self.openers)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Every object is a call; an empty array has none."""
        body = (_opened(block.opener) + block.raw).strip()
        error = "the JSON after the marker names no tool"
        return read_marked_calls(body, block.offered, error)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """One array of all calls between the markers."""
        closer = self.orphans[0] if self.orphans else ""
        listed = ", ".join(map(write_json_call, calls))
        return f"{self.openers[0]}[{listed}]{closer}" if calls else ""


def _opened(opener: str) -> str:
    """Return the bracket that is a part of the marker."""
    return "[" if opener.endswith("[") else ""


class Granite(MarkedJson):
    """IBM Granite 3.0 has a token, 3.1 to 3.3 a string that Hermes' dialect shares."""

    name = "granite"
    title = "An array after <|tool_call|> (IBM Granite 3)"
    openers = ("<|tool_call|>", "<tool_call>")
    heads = dict.fromkeys(openers, _ARRAY)
    noise = ("<|end_of_text|>",)
    markers = (*openers, *noise)


class Jamba(MarkedJson):
    """AI21 Jamba 1.5 and later."""

    name = "jamba"
    title = "An array in <tool_calls> tags (AI21 Jamba)"
    openers = ("<tool_calls>",)
    heads = dict.fromkeys(openers, _ARRAY)
    trailers = orphans = ("</tool_calls>",)
    closed_by_trailer = True
    noise = ("<|eom|>",)
    markers = (*openers, *orphans, *noise)


class Phi(MarkedJson):
    """Phi-4-mini: tokens by its model card, a word by the prompt that vLLM ships."""

    name = "phi"
    title = "An array between <|tool_call|> tokens, or after functools (Phi-4-mini)"
    heads: ClassVar = {"<|tool_call|>": _ARRAY_OR_OBJECT, "functools[": (Head(SPACE, r"[{\]]"),)}
    openers = tuple(heads)
    trailers = orphans = ("<|/tool_call|>",)
    noise = ("<|end|>",)
    markers = (*openers, *orphans, *noise)


class InternLM(MarkedJson):
    """InternLM 2 and 2.5."""

    name = "internlm"
    title = "An object between action tokens (InternLM 2)"
    openers = (
        "<|action_start|><|plugin|>",
        "<|action_start|> <|plugin|>",
        "<|action_start|>\n<|plugin|>",
    )
    heads = dict.fromkeys(openers, _ARRAY_OR_OBJECT)
    trailers = orphans = ("<|action_end|>",)
    closed_by_trailer = True
    noise = ("<|im_end|>",)
    markers = ("<|action_start|>", "<|plugin|>", *orphans, *noise)

    write = TextDialect.write

    def write_call(self, call: WrittenCall) -> str:
        """One block, with `parameters`."""
        return f"{self.openers[0]}{write_json_call(call, arguments='parameters')}{self.orphans[0]}"
