"""Read MiniMax-M3's calls: a sentinel before each tag, and tags named after the parameters.

    ]<]minimax[>[<tool_call>
    ]<]minimax[>[<invoke name="NAME">
    ]<]minimax[>[<KEY>VALUE]<]minimax[>[</KEY>
    ]<]minimax[>[</invoke>
    ]<]minimax[>[</tool_call>

An object is written as tags of its keys, and an array as tags `item`, at any depth. Keys are not
XML names (`-A` is one), so this is not XML. Strings and numbers look alike; the schema decides.
A tag without the sentinel is part of a value. A tag with the sentinel outside of calls is left over
from a broken call. Source: MiniMax-M3's chat template, as its parsers in vLLM and SGLang describe
it; quirk TEXT-MINIMAX-M3.
"""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import msgspec

from harness.text_calls.boundaries import MORE, SPACE, Ending, Head, literal
from harness.text_calls.dialect import Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_items, read_members, read_string
from harness.text_calls.parameters import Elements, Value, is_text, type_parameters
from harness.text_calls.policy import Untyped
from harness.text_calls.streamed import BlockStream
from harness.text_calls.tags import EMPTY, NEVER_CLOSED, STRAY
from harness.turns.exact_json import write_exactly

_SENTINEL: Final = "]<]minimax[>["
_BLOCK: Final = "<tool_call>"
_CLOSER: Final = "</tool_call>"
_INVOKE: Final = "/invoke"
_NAMELESS: Final = "invoke"
_MAX_NESTED: Final = 64
_SPAN: Final = 64
_LONGEST_TAG: Final = 200
_S: Final = re.escape(_SENTINEL)
_TAG: Final = re.compile(
    rf"{_S}<(?:invoke\s{{1,8}}name=[\"'](?P<call>[^\"'<>\n]{{0,128}})[\"']\s{{0,8}}"
    r"|(?P<tag>/?[^\s<>/\"'=]{1,128}))>"
)
# The last sentinel is lost where an engine takes it for the end of the call. What opens inside a
# value is a part of it, up to its own end.
_BLOCK_TAGS: Final = re.compile(
    rf"(?P<opens>{_S}<tool_call>)|{_S}</tool_call>|{_S}</invoke>\s{{0,16}}</tool_call>"
)
_CALL_TAGS: Final = re.compile(rf"(?P<opens>{_S}<invoke\s)|{_S}</(?:invoke|tool_call)>")
_WRONG: Final = "the tags of the call do not match"


_CALLED: Final = (
    *(*literal("invoke"), r"\s++", *literal("name"), SPACE, "=", SPACE, "[\"']"),
    *(r"[^\"'<>\n]{0,128}+", "[\"']", SPACE, ">", SPACE, *literal(f"{_SENTINEL}<")),
)
_BLOCK_CALLED: Final = (SPACE, *literal(f"{_SENTINEL}<"), *_CALLED)


class _Open(msgspec.Struct):
    """A tag whose closing tag has not been read yet.

    Fields:
        start: the offset of its content.
        children: the elements that were closed in it.
        done: the offset after the last of these elements.
    """

    key: str
    start: int
    children: list[tuple[str, Value]]
    done: int


class _Broken(Exception):  # noqa: N818 - never leaves this module
    """The markup cannot be read. The text of the exception is the reason."""


