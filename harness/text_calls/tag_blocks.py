"""Find where a block of XML-like markup ends, and define the `invoke` and `parameter` tags.

A closing tag ends a block if the tags right before it close a value and a call. Elsewhere a closing
tag may be part of a value, so it is the end only if nothing but the next block follows. A block
that opens inside a value is part of the value up to its end, so an example in a value is never
found as a call. If no end is found, and text follows a closing tag, the block is broken and the
text is not part of it. If that text contains markup, it may be part of the value.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import MORE, SPACE, Ending, Head, literal
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.streamed import BlockStream
from harness.text_calls.streamed_tags import TagStream
from harness.text_calls.tags import (
    BLOCK,
    CALL,
    EMPTY_CALL,
    END_BLOCK,
    END_CALL,
    END_PARAMETER,
    PARAMETER,
    Grammar,
    quotes_call,
    read_tagged_calls,
    written_members,
)

# A kind of tag, where it starts, where it ends -> the end of the block, or `MORE`.
_Step = Callable[[str, int, int], int]
# The text ended in a tag, perhaps of special tokens, which is not text after the block.
_CUT_TAG: Final = re.compile(
    r"(?:<(?:\|[a-z]{1,8}\|>)?"
    r'(?:[^\s<>]+(?:\s[a-z]*(?:="?[^<>\n"]{0,128}"?)?){0,2})?(?:<\|?[a-z]{0,8}\|?)?)?'
)
# What the calls of some text dialects begin with.
_MARKUP: Final = re.compile(r"<\S|[\[{`~]|Action")


class TagBlockEnd(Ending):
    """Finds the end of a block of XML-like markup.

    Args:
        grammar: the tags of the dialect.
        opener: the marker that began the block; it is part of its first tag.
    """

    def __init__(self, grammar: Grammar, opener: str) -> None:
        self._grammar = grammar
        # What may be the start of a tag, and where it begins: before the block at first.
        self._kept = opener
        self._at = -len(opener)
        # Where we are, and where what looked like the end may be part of the value after all.
        self._state: _Step = self._start
        self._maybe = (self._after_value, self._after_call, self._after_open, self._after_all)
        self._wrapped: bool
        # Whether nothing but white space came since the last tag.
        self._blank = True
        self._candidate: int
        # How many blocks are open inside a value, and the tags right before, one directly after
        # the other. Where a broken block may be cut, so that no text is lost, and that text.
        self._depth = 0
        self._last = MORE
        self._rest: list[str] = []
        # Whether a value quotes an opening tag, so that a closing tag may be part of it; and
        # whether no closing tag of the value or the call came since the last value began.
        self._quotes = False
        self._value_open = False
        self._run: tuple[str, ...] = ()

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        buffer = self._kept + text[start:]
        done = 0
        for match in self._grammar.tags.finditer(buffer):
            self._pass(buffer, done, match.start())
            done = match.end()
            end = self._tag(str(match.lastgroup), self._at + match.start(), self._at + done)
            self._blank = True
            if end != MORE:
                return end
        keep = buffer.find("<", max(done, len(buffer) - self._grammar.span + 1))
        keep = len(buffer) if keep < 0 else keep
        self._pass(buffer, done, keep)
        self._kept = buffer[keep:]
        self._at += keep
        return MORE

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        cut_tag = _CUT_TAG.fullmatch(self._kept) is not None
        blank = self._blank and cut_tag
        if self._state == self._after_all and blank:
            return self._candidate
        rest = "".join(self._rest) + ("" if cut_tag else self._kept)
        whole = (self._state in self._maybe and blank) or _MARKUP.search(rest)
        return MORE if whole else self._last

    def _pass(self, buffer: str, start: int, stop: int) -> None:
        if start == stop:
            return
        self._blank = self._blank and buffer[start:stop].isspace()
        self._quotes = self._quotes or quotes_call(buffer, start, stop)
        if self._last != MORE:
            self._rest.append(buffer[start:stop])

    def _tag(self, kind: str, start: int, end: int) -> int:
        """Process a tag; return the end of the block if it is known now, else `MORE`."""
        if kind == EMPTY_CALL:
            before = self._tag(CALL, start, end)
            self._blank = True
            return self._tag(END_CALL, end, end) if before == MORE else before
        if self._depth:
            return self._nested(kind, end)
        if kind in (BLOCK, CALL, PARAMETER):
            self._cut_at(MORE)
        if kind in (PARAMETER, END_PARAMETER, END_CALL):
            self._value_open = kind == PARAMETER
        if self._state in self._maybe and not self._blank:
            # Text follows, so what looked like the end was part of the value.
            self._state = self._in_value
        return self._state(kind, start, end)

    def _nested(self, kind: str, end: int) -> int:
        """Process a tag of a block inside a value, or of this block if the value names one."""
        self._depth += self._nests(kind)
        closing = (
            (END_PARAMETER, END_CALL, END_BLOCK) if self._wrapped else (END_PARAMETER, END_CALL)
        )
        self._run = (*self._run[1 - len(closing) :], kind) if self._blank else (kind,)
        if self._run == closing:
            self._cut_at(end)
        elif kind in (BLOCK, CALL):
            self._cut_at(MORE)
        return MORE

    def _cut_at(self, end: int) -> None:
        self._last = end
        self._rest.clear()

    def _nests(self, kind: str) -> int:
        if kind in (CALL, END_CALL):
            return 1 if kind == CALL else -1
        return (kind == BLOCK) - (kind == END_BLOCK) if self._wrapped else 0

    # One step for each state

    def _start(self, kind: str, _start: int, end: int) -> int:
        if kind == END_BLOCK:  # of a block without calls, such as JSON
            return end
        self._wrapped = kind == BLOCK
        self._state = self._between_calls if self._wrapped else self._between_parameters
        return MORE

    def _between_calls(self, kind: str, start: int, end: int) -> int:
        if kind == CALL:
            self._state = self._between_parameters
        return self._outside(kind, start, end)

    def _between_parameters(self, kind: str, start: int, end: int) -> int:
        if kind == PARAMETER:
            self._state = self._in_value
        elif kind == END_CALL:
            return self._call_closed(start, end)
        elif kind == CALL and not self._wrapped:
            return start
        return self._outside(kind, start, end)

    def _outside(self, kind: str, start: int, end: int) -> int:
        """Process a tag outside a value, where a tag always has its meaning."""
        if kind == BLOCK:
            return start
        return end if kind == END_BLOCK else MORE

    def _call_closed(self, start: int, end: int) -> int:
        if not self._wrapped:
            return end
        self._state = self._after_call
        self._may_cut(start)
        return MORE

    def _may_cut(self, start: int) -> None:
        """Note that the block may end at `start`, unless it has a possible end already."""
        if self._last == MORE:
            self._cut_at(start)

    def _in_value(self, kind: str, start: int, end: int) -> int:
        if kind == END_PARAMETER:
            self._state = self._after_value
        elif kind in (END_CALL, END_BLOCK):
            self._may_cut(start)
            is_call = kind == END_CALL and self._wrapped
            self._state = self._after_open if is_call else self._after_all
            self._candidate = end
        elif kind in (BLOCK, CALL):
            self._quotes = True
            self._depth = max(0, self._nests(kind))
        return MORE

    def _after_value(self, kind: str, start: int, end: int) -> int:
        if kind == END_CALL:
            return self._call_closed(start, end)
        self._state = self._in_value
        return MORE if kind == PARAMETER else self._in_value(kind, start, end)

    def _after_call(self, kind: str, start: int, end: int) -> int:
        if kind in (BLOCK, END_BLOCK):
            return self._outside(kind, start, end)
        # Both closing tags were there, so that another call is one, whatever the value quotes.
        self._quotes = self._quotes and kind != CALL
        return self._after_open(kind, start, end)

    def _after_open(self, kind: str, start: int, end: int) -> int:
        self._state = self._in_value
        if kind == CALL and not self._quotes:
            self._state = self._between_parameters
            return MORE
        return self._in_value(kind, start, end)

    def _after_all(self, kind: str, start: int, end: int) -> int:
        if kind in (BLOCK, CALL) and not (self._quotes or self._value_open):
            return self._candidate
        if kind == END_BLOCK and not self._wrapped:
            return MORE  # the end of an outer tag whose start is missing
        self._state = self._in_value
        return self._in_value(kind, start, end)


class TagDialect(TextDialect):
    """Base of the text dialects whose blocks are XML-like tags.

    Fields:
        grammar: its tags.
        empty: for an opening marker, the closing tag that directly follows it in a block without
            calls. Such a block is not shown. One of `heads` has this tag.
    """

    grammar: ClassVar[Grammar]
    empty: ClassVar[Mapping[str, str]] = {}

    def section(self, start: BlockStart) -> Section | None:
        """Return an empty section for a block without calls, which is not shown; else None."""
        closer = self.empty.get(start.opener)
        head = start.head.lstrip()
        if not closer or not head.startswith(closer):
            return None
        size = len(start.head) - len(head) + len(closer)
        return Section(reasoning=False, closers=(), header=size)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the closing tag of the block."""
        return TagBlockEnd(self.grammar, opener)

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the parameters while they arrive."""
        return TagStream(self.grammar, opener, offered)

    def ends_value(self, marker: str) -> bool:
        """Return whether `marker` is the closing tag of a value."""
        tag = self.grammar.tags.fullmatch(marker)
        return tag is not None and tag.lastgroup == END_PARAMETER

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return one call for each call tag of the block."""
        return read_tagged_calls(self.grammar, block.text, block.offered)


