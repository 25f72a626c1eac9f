"""Read `<|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{...}<|tool_call:end|>`.

Solar Open writes one section of calls, which `<|tool_calls|>` begins, each with its id before its
name. Reasoning is a section that `<|think|>` begins, and the answer follows `<|content|>`. Both end
with `<|end|>`, and `<|begin|>assistant` is before all but the first. What an answer quotes is text.
Source: the chat template of Solar-Open-100B.
"""

from collections.abc import Sequence
from typing import Final

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    Section,
    WrittenCall,
    follows_at_once,
)
from harness.text_calls.tokens import TokenCalls, after_fence

_THINK: Final = "<|think|>"
_ARGUMENTS: Final = "<|tool_call:args|>"
_NAME: Final = "<|tool_call:name|>"
_NEXT: Final = "<|begin|>assistant"
_ANSWER: Final = "<|content|>"


class Solar(TokenCalls):
    """Reads and writes calls in the special tokens of Solar Open."""

    title = "Sections of special tokens with ids and names (Solar Open)"
    section_begins = ("<|tool_calls|>",)
    call_begins = ("<|tool_call:begin|>",)
    separators = (_NAME,)
    before_json = Head(r"[^\s<]++", *literal(_ARGUMENTS), SPACE, "[{`]", commits=0)
    call_ends = ("<|tool_call:end|>",)
    section_ends = ("<|calls|>", "<|flush|>")
    ends = ("<|end|>",)
    openers = (*section_begins, *call_begins, _THINK, _ANSWER)
    trailers = (*call_ends, *after_fence(call_ends))
    orphans = call_ends
    noise = (*section_ends, _NEXT, _ANSWER)
    markers = (*openers, *separators, _ARGUMENTS, *orphans, *noise)

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether reasoning, an answer or a call begins at the token."""
        if start.opener == _ANSWER:
            return self._is_answer(start)
        return True if start.opener == _THINK else super().starts(start)

    def _is_answer(self, start: BlockStart) -> bool | None:
        head, calls = start.head, self.section_begins[0]
        if calls.startswith(head) and not start.final:
            return None
        return not head.startswith(calls)

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return False if an answer's token is in a sentence, so that no text follows it."""
        return start.opener != _ANSWER or bool(start.head[:1].strip())

    def in_sentence(self, start: BlockStart) -> bool | None:
        """Return whether thoughts follow their token at once, or arguments the name."""
        if start.opener == _THINK:
            return follows_at_once(start)
        return super().in_sentence(start)

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of the reasoning or of the answer; None if calls begin."""
        if start.opener == _ANSWER:
            return Section(reasoning=False, closers=(*self.ends, "<|flush|>"), opens=())
        return Section(reasoning=True, closers=self.ends) if start.opener == _THINK else None

    def named(self, header: str, body: str, _offered: Offered) -> WrittenCall:
        """Return the call. The header is its id, and the body has its name and arguments."""
        name, _, arguments = body.partition(_ARGUMENTS)
        return WrittenCall(name.strip(), arguments.strip(), header)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one section with all calls. Calls without ids get numbers as ids."""
        inside = "".join(
            f"{self.call_begins[0]}{call.id or index}{_NAME}{call.name}{_ARGUMENTS}"
            f"{call.arguments or '{}'}{self.call_ends[0]}"
            for index, call in enumerate(calls)
        )
        return f"{self.section_begins[0]}{inside}{self.section_ends[0]}" if calls else ""