class MinimaxM3(TextDialect):
    """Reads and writes calls in the tags of MiniMax-M3."""

    title = "Tags named after parameters, a sentinel before each (MiniMax-M3)"
    openers = (_SENTINEL, _BLOCK)
    heads: ClassVar = {
        _SENTINEL: (Head("<", r"[^\s<>]", commits=0),),
        _BLOCK: (Head(SPACE, *literal(_SENTINEL), commits=2),),
    }
    meant: ClassVar = {
        _SENTINEL: (
            Head("<", *literal("tool_call>"), *_BLOCK_CALLED, commits=0),
            Head("<", *_CALLED, commits=0),
            # Any other tag with the sentinel is left over from a broken call.
            Head("<", r"[^\s<>it]", commits=0),
        ),
        _BLOCK: (Head(*_BLOCK_CALLED, commits=2),),
    }
    trailers = (_SENTINEL + _CLOSER,)
    noise = (_SENTINEL, "[e~[")
    markers = noise

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the closing tag with its sentinel, which no value contains."""
        return _End(opener)

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the elements while they arrive."""
        return _ElementStream(opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call for each `invoke`."""
        return tuple(_calls(block.text, block.offered)) or (WrittenCall(error=EMPTY),)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag."""
        s = _SENTINEL
        lines = (
            f'{s}<invoke name="{call.name}">{_written_elements(call.arguments or "{}")}{s}</invoke>'
            for call in calls
        )
        return "\n".join([f"{s}{_BLOCK}", *lines, f"{s}{_CLOSER}"])


class _End(Ending):
    """Finds the end of the outer tag, or of a call without an outer tag."""

    def __init__(self, opener: str) -> None:
        self._opener = opener
        self._head = ""
        self._end: _BalancedEnd | None = None

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        if self._end is not None:
            return self._searched(self._end, text, start)
        # As much as distinguishes the outer tag from a call, or from what is left of one.
        self._head += text[start:]
        return self._begun() if len(self._head) >= len(_BLOCK) else MORE

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        return self._begun() if self._end is None else MORE

    def _begun(self) -> int:
        is_block = self._opener == _BLOCK or self._head.startswith(_BLOCK)
        # Only a sentinel is part of the first tag.
        depth = int(self._opener == _BLOCK)
        self._end = _BalancedEnd(_BLOCK_TAGS if is_block else _CALL_TAGS, depth)
        return self._searched(self._end, self._opener + self._head, 0)

    def _searched(self, ending: "_BalancedEnd", text: str, start: int) -> int:
        end = ending.feed(text, start)
        return MORE if end == MORE else end - len(self._opener)


class _BalancedEnd(Ending):
    """Finds the closing tag that matches the first opening tag.

    Args:
        tags: finds both kinds of tags, with the opening ones in the group `opens`.
        depth: how many tags are open before the text.
    """

    def __init__(self, tags: "re.Pattern[str]", depth: int) -> None:
        self._tags = tags
        self._depth = depth
        # The tail of what came that may be the beginning of a tag, and where it begins.
        self._kept = ""
        self._at = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        buffer = self._kept + text[start:]
        done = 0
        for tag in self._tags.finditer(buffer):
            done = tag.end()
            self._depth += 1 if tag["opens"] else -1
            if self._depth <= 0:
                return self._at + done
        keep = max(done, len(buffer) - _SPAN)
        self._kept = buffer[keep:]
        self._at += keep
        return MORE


class _ElementStream(BlockStream):
    """Streams the calls of a block, whose values are elements with a sentinel before each tag.

    Args:
        opener: the marker that began the block; it is part of its first tag.
        offered: the tools of the request.
    """

    def __init__(self, opener: str, offered: Offered) -> None:
        super().__init__(offered)
        self._kept = opener
        self._in_call = False
        # The key of the open element, and whether its string was begun; its text if not.
        self._key = ""
        self._begun = False
        self._pieces: list[str] = []

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        buffer, at = self._kept + text, 0
        while not self.over and (tag := _TAG.search(buffer, at)):
            self._text(buffer[at : tag.start()])
            self._tag(tag)
            at = tag.end()
        # A tag begins with the sentinel, whose first character is rare in values.
        keep = buffer.find("]", max(at, len(buffer) - _LONGEST_TAG))
        keep = len(buffer) if keep < 0 else keep
        self._text(buffer[at:keep])
        self._kept = buffer[keep:]

    def _text(self, text: str) -> None:
        if not text or self.over:
            return
        if self._begun:
            self.calls[-1].fragments.append(write_exactly(text)[1:-1])
        elif self._key:
            self._pieces.append(text)
            call, blank = self.calls[-1], not text.strip()
            # A value of white space alone may be an object without elements.
            if not blank and is_text(self.offered.schema(call.name), self._key, self._untyped):
                call.fragments.append(f"{self._prefix}{write_exactly(self._key)}: ")
                call.fragments.append(write_exactly("".join(self._pieces))[:-1])
                self._begun = True
        elif self.calls:
            self.over = bool(text.strip())

    @property
    def _untyped(self) -> Untyped:
        return self.offered.untyped

    @property
    def _prefix(self) -> str:
        return ", " if self.calls[-1].fragments else "{"

    def _tag(self, tag: "re.Match[str]") -> None:
        key = tag["tag"]
        if key is None:
            self.over = self._in_call
            if not self.over:
                self._in_call = self.start(tag["call"]) is not None
        elif self._key:
            self.over = key != f"/{self._key}" or not self._end_value()
            self._key = ""
        elif self._in_call and key == _INVOKE:
            self._in_call = False
        elif self._in_call and not key.startswith("/"):
            self._key, self._begun = key, False
            self._pieces.clear()
        else:
            self.over = key != "tool_call" or bool(self.calls)

    def _end_value(self) -> bool:
        """End the value at its closing tag; return whether it has its type."""
        call = self.calls[-1]
        if self._begun:
            call.fragments.append('"')
            self._begun = False
            return True
        text = "".join(self._pieces)
        value = text if text.strip() else Elements((), text)
        schema = self.offered.schema(call.name)
        typed = type_parameters([(self._key, value)], schema, call.name, self._untyped)
        if not typed.error:
            call.fragments.append(self._prefix + typed.arguments[1:-1])
        return not typed.error


def _calls(text: str, offered: Offered) -> Iterator[WrittenCall]:
    """Yield the calls of a block. The last has an error if the rest of the markup is unreadable."""
    tags = list(_TAG.finditer(text))
    index = 0
    while index < len(tags):
        tag = tags[index]
        index += 1
        if tag["tag"] == _NAMELESS:
            yield WrittenCall(error="the call has no name")
        if tag["call"] is None:
            continue
        try:
            index, elements = _invoked(text, tags, index)
        except _Broken as broken:
            yield WrittenCall(tag["call"], error=str(broken))
            return
        schema = offered.schema(tag["call"])
        yield type_parameters(elements, schema, tag["call"], offered.untyped)


def _invoked(
    text: str, tags: "list[re.Match[str]]", index: int
) -> tuple[int, list[tuple[str, Value]]]:
    """Return where the call that opened before tag `index` ends, and its elements.

    Raises:
        _Broken: the markup of the call cannot be read.
    """
    start = tags[index - 1].end()
    stack = [_Open("", start, [], start)]
    while index < len(tags):
        tag = tags[index]
        index += 1
        key = tag["tag"]
        top = stack[-1]
        if tag["call"] is not None or len(stack) > _MAX_NESTED:
            raise _Broken(_WRONG)
        if not key.startswith("/"):
            _must_be_blank(text, top, tag.start())
            stack.append(_Open(key, tag.end(), [], tag.end()))
        elif len(stack) == 1:
            if key != _INVOKE:
                raise _Broken(_WRONG)
            _must_be_blank(text, top, tag.start())
            return index, top.children
        else:
            _close(text, stack, tag)
    raise _Broken(NEVER_CLOSED)


def _close(text: str, stack: list[_Open], tag: "re.Match[str]") -> None:
    top = stack.pop()
    if tag["tag"] != f"/{top.key}":
        raise _Broken(_WRONG)
    content = text[top.start : tag.start()]
    if top.children:
        _must_be_blank(text, top, tag.start())
        value: Value = Elements(tuple(top.children))
    else:
        value = content if content.strip() else Elements((), content)
    stack[-1].children.append((top.key, value))
    stack[-1].done = tag.end()


def _must_be_blank(text: str, top: _Open, end: int) -> None:
    if text[top.done : end].strip():
        raise _Broken(STRAY)


def _written_elements(text: str) -> str:
    """Return a JSON value as the text between the tags of its key."""
    if text.startswith('"'):
        return read_string(text)
    if text.startswith("{"):
        return "".join(
            _written_element(key, value) for key, value in (read_members(text) or {}).items()
        )
    if text.startswith("["):
        return "".join(_written_element("item", item) for item in read_items(text))
    return text


def _written_element(key: str, value: str) -> str:
    return f"{_SENTINEL}<{key}>{_written_elements(value)}{_SENTINEL}</{key}>"
