"""Read Step 3's `invoke` tags, which are between tokens that look like those of DeepSeek.

    <bar>tool_calls_begin<bar>
    <bar>tool_call_begin<bar>function<bar>tool_sep<bar><steptml:invoke name="NAME">
    <steptml:parameter name="KEY">VALUE</steptml:parameter>
    </steptml:invoke><bar>tool_call_end<bar>
    <bar>tool_calls_end<bar>

Each bar is full width, and the token is in `<` and `>`. Step DeepResearch has the tag
`<steptml:toolcall>` in place of the tokens. The tokens before a tag are part of it. Strings are
written unchanged, and the type comes from the schema. Source: the parsers of vLLM and SGLang for
Step 3, and vLLM's for Step DeepResearch (pull request 29652).
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import WrittenCall
from harness.text_calls.tag_blocks import TagDialect, invoke_grammar, named_heads
from harness.text_calls.tags import written_members

_SECTION, _CALL, _SEPARATOR, _CALL_END, _SECTION_END = (
    f"<\uff5ctool_{words}\uff5c>"
    for words in ("calls_begin", "call_begin", "sep", "call_end", "calls_end")
)
_OUTER: Final = "<steptml:toolcall>"
_INVOKE: Final = "<steptml:invoke name="
_KIND: Final = "function"
_CLOSERS: Final = ("</steptml:invoke>", "</steptml:parameter>")
_TAG: Final = literal("<steptml:invoke")
_IN_CALL: Final = (SPACE, *literal(_KIND), *literal(_SEPARATOR), SPACE, *_TAG)
_IN_SECTION: Final = (SPACE, *literal(_CALL), *_IN_CALL)
# Up to the second tag of the call, which a sentence about the first does not have.
_REST: Final = (r"[^<>]{0,160}+", ">", SPACE, "<", "[s/]")
_INVOKED: Final = named_heads("<steptml:parameter", _CLOSERS[0])
_TOKENS: Final = rf"(?:{_SECTION}\s{{0,16}})?{_CALL}\s{{0,4}}{_KIND}{_SEPARATOR}\s{{0,16}}"


class Step(TagDialect):
    """Reads and writes the calls of Step 3."""

    grammar = invoke_grammar(
        "<steptml:", "</steptml:", "(?!)", rf"(?:{_TOKENS}|{_OUTER}\s{{0,16}})?"
    )
    title = "steptml tags between tokens (Step 3)"
    line_ends = 1
    openers = (_SECTION, _CALL, _OUTER, _INVOKE)
    heads: ClassVar = {
        _SECTION: (Head(*_IN_SECTION, commits=len(_IN_SECTION) - 8),),
        _CALL: (Head(*_IN_CALL, commits=len(_IN_CALL) - 8),),
        _OUTER: (Head(SPACE, *_TAG, commits=1),),
        _INVOKE: _INVOKED,
    }
    meant: ClassVar = {
        _SECTION: (Head(*_IN_SECTION, *_REST, commits=len(_IN_SECTION) - 8),),
        _CALL: (Head(*_IN_CALL, *_REST, commits=len(_IN_CALL) - 8),),
        _OUTER: (Head(SPACE, *_TAG, *_REST, commits=1),),
    }
    trailers = (_CALL_END, _SECTION_END, "</steptml:toolcall>")
    untyped_end = True
    orphans = (*_CLOSERS, "</steptml:toolcall>")
    noise = (_SECTION_END,)
    markers = (*openers, "<steptml:parameter name=", *orphans)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one section of tokens."""
        inside = "".join(map(self.write_call, calls))
        return f"{_SECTION}{inside}{_SECTION_END}" if calls else ""

    def write_call(self, call: WrittenCall) -> str:
        """Return one call between its tokens."""
        parameters = "".join(
            f'<steptml:parameter name="{key}">{text}</steptml:parameter>'
            for key, text, _ in written_members(call.arguments)
        )
        invoke = f'{_INVOKE}"{call.name}">{parameters}{_CLOSERS[0]}'
        return f"{_CALL}{_KIND}{_SEPARATOR}{invoke}{_CALL_END}"