_NAME: Final = r"""[^"'<>\n]{1,128}"""
_END: Final = r"\s{0,8}>"
_QUOTED: Final = ("[\"']", rf"(?P<name>{_NAME}+)", "[\"']", SPACE, ">", SPACE)


_ALONE: Final = Head(*_QUOTED[:4], "/", ">", offered=True)


def invoke_grammar(begin: str, close: str, block: str, lead: str = "") -> Grammar:
    """Return the grammar of one family of `invoke` and `parameter` tags.

    Args:
        begin: pattern of the text before the name of an opening tag.
        close: pattern of the text before the name of a closing tag.
        block: pattern of the name of the outer tag.
        lead: pattern of what is part of the opening tag of a call, and before it.
    """
    call_name = rf"name\s{{0,4}}=\s{{0,4}}(?P<_q>[\"'])(?P<name>{_NAME})(?P=_q)"
    alone = rf"name\s{{0,4}}=\s{{0,4}}(?P<_a>[\"'])(?P<alone>{_NAME})(?P=_a)"
    key = rf"name\s{{0,4}}=\s{{0,4}}(?P<_k>[\"'])(?P<key>{_NAME})(?P=_k)"
    string = r"(?:\s{1,8}string\s{0,4}=\s{0,4}[\"'](?P<string>true|false)[\"'])?"
    # An opening tag that no other tag follows is part of a value that speaks of it.
    calls = rf"(?=\s{{0,16}}{begin}invoke[\s>])"
    goes_on = rf"(?=\s{{0,16}}(?:{begin}parameter\s|{close}invoke))"
    kinds = (
        rf"(?P<block>{begin}{block}{_END}{calls})",
        rf"(?P<end_block>{close}{block}{_END})",
        rf"(?P<call>{lead}{begin}invoke\s{{1,8}}{call_name}{_END}{goes_on})",
        rf"(?P<empty_call>{lead}{begin}invoke\s{{1,8}}{alone}\s{{0,8}}/>)",
        rf"(?P<end_call>{close}invoke{_END})",
        rf"(?P<parameter>{begin}parameter\s{{1,8}}{key}{string}{_END})",
        rf"(?P<end_parameter>{close}parameter{_END})",
    )
    return Grammar(re.compile("|".join(kinds)), span=340 + len(lead))


