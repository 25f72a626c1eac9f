"""Read GLM's keys and values in tags of other names: LongCat, Hunyuan 3 and K2 Horizon.

    <longcat_tool_call>NAME
    <longcat_arg_key>KEY</longcat_arg_key>
    <longcat_arg_value>VALUE</longcat_arg_value>
    </longcat_tool_call>

    <tool_calls>
    <tool_call>NAME<tool_sep>
    <arg_key>KEY</arg_key>
    <arg_value>VALUE</arg_value>
    </tool_call>
    </tool_calls>

    <ifm|tool_calls><ifm|tool_call>NAME<ifm|arg_key>KEY</ifm|arg_key>
    <ifm|arg_type>TYPE</ifm|arg_type><ifm|arg_value>VALUE</ifm|arg_value></ifm|tool_call>
    </ifm|tool_calls>

Each tag of Hunyuan may end in `:opensource`, and Hunyuan 4 writes neither the separator nor line
ends. K2 Horizon writes a type only if the template asks for it. LongCat and K2 Horizon also write
JSON in their tags, which the text dialect `json-tags` reads. Source: the parsers of mlx-lm for
LongCat and Hy3, and those of vLLM for Hy3, Hy4 and K2 Horizon (pull request 55063), which describe
the chat templates.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import MARK, MARKED_NAME, NAME, SPACE, Head, literal
from harness.text_calls.dialect import BlockStart, RawBlock, WrittenCall
from harness.text_calls.tag_blocks import TagDialect, keyed_head
from harness.text_calls.tags import Grammar, written_members


def _grammar(
    prefix: str, suffix: str, separator: str, outer: str = "(?!)", typed: str = ""
) -> Grammar:
    """Return the grammar of tags with this prefix and suffix.

    Args:
        prefix: pattern of the text before the word of each tag.
        suffix: pattern of the text after the word of each tag.
        separator: pattern of the text after a tool's name.
        outer: pattern of the word of the outer tag; it matches nothing if there is none.
        typed: pattern of the tags between a key and its value.
    """
    call, key, value = (f"{prefix}{word}" for word in ("tool_call", "arg_key", "arg_value"))
    ahead = rf"(?=<{key}{suffix}>|</{call}{suffix}>)"
    return Grammar(
        re.compile(
            rf"(?P<block><{outer}{suffix}>(?=\s{{0,16}}<{call}{suffix}>))"
            rf"|(?P<end_block></{outer}{suffix}>)"
            rf"|(?P<call><{call}{suffix}>\s{{0,16}}{MARKED_NAME}\s{{0,16}}{separator}{ahead})"
            rf"|(?P<end_call></{call}{suffix}>)"
            rf"|(?P<parameter><{key}{suffix}>(?P<key>[^<>\n]{{1,256}})</{key}{suffix}>"
            rf"\s{{0,16}}{typed}<{value}{suffix}>)|(?P<end_parameter></{value}{suffix}>)"
        ),
        span=400,
    )


class KeyedTags(TagDialect):
    """Base of the formats that have key and value tags.

    Fields:
        value_tag, value_end: patterns of the tags around a value.
    """

    value_tag: ClassVar["re.Pattern[str]"]
    value_end: ClassVar["re.Pattern[str]"]
    untyped_end = True

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether the tags have content; a sentence that mentions them leaves them empty."""
        return self.section(start) is None

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return the calls. They have an error if the block ends in a value that quotes a call."""
        found = super().calls(block)
        *before, value = self.value_tag.split(block.text)
        quotes = bool(before) and any(it in value for it in self.openers)
        if not quotes or self.value_end.search(value):
            return found
        error = "the text ended in a value that quotes a call"
        return tuple(WrittenCall(call.name, error=error) for call in found)


_NAMED: Final = (SPACE, MARK, NAME, MARK, SPACE)
# The index of the second character of the tag after a name.
_TAG: Final = len(_NAMED) + 1


class LongCat(KeyedTags):
    """Reads and writes the calls of LongCat-Flash."""

    name = "longcat"
    title = "Keys and values in tags of LongCat"
    grammar = _grammar("longcat_", "", "")
    value_tag, value_end = map(re.compile, ("<longcat_arg_value>", "</longcat_arg_value>"))
    line_ends = 1
    openers = ("<longcat_tool_call>",)
    heads: ClassVar = {
        openers[0]: (
            Head(*_NAMED, *literal("<longcat_arg_key>"), commits=_TAG),
            Head(*_NAMED, *literal("</longcat_tool_call>"), offered=True),
            Head(SPACE, *literal("</longcat_tool_call>")),
        )
    }
    empty: ClassVar = {openers[0]: "</longcat_tool_call>"}
    meant: ClassVar = {
        openers[0]: (
            keyed_head(
                (*_NAMED, *literal("<longcat_arg_key>")),
                "</longcat_arg_key>",
                "<longcat_arg_value>",
            ),
            *heads[openers[0]][1:],
        )
    }
    orphans = ("</longcat_arg_value>", "</longcat_tool_call>")
    noise = ("</longcat_s>",)
    markers = (*openers, "<longcat_arg_key>", "<longcat_arg_value>", *orphans, *noise)

    def write_call(self, call: WrittenCall) -> str:
        """Return one call in its outer tag."""
        arguments = "".join(
            f"<longcat_arg_key>{key}</longcat_arg_key>\n"
            f"<longcat_arg_value>{text}</longcat_arg_value>\n"
            for key, text, _ in written_members(call.arguments)
        )
        return f"<longcat_tool_call>{call.name}\n{arguments}</longcat_tool_call>"


_SUFFIXES: Final = ("", ":opensource")
_SUFFIX: Final = "(?::opensource)?"
_BLOCKS: Final = tuple(f"<tool_calls{suffix}>" for suffix in _SUFFIXES)
_CALLS: Final = tuple(f"<tool_call{suffix}>" for suffix in _SUFFIXES)


def _heads(suffix: str) -> tuple[Head, ...]:
    """Return how a call of Hunyuan continues after its opening tag.

    Without a suffix, a separator must follow the name, because GLM has the same tags.
    """
    separated = Head(*_NAMED, *literal(f"<tool_sep{suffix}>"), commits=_TAG)
    if not suffix:
        return (separated,)
    keyed = Head(*_NAMED, *literal(f"<arg_key{suffix}>"), commits=_TAG)
    closer = literal(f"</tool_call{suffix}>")
    return separated, keyed, Head(*_NAMED, *closer, offered=True), Head(SPACE, *closer)


def _in_block(suffix: str) -> tuple[Head, ...]:
    call = (SPACE, *literal(f"<tool_call{suffix}>"), *_NAMED)
    after = "<" if suffix else f"<tool_sep{suffix}>"
    return Head(*call, *literal(after)), Head(SPACE, *literal(f"</tool_calls{suffix}>"))


def _meant(suffix: str, *, in_block: bool) -> tuple[Head, ...]:
    """Return how a call with a separator continues up to the tag after it; others need none."""
    block = (SPACE, *literal(f"<tool_call{suffix}>")) if in_block else ()
    separated = (*block, *_NAMED, *literal(f"<tool_sep{suffix}>"), SPACE, "<", "[a/]")
    rest = (_in_block(suffix) if in_block else _heads(suffix))[1:]
    return (Head(*separated, commits=len(block) + _TAG), *rest)


class Hunyuan(KeyedTags):
    """Reads and writes the calls of Hunyuan 3 and 4. The outer tag may be missing."""

    name = "hunyuan"
    title = "Keys and values in tags, the name before a separator (Hunyuan 3 and 4)"
    grammar = _grammar("", _SUFFIX, rf"(?:<tool_sep{_SUFFIX}>\s{{0,16}})?", "tool_calls")
    value_tag, value_end = map(re.compile, (f"<arg_value{_SUFFIX}>", f"</arg_value{_SUFFIX}>"))
    openers = (*_BLOCKS, *_CALLS)
    heads: ClassVar = {
        **dict(zip(_BLOCKS, map(_in_block, _SUFFIXES), strict=True)),
        **dict(zip(_CALLS, map(_heads, _SUFFIXES), strict=True)),
    }
    empty: ClassVar = {opener: opener.replace("<", "</") for opener in openers}
    meant: ClassVar = {
        _BLOCKS[0]: _meant("", in_block=True),
        _CALLS[0]: _meant("", in_block=False),
    }
    trailers = tuple(f"</tool_calls{suffix}>" for suffix in _SUFFIXES)
    # Jamba owns the closing outer tag without a suffix.
    orphans = (
        *(f"</{word}{suffix}>" for suffix in _SUFFIXES for word in ("arg_value", "tool_call")),
        "</tool_calls:opensource>",
    )
    noise = tuple(f"<\uff5chy_eos{suffix}\uff5c>" for suffix in _SUFFIXES)
    markers = (
        *openers,
        *(f"<{word}{suffix}>" for suffix in _SUFFIXES for word in ("tool_sep", "arg_value")),
        *trailers,
        *orphans,
        *noise,
    )

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag, as the chat template of Hunyuan 3 renders them."""
        return f"<tool_calls>\n{''.join(map(self.write_call, calls))}</tool_calls>" if calls else ""

    def write_call(self, call: WrittenCall) -> str:
        """Return one call, in several lines."""
        arguments = "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{text}</arg_value>\n"
            for key, text, _ in written_members(call.arguments)
        )
        return f"<tool_call>{call.name}<tool_sep>\n{arguments}</tool_call>\n"


