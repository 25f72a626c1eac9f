"""Read the calls in blocks of XML-like tags, with their parameters and values.

Values are not escaped, so a tag in a value looks like a tag of the call. What follows a closing tag
decides whether it is one: a value ends with the last closing tag that another tag of the call
follows, and never with the first closing tag that occurs. Closing tags may be missing, too. So each
block is read twice: once all closing tags are required, once they may be missing. Unless exactly
one reading fits the tool's schema, the call gets an error, without a guess (quirks
TEXT-DELIMITER-IN-VALUE, TEXT-PARAM-CLOSE-DROPPED). All functions take linear time and never raise.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import unescape

import msgspec

from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.json_calls import read_members, read_string
from harness.text_calls.parameters import (
    Exactly,
    Json,
    Printed,
    Value,
    declared_names,
    lacks_required,
    type_parameters,
)

# Kinds of tags, the names of the groups of a grammar's pattern.
BLOCK: Final = "block"
CALL: Final = "call"
PARAMETER: Final = "parameter"
END_PARAMETER: Final = "end_parameter"
END_CALL: Final = "end_call"
END_BLOCK: Final = "end_block"
# A call without parameters, as one tag that closes itself.
EMPTY_CALL: Final = "empty_call"

_OPENS: Final = frozenset((BLOCK, CALL))
_CLOSES: Final = frozenset((END_BLOCK, END_CALL))
CDATA: Final = "<![CDATA["
CDATA_END: Final = "]]>"
_CDATA: Final = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_SECTION: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_SECTIONS: Final = re.compile(rf"\s*+(?:{_SECTION.pattern})++\s*+", re.DOTALL)
STRINGS: Final = ("true", "string")
QUOTES: Final = {"&quot;": '"', "&apos;": "'"}
# What calls begin with that end with a tag of some grammar.
_OPENING: Final = re.compile(r"<(?:tool_call>|function|[\w:]{0,16}invoke)")
STRAY: Final = "there is text between the tags of the call"
NEVER_CLOSED: Final = "the markup of the call is not complete"
EMPTY: Final = "the markup holds no call"
_SEVERAL_ENDS: Final = (
    "a value contains closing tags: the call before it may be a part of the same value"
)
_BROKEN_CDATA: Final = "there is text next to a CDATA section, or it holds its own end"
_TWO_WAYS: Final = (
    "its markup can be read in two ways: a closing tag is missing, or a value holds an opening tag"
)


class Grammar(msgspec.Struct, frozen=True):
    """Describes the tags of one XML-like dialect.

    Fields:
        tags: finds any tag, which begins with `<`. The group of its kind is the whole tag. A call
            has the group `name` (`alone`, if its tag closes itself), a parameter the group `key`
            and perhaps `string`: whether it is a string, or its type.
        span: the maximum number of characters of a tag, including what its pattern looks ahead at.
        newlines: one line end on each side of a value belongs to its tags.
        pairs: the one after a value belongs to them only if one is before it.
        escaped: names and keys have the escapes of XML.
        printed: values that are not strings may be printed as Python does.
        cdata: values have the escapes of XML too, or are CDATA sections, in which a tag is text. A
            value that is not a string may be printed as Python does.
    """

    tags: re.Pattern[str]
    span: int
    newlines: bool = False
    pairs: bool = False
    escaped: bool = False
    printed: bool = False
    cdata: bool = False


class _Tag(msgspec.Struct, frozen=True):
    """One tag in a block.

    Fields:
        leads: only white space is between this tag and the previous one.
    """

    kind: str
    start: int
    end: int
    name: str
    typed: str
    leads: bool


class _ReadCall(msgspec.Struct, frozen=True):
    """One call as one of the two readings of a block understands it.

    Fields:
        unclosed: parameters whose opening tag ended the value before.
        mixed: a value without closing tag contains one, so the text is ambiguous. There may be
            text between tags, or the value may quote a call.
        closes: a value contains the closing tags of a value and of a call, outside of any call that
            it quotes; so the value may have begun in an earlier call.
        error: why the markup could not be read up to the end of the call; "" if it could.
    """

    name: str = ""
    parameters: tuple[tuple[str, Value], ...] = ()
    unclosed: frozenset[str] = frozenset()
    mixed: bool = False
    closes: bool = False
    error: str = ""


def read_tagged_calls(grammar: Grammar, text: str, offered: Offered) -> tuple[WrittenCall, ...]:
    """Return the calls of a block; if it contains none, one call with an error.

    Args:
        grammar: the tags of the dialect.
        text: the block, including its opening marker.
        offered: the tools of the request.
    """
    tags = _tags(grammar, without_cdata(text) if grammar.cdata else text)
    trusted = _Reader(grammar, text, tags, trusted=True).read()
    allowed = _Reader(grammar, text, tags, trusted=False).read()
    if trusted == allowed:
        return tuple(_written_call(call, offered) for call in trusted)
    fitting = [reading for reading in (trusted, allowed) if _fits(reading, offered)]
    if len(fitting) == 1 and not any(call.mixed for call in fitting[0]):
        return tuple(_written_call(call, offered) for call in fitting[0])
    return tuple(WrittenCall(call.name, error=call.error or _TWO_WAYS) for call in trusted)


def _tags(grammar: Grammar, text: str) -> list[_Tag]:
    tags: list[_Tag] = []
    at = 0
    for match in grammar.tags.finditer(text):
        fields = match.groupdict("")
        leads = _is_blank(text[at : match.start()])
        at = match.end()
        name = fields["name"] or fields["key"] or fields.get("alone", "")
        typed = fields.get("string", "")
        name = unescape(name, QUOTES) if grammar.escaped else name
        kind = str(match.lastgroup)
        is_empty = kind == EMPTY_CALL
        tags.append(_Tag(CALL if is_empty else kind, match.start(), at, name, typed, leads))
        if is_empty:
            tags.append(_Tag(END_CALL, at, at, "", "", leads=True))
    return tags


def quotes_call(text: str, start: int, stop: int) -> bool:
    """Return whether `text` from `start` to `stop` contains the beginning of a call."""
    return _OPENING.search(text, start, stop) is not None


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _written_call(call: _ReadCall, offered: Offered) -> WrittenCall:
    if call.error:
        return WrittenCall(call.name, error=call.error)
    schema = offered.schema(call.name)
    return type_parameters(call.parameters, schema, call.name, offered.untyped)


def _fits(calls: Sequence[_ReadCall], offered: Offered) -> bool:
    """Return whether a reading has no error, and each call fits the schema of its tool."""
    return all(_call_fits(call, offered) for call in calls)


def _call_fits(call: _ReadCall, offered: Offered) -> bool:
    schema = offered.schema(call.name)
    if call.error or lacks_required(dict(call.parameters), schema):
        return False
    return (
        call.unclosed <= declared_names(schema)
        and not type_parameters(call.parameters, schema, untyped=offered.untyped).error
    )


class _Reader:
    """Reads the tags of a block as calls, in one of two ways.

    Args:
        trusted: no closing tag is missing, so that opening tags in a value are part of it.
            Otherwise some may be missing, so that any tag of the call ends a value.
    """

    def __init__(self, grammar: Grammar, text: str, tags: list[_Tag], *, trusted: bool) -> None:
        self._grammar = grammar
        self._text = text
        self._tags = tags
        self._trusted = trusted
        self._wrapped = bool(tags) and tags[0].kind == BLOCK and tags[0].leads
        self._at = int(self._wrapped)
        self._joined = 0
        self._closes = False

    def read(self) -> tuple[_ReadCall, ...]:
        """Return the calls in order; the last has an error if reading stopped at it."""
        calls: list[_ReadCall] = []
        while (tag := self._next(CALL)) is not None:
            calls.append(self._call(tag))
            if calls[-1].error:
                return tuple(calls)
        if any(call.closes for call in calls[1:]):
            return tuple(_ReadCall(call.name, error=_SEVERAL_ENDS) for call in calls)
        error = self._rest() if self._tags and not self._holds_text() else EMPTY
        if error:
            calls.append(_ReadCall(error=error))
        return tuple(calls)

    def _holds_text(self) -> bool:
        """Return whether the block has no call, and text between its outer tags, such as JSON."""
        first = self._tags[0]
        is_end = self._at == 0 and first.kind == END_BLOCK
        return is_end and not _is_blank(self._text[: first.start].partition(">")[2])

    def _rest(self) -> str:
        """Return what is wrong with the text after the last call; "" if nothing."""
        self._next(END_BLOCK)
        return "" if self._is_end(self._at) else STRAY

    def _next(self, *kinds: str) -> _Tag | None:
        """Return the next tag and skip it, if it has one of these kinds and no text precedes it."""
        if self._at >= len(self._tags):
            return None
        tag = self._tags[self._at]
        # The tag that ends a value in the index of a missing one follows the value.
        if tag.kind not in kinds or not (tag.leads or self._at == self._joined):
            return None
        self._at += 1
        return tag

    def _call(self, call: _Tag) -> _ReadCall:
        parameters: list[tuple[str, Value]] = []
        unclosed: list[str] = []
        mixed = self._closes = False
        while (tag := self._next(PARAMETER, END_CALL)) is not None:
            if tag.kind == END_CALL:
                if not self._ends(self._at - 1):
                    return _ReadCall(call.name, error=STRAY)
                return _ReadCall(
                    call.name, tuple(parameters), frozenset(unclosed), mixed, self._closes
                )
            first = self._at
            end = self._end_of_value()
            if end is None:
                return _ReadCall(call.name, error=NEVER_CLOSED)
            value = value_of(self._grammar, tag.typed, self._text[tag.end : end.start])
            if value is None:
                return _ReadCall(call.name, error=_BROKEN_CDATA)
            parameters.append((tag.name, value))
            if end.kind == END_PARAMETER:
                self._at += 1
                continue
            mixed |= any(inside.kind == END_PARAMETER for inside in self._tags[first : self._at])
            mixed |= quotes_call(self._text, tag.end, end.start)
            if end.kind == PARAMETER:
                unclosed.append(end.name)
        return _ReadCall(call.name, error=NEVER_CLOSED)

    def _end_of_value(self) -> _Tag | None:
        """Return the tag that ends the current value, and continue at it; None if there is none."""
        depth = 0
        for index in range(self._at, len(self._tags)):
            tag = self._tags[index]
            if tag.kind in _OPENS:
                if not self._trusted:
                    return None
                depth += 1
            elif depth:
                depth -= tag.kind in _CLOSES
            elif self._ends_value(index, tag):
                self._at = index
                self._joined = index
                return tag
            elif tag.kind == END_CALL and tag.leads and index > self._at:
                self._closes = self._closes or self._tags[index - 1].kind == END_PARAMETER
        return None

    def _ends_value(self, index: int, tag: _Tag) -> bool:
        if tag.kind == END_PARAMETER:
            if index + 1 == len(self._tags) or not self._tags[index + 1].leads:
                return False
            return self._tags[index + 1].kind == PARAMETER or self._ends(index + 1)
        if self._trusted:
            return False
        # Two closing tags may not be missing at once, or the text could end in a value.
        followed = not self._wrapped or index + 1 < len(self._tags)
        return tag.kind == PARAMETER or (followed and self._ends(index))

    def _ends(self, index: int) -> bool:
        """Return whether the tag at `index` closes a call, judged by the tags after it."""
        if self._tags[index].kind != END_CALL:
            return False
        if self._is_end(index + 1):
            return True
        if index + 1 == len(self._tags) or not self._tags[index + 1].leads:
            return False
        kind = self._tags[index + 1].kind
        return kind == CALL or (kind == END_BLOCK and self._is_end(index + 2))

    def _is_end(self, index: int) -> bool:
        """Return whether the tag at `index` would be the first after the end of the block."""
        return index == len(self._tags) and _is_blank(self._text[self._tags[-1].end :])


def value_of(grammar: Grammar, typed: str, text: str) -> Value | None:
    """Return the value that `text` between its tags is; None if its CDATA is broken.

    Args:
        grammar: the tags of the dialect.
        typed: what the tag says about the type; "" if nothing.
        text: the text.
    """
    if grammar.cdata:
        return _xml_value(text)
    if grammar.newlines:
        line_end = "\r\n" if text.startswith("\r\n") else "\n"
        begins = text.startswith(line_end)
        text = text.removeprefix(line_end)
        text = text if grammar.pairs and not begins else text.removesuffix(line_end)
    if typed:
        return Exactly(text) if typed in STRINGS else Json(text)
    return Printed(text) if grammar.printed else text


def without_cdata(text: str) -> str:
    """Return a copy of `text`, equally long, with an `x` for each character of CDATA sections."""
    return _CDATA.sub(lambda section: "x" * len(section[0]), text)


def _xml_value(text: str) -> Value | None:
    if CDATA not in text and CDATA_END not in text:
        return Printed(unescape(text, QUOTES))
    return Printed("".join(_SECTION.findall(text))) if _SECTIONS.fullmatch(text) else None


def written_members(arguments: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (key, text, whether it is a string) for each member of an arguments object."""
    for key, text in (read_members(arguments or "{}") or {}).items():
        is_string = text.startswith('"')
        yield key, read_string(text) if is_string else text, is_string
