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

from harness.text_calls.boundaries import Ending
from harness.text_calls.dialect import Offered, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_json_calls, write_json_call
from harness.text_calls.json_scan import JsonEnd


class MarkedJson(TextDialect):
    """What they share.

    Fields:
        firsts: what the JSON may begin with.
        ends: tokens that end a message, and so a call whose JSON is broken.
    """

    firsts: ClassVar[str] = "["
    ends: ClassVar[tuple[str, ...]] = ()

    def starts(self, opener: str, head: str, offered: Offered, *, final: bool) -> bool | None:
        """JSON of objects follows the marker."""
        del offered
        if not head.strip():
            return False if final else None
        body = (_opened(opener) + head).lstrip()
        if body[0] not in self.firsts:
            return False
        inside = body[1:].lstrip()
        if body[0] == "{" or not inside:
            return body[0] == "{" or final or None
        return inside[0] in "{]"

    def ending(self, opener: str) -> Ending:
        """The end of the JSON, or a marker where it is broken."""
        return JsonEnd(_opened(opener), closers=(*self.trailers, *self.openers, *self.ends))

    def calls(
        self, opener: str, raw: str, offered: Offered, *, closed: bool
    ) -> tuple[WrittenCall, ...] | None:
        """Every object is a call; an empty array has none."""
        del closed
        body = (_opened(opener) + raw).strip()
        if body.startswith("[") and body[1:].lstrip() == "]":
            return ()
        return read_json_calls(body, offered) or (
            WrittenCall("", error="the JSON behind the marker names no tool"),
        )

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """One array of all calls between the markers."""
        closer = self.orphans[0] if self.orphans else ""
        return (
            f"{self.openers[0]}[{', '.join(map(write_json_call, calls))}]{closer}" if calls else ""
        )


def _opened(opener: str) -> str:
    """Return the bracket that is a part of the marker."""
    return "[" if opener.endswith("[") else ""


class Granite(MarkedJson):
    """IBM Granite 3.0 has a token, 3.1 to 3.3 a string that Hermes' dialect shares."""

    name = "granite"
    title = "An array behind <|tool_call|> (IBM Granite 3)"
    openers = ("<|tool_call|>", "<tool_call>")
    trailers = ("<|end_of_text|>",)
    ends = ("<|end_of_text|>",)
    noise = ("<|end_of_text|>",)
    markers = (*openers, *noise)


class Jamba(MarkedJson):
    """AI21 Jamba 1.5 and later."""

    name = "jamba"
    title = "An array in <tool_calls> tags (AI21 Jamba)"
    openers = ("<tool_calls>",)
    trailers = ("</tool_calls>", "<|eom|>")
    closed_by_trailer = True
    untyped_end = True
    orphans = ("</tool_calls>",)
    noise = ("<|eom|>",)
    markers = (*openers, *trailers)


class Phi(MarkedJson):
    """Phi-4-mini: tokens by its model card, a word by the prompt that vLLM ships."""

    name = "phi"
    title = "An array between <|tool_call|> tokens, or behind functools (Phi-4-mini)"
    openers = ("<|tool_call|>", "functools[")
    firsts = "[{"
    trailers = ("<|/tool_call|>", "<|end|>")
    ends = ("<|end|>",)
    orphans = ("<|/tool_call|>",)
    noise = ("<|end|>",)
    markers = (*openers, *trailers)


class InternLM(MarkedJson):
    """InternLM 2 and 2.5."""

    name = "internlm"
    title = "An object between action tokens (InternLM 2)"
    openers = (
        "<|action_start|><|plugin|>",
        "<|action_start|> <|plugin|>",
        "<|action_start|>\n<|plugin|>",
    )
    firsts = "{["
    trailers = ("<|action_end|>", "<|im_end|>")
    ends = ("<|im_end|>",)
    closed_by_trailer = True
    untyped_end = True
    orphans = ("<|action_end|>",)
    noise = ("<|im_end|>",)
    markers = ("<|action_start|>", "<|plugin|>", *trailers)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """One block for each call, with `parameters`."""
        return "".join(
            f"{self.openers[0]}{write_json_call(call, arguments='parameters')}{self.orphans[0]}"
            for call in calls
        )


PHI: Final = Phi()
GRANITE: Final = Granite()
JAMBA: Final = Jamba()
INTERNLM: Final = InternLM()
