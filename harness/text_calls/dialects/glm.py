"""Read GLM-4.5's calls: a name, then keys and values in separate tags.

    <tool_call>NAME
    <arg_key>KEY</arg_key>
    <arg_value>VALUE</arg_value>
    </tool_call>

Later models leave the line ends out. A call without arguments is a name between the outer tags.
A value that is not a string is JSON, and nothing is stripped. The text dialects `tagged-json` and
`qwen-xml` have the same outer tag. What follows the tag decides. Source: chat templates of GLM-4.5,
GLM-4.6 and GLM-4.7; quirk TEXT-GLM-ZERO-ARG.
"""

import re
from typing import ClassVar, Final

from harness.text_calls.boundaries import NAME, SPACE, Head, literal
from harness.text_calls.dialect import BlockStart, WrittenCall
from harness.text_calls.tag_blocks import TagDialect, keyed_head
from harness.text_calls.tags import Grammar, written_members

_OPENER: Final = "<tool_call>"
_CLOSER: Final = "</tool_call>"
_CLOSERS: Final = ("</arg_value>", _CLOSER)
_NAMED: Final = (SPACE, NAME, SPACE)
_TAGS: Final = re.compile(
    # Hunyuan, whose calls a value may quote, has a separator after the name.
    rf"(?P<call><tool_call>\s{{0,16}}{NAME}\s{{0,16}}(?:<tool_sep>\s{{0,16}})?"
    r"(?=<arg_key>|</tool_call>))"
    r"|(?P<end_call></tool_call>)"
    r"|(?P<parameter><arg_key>(?P<key>[^<>\n]{1,256})</arg_key>\s{0,16}<arg_value>)"
    r"|(?P<end_parameter></arg_value>)"
)
_WITH_ARGUMENTS: Final = Head(*_NAMED, *literal("<arg_key>"), commits=4)
_MEANT: Final = keyed_head((*_NAMED, *literal("<arg_key>")), "</arg_key>", "<arg_value>")
_ALONE: Final = re.compile(rf"\s*{NAME}\s*{_CLOSER}\s*")
_WITHOUT: Final = Head(*_NAMED, *literal(_CLOSER), offered=True)


class Glm(TagDialect):
    """Reads and writes calls with the key and value tags of GLM."""

    grammar = Grammar(_TAGS, span=320)
    title = "Keys and values in tags (GLM-4.5 and later)"
    line_ends = 1
    openers = (_OPENER,)
    heads: ClassVar = {_OPENER: (_WITH_ARGUMENTS, _WITHOUT)}
    meant: ClassVar = {_OPENER: (_MEANT, _WITHOUT)}
    untyped_end = True
    orphans = _CLOSERS
    noise = ("<|observation|>", "<|role_end|>")
    markers = (_OPENER, "<arg_key>", "</arg_key>", "<arg_value>", *_CLOSERS)

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether a block in the middle of a line is a call, and not a word in tags.

        A call without arguments counts only if markup follows it.
        """
        match = _ALONE.match(start.head)
        if not match:
            return True
        rest = start.head[match.end() :]
        if _OPENER.startswith(rest):
            return not rest if start.final else None
        return rest.startswith((_OPENER, "<|"))

    def write_call(self, call: WrittenCall) -> str:
        """Return one call in its outer tag, as the chat template of GLM-4.5 renders it."""
        arguments = "".join(
            f"\n<arg_key>{key}</arg_key>\n<arg_value>{text}</arg_value>"
            for key, text, _ in written_members(call.arguments)
        )
        return f"{_OPENER}{call.name}{arguments}{chr(10) if arguments else ''}{_CLOSER}"