def bare_invoke_heads(*prefixes: str) -> tuple[Head, ...]:
    """Return how a call without its outer tag continues after `<invoke name=`.

    It continues with a parameter or, if the tool is offered, with the end of the call.

    Args:
        prefixes: texts before the names of tags, such as a namespace.
    """
    return tuple(
        head
        for prefix in prefixes
        for head in (*named_heads(f"<{prefix}parameter", f"</{prefix}invoke"), _ALONE)
    )


# JSON in the outer tag of a notation that has none.
JSON_IN_TAG: Final = Head(SPACE, r"\{", SPACE, r"[\"'}]")


def keyed_head(before: tuple[str, ...], closer: str, value: str) -> Head:
    """Return how a call continues with a key in tags, up to the opening tag of its value."""
    key = (r"[^\s<>]{1,128}+", *literal(closer), SPACE, *literal(value))
    return Head(*before, *key, commits=len(before) - 1)


def meant_head(call: str, parameter: str, commits: int) -> Head:
    """Return how a block continues up to the second tag of its first call.

    Args:
        call: the opening tag of a call, up to its name.
        parameter: the first letters that a tag of a parameter and a closing tag may have.
        commits: as in `Head`.
    """
    begin = (SPACE, *literal(call), r"[^<>]{0,160}+", ">", SPACE)
    return Head(*begin, "<", f"[{parameter}/]", commits=commits)


def named_heads(parameter: str, closer: str) -> tuple[Head, ...]:
    """Return how a tag continues after `name=` if a parameter or a closing tag follows it."""
    return (
        Head(*_QUOTED, *literal(parameter), commits=len(_QUOTED)),
        Head(*_QUOTED, *literal(closer), offered=True),
    )


def write_invoke_calls(
    calls: Sequence[WrittenCall], block: str, prefix: str = "", *, typed: bool = False
) -> str:
    """Return all calls in one outer tag, as the chat templates render them.

    Args:
        calls: the calls.
        block: the name of the outer tag, with its prefix.
        prefix: the text before the other names.
        typed: write in each parameter tag whether the value is a string.
    """
    lines = [f"<{block}>"]
    for call in calls:
        lines.append(f'<{prefix}invoke name="{call.name}">')
        for key, text, is_string in written_members(call.arguments):
            string = f' string="{str(is_string).lower()}"' if typed else ""
            opening = f'<{prefix}parameter name="{key}"{string}>'
            lines.append(f"{opening}{text}</{prefix}parameter>")
        lines.append(f"</{prefix}invoke>")
    return "\n".join([*lines, f"</{block}>"])
