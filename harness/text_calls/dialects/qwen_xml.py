"""Read Qwen3-Coder's calls: a function and parameters as tags, values without quotes or escapes.

    <tool_call>
    <function=NAME>
    <parameter=KEY>
    VALUE, which may have many lines
    </parameter>
    </function>
    </tool_call>

One line end on each side of a value belongs to the tags and nothing else is stripped; the type
comes from the tool's schema. The outer tag is often missing. The text dialect `llama-function` has
the same opening marker, `<function=`. What follows it decides. Source: chat templates of
Qwen3-Coder and Seed-OSS; quirks TEXT-QWEN3-XML, TEXT-OPEN-MISSING, TEXT-PARAM-CLOSE-DROPPED,
TEXT-DIALECT-COLLISION.
"""

import re
from typing import ClassVar, Final

import msgspec

from harness.text_calls.boundaries import MARK, NAME, SPACE, Head, literal
from harness.text_calls.dialect import BlockStart, Offered, RawBlock, WrittenCall
from harness.text_calls.streamed import BlockStream
from harness.text_calls.streamed_tags import TagStream
from harness.text_calls.tag_blocks import TagDialect
from harness.text_calls.tags import Grammar, read_tagged_calls, written_members

# Seed-OSS has a prefix in its outer tag, no line ends next to a value, and Python's lists.
_BLOCK: Final = "<tool_call>"
_SEED: Final = "<seed:tool_call>"
_CALL: Final = "<function="
_CLOSERS: Final = ("</parameter>", "</function>", "</tool_call>", "</seed:tool_call>")
_TAGS: Final = re.compile(
    # An opening tag that no other tag follows is part of a value that speaks of it.
    r"(?P<block><(?:seed:)?tool_call>(?=\s{0,16}<function=))"
    r"|(?P<end_block></(?:seed:)?tool_call>)"
    r"|(?P<call><function=(?P<name>[^<>\n]{1,128})>(?=\s{0,16}<(?:parameter=|/function>)))"
    r"|(?P<end_call></function>)"
    # Some models quote the key; quotation marks and white space are never part of it.
    r"|(?P<parameter><parameter=(?P<mark>[\"']?)(?![\s\"'])(?P<key>[^<>\n]{1,256})(?<![\s\"'])"
    r"(?P=mark)>)|(?P<end_parameter></parameter>)"
)
_GRAMMAR: Final = Grammar(_TAGS, span=300, newlines=True)
_SEED_GRAMMAR: Final = msgspec.structs.replace(_GRAMMAR, printed=True, pairs=True)
_NAMED: Final = (MARK, NAME, MARK, ">", SPACE)
# Of Hermes' tags with a marked name, `tagged-json` reports all of the text.
_IN_BLOCK: Final = Head(SPACE, *literal(_CALL), NAME, ">", SPACE, r"[^{\s]", commits=1)
_IN_SEED: Final = Head(SPACE, *literal(_CALL), *_NAMED, r"[^{\s]", commits=1)
# The second tag of a call that a sentence does not merely name.
_MEANT: Final = Head(SPACE, *literal(_CALL), *_NAMED, "<", r"[p/]", commits=1)
_PARAMETER: Final = Head(*_NAMED, *literal("<parameter="), commits=len(_NAMED))
_NOTHING: Final = Head(*_NAMED, *literal("</function>"), offered=True)


class QwenXml(TagDialect):
    """Reads and writes calls in the function and parameter tags of Qwen3-Coder."""

    grammar = _GRAMMAR
    title = "Function and parameter tags (Qwen3-Coder)"
    line_ends = 2
    openers = (_BLOCK, _SEED, _CALL)
    heads: ClassVar = {
        _BLOCK: (_IN_BLOCK,),
        _SEED: (_IN_SEED, Head(SPACE, *literal(_CLOSERS[-1]))),
        _CALL: (_PARAMETER, _NOTHING),
    }
    empty: ClassVar = {_SEED: _CLOSERS[-1]}
    meant: ClassVar = {_BLOCK: (_MEANT,), _SEED: (_MEANT, *heads[_SEED][1:])}
    trailers = ("</tool_call>", "</seed:tool_call>")
    untyped_end = True
    orphans = _CLOSERS
    noise = ("<seed:eos>",)
    markers = (*openers, "<parameter=", *_CLOSERS, *noise)

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether the tags have content; a sentence that mentions them leaves them empty."""
        return self.section(start) is None

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the parameters while they arrive."""
        return TagStream(_SEED_GRAMMAR if opener == _SEED else self.grammar, opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return a call for each function tag."""
        grammar = _SEED_GRAMMAR if block.opener == _SEED else self.grammar
        return read_tagged_calls(grammar, block.text, block.offered)

    def write_call(self, call: WrittenCall) -> str:
        """Return one call in its outer tag, as the chat template renders it."""
        parameters = "".join(
            f"<parameter={key}>\n{text}\n</parameter>\n"
            for key, text, _ in written_members(call.arguments)
        )
        return f"{_BLOCK}\n{_CALL}{call.name}>\n{parameters}</function>\n</tool_call>"