_IFM: Final = (*literal("<ifm|tool_call>"), SPACE, MARK, NAME, MARK, SPACE)
_IFM_KEY: Final = literal("<ifm|arg_key>")
_IFM_END: Final = literal("</ifm|tool_call>")
_IFM_NAMED: Final = _IFM[len("<ifm|tool_call>") :]
_IFM_TYPE: Final = (
    r"(?:<ifm\|arg_type>(?:(?P<string>string|integer|number|boolean|object|array|null)"
    r"(?:\[[^<>]{0,60}\])?|[^<>]{0,80})</ifm\|arg_type>\s{0,16})?"
)


class K2Horizon(KeyedTags):
    """Reads and writes the calls of K2 Horizon, except those in JSON."""

    name = "k2-horizon"
    title = "Keys, types and values in ifm tags (K2 Horizon)"
    grammar = _grammar(r"ifm\|", "", "", r"ifm\|tool_calls", _IFM_TYPE)
    value_tag, value_end = map(re.compile, (r"<ifm\|arg_value>", r"</ifm\|arg_value>"))
    openers = ("<ifm|tool_calls>", "<ifm|tool_call>")
    heads: ClassVar = {
        openers[0]: (
            Head(SPACE, *_IFM, *_IFM_KEY, commits=1),
            Head(SPACE, *_IFM, *_IFM_END, commits=1),
            Head(SPACE, *literal("</ifm|tool_calls>")),
        ),
        openers[1]: (
            Head(*_IFM_NAMED, *_IFM_KEY, commits=len(_IFM_NAMED) + 1),
            Head(*_IFM_NAMED, *_IFM_END, offered=True),
            Head(SPACE, *_IFM_END),
        ),
    }
    empty: ClassVar = {opener: opener.replace("<", "</") for opener in openers}
    meant: ClassVar = {
        openers[1]: (
            keyed_head((*_IFM_NAMED, *_IFM_KEY), "</ifm|arg_key>", "<ifm|arg_"),
            *heads[openers[1]][1:],
        )
    }
    trailers = ("</ifm|tool_calls>",)
    orphans = ("</ifm|arg_value>", "</ifm|tool_call>", *trailers)
    markers = (*openers, "<ifm|arg_key>", "<ifm|arg_type>", "<ifm|arg_value>", *orphans)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag."""
        inside = "\n".join(map(self.write_call, calls))
        return f"<ifm|tool_calls>{inside}</ifm|tool_calls>" if calls else ""

    def write_call(self, call: WrittenCall) -> str:
        """Return one call, without types."""
        arguments = "".join(
            f"<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>{text}</ifm|arg_value>"
            for key, text, _ in written_members(call.arguments)
        )
        return f"<ifm|tool_call>{call.name}{arguments}</ifm|tool_call>"
