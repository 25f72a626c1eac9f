"""Read the parameters of calls in XML-like tags while their text still arrives.

A value ends if its closing tag and the tag of the next parameter follow each other. A string is
streamed up to what may be a tag, and any other value comes when it is complete. A value in which a
tag of a call stands may end in two ways, so from there on nothing is streamed.
"""

import re
from typing import Final
from xml.sax.saxutils import unescape

from harness.text_calls.dialect import Offered
from harness.text_calls.parameters import is_text, type_parameters
from harness.text_calls.streamed import BlockStream, StreamedCall
from harness.text_calls.tags import (
    BLOCK,
    CALL,
    CDATA,
    CDATA_END,
    EMPTY_CALL,
    END_CALL,
    END_PARAMETER,
    PARAMETER,
    QUOTES,
    STRINGS,
    Grammar,
    value_of,
)
from harness.turns.exact_json import write_exactly

_LINE_END: Final = re.compile(r"(?:\r?\n|\r)\Z")
# The start of an escape of XML, of which the longest here has six characters.
_ESCAPE_BEGINS: Final = re.compile(r"&[a-z]{0,4}\Z")


class StringValue:
    """Writes a string value as JSON while its text arrives.

    It holds back a line end that may belong to the closing tag, an escape that is not whole, and
    white space next to a CDATA section.

    Args:
        call: the call to whose arguments the value is added.
        grammar: the tags of the dialect.
    """

    def __init__(self, call: StreamedCall, grammar: Grammar) -> None:
        self._call = call
        self._grammar = grammar
        self._held = ""
        self._begun = not (grammar.newlines or grammar.cdata)
        self._has_sections = False
        # The line end that belongs to the closing tag; "" if none does.
        self._line_end = ""
        call.fragments.append('"')

    def add(self, text: str) -> None:
        """Add the next text of the value."""
        text, self._held = self._held + text, ""
        if not self._begun:
            if text.isspace() if self._grammar.cdata else text in ("", "\r"):
                self._held = text
                return
            text = self._begin(text)
        if self._has_sections:
            return
        waiting = _LINE_END.search(text) if self._line_end else None
        if self._grammar.cdata:
            waiting = _ESCAPE_BEGINS.search(text)
        stop = waiting.start() if waiting else len(text)
        self._write(text[:stop])
        self._held = text[stop:]

    def add_section(self, text: str) -> None:
        """Add the text of a CDATA section, next to which nothing else belongs to the value."""
        self._held, self._begun, self._has_sections = "", True, True
        self._call.fragments.append(write_exactly(text)[1:-1])

    def end(self) -> None:
        """End the value at its closing tag."""
        if not self._begun:
            self._held = self._begin(self._held)
        self._write(self._held.removesuffix(self._line_end) if self._line_end else self._held)
        self._call.fragments.append('"')

    def _begin(self, text: str) -> str:
        self._begun = True
        if self._grammar.cdata:
            return text
        line_end = "\r\n" if text.startswith("\r\n") else "\n"
        begins = text.startswith(line_end)
        self._line_end = line_end if begins or not self._grammar.pairs else ""
        return text.removeprefix(line_end)

    def _write(self, text: str) -> None:
        plain = unescape(text, QUOTES) if self._grammar.cdata else text
        self._call.fragments.append(write_exactly(plain)[1:-1])


class _Parameter:
    """Collects the value of one parameter, and streams it if it is a string."""

    def __init__(self, stream: "TagStream", key: str, typed: str) -> None:
        call = stream.calls[-1]
        self.key, self.typed = key, typed
        self.pieces: list[str] = []
        prefix = ", " if call.fragments else "{"
        schema = stream.offered.schema(call.name)
        self.string: StringValue | None = None
        if typed in STRINGS or (not typed and is_text(schema, key, stream.offered.untyped)):
            call.fragments.append(f"{prefix}{write_exactly(key)}: ")
            self.string = StringValue(call, stream.grammar)
        self._prefix = prefix
        self._stream = stream

    def add(self, text: str) -> None:
        """Add the next text of the value."""
        if self.string is not None:
            self.string.add(text)
        else:
            self.pieces.append(text)

    def end(self) -> bool:
        """End the value at its closing tag; return whether it has its type."""
        if self.string is not None:
            self.string.end()
            return True
        stream, call = self._stream, self._stream.calls[-1]
        value = value_of(stream.grammar, self.typed, "".join(self.pieces))
        if value is None:
            return False
        schema, untyped = stream.offered.schema(call.name), stream.offered.untyped
        typed = type_parameters([(self.key, value)], schema, call.name, untyped)
        if typed.error:
            return False
        call.fragments.append(self._prefix + typed.arguments[1:-1])
        return True


class TagStream(BlockStream):
    """Streams a block of XML-like markup.

    Args:
        grammar: the tags of the dialect.
        opener: the marker that began the block; it is part of its first tag.
        offered: the tools of the request.
    """

    def __init__(self, grammar: Grammar, opener: str, offered: Offered) -> None:
        super().__init__(offered)
        self.grammar = grammar
        self._kept = opener
        self._wrapped = False
        self._in_call = self._call_ended = False
        self._value: _Parameter | None = None
        # The closing tag of the value and the white space after it; "" before it.
        self._closed = ""
        self._in_cdata = False

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        buffer, at = self._kept + text, 0
        while not self.over:
            if self._in_cdata:
                end = buffer.find(CDATA_END, at)
                keep = max(at, len(buffer) - len(CDATA_END) + 1) if end < 0 else end
                self._section(buffer[at:keep])
                if end < 0:
                    self._kept = buffer[keep:]
                    return
                at, self._in_cdata = end + len(CDATA_END), False
                continue
            match = self.grammar.tags.search(buffer, at)
            cdata = buffer.find(CDATA, at) if self.grammar.cdata else -1
            if cdata >= 0 and (match is None or cdata < match.start()):
                self._text(buffer[at:cdata])
                at, self._in_cdata = cdata + len(CDATA), True
                continue
            if match is None:
                break
            self._text(buffer[at : match.start()])
            if not self.over:
                self._tag(match)
            at = match.end()
        keep = buffer.find("<", max(at, len(buffer) - self.grammar.span + 1))
        keep = len(buffer) if keep < 0 else keep
        self._text(buffer[at:keep])
        self._kept = buffer[keep:]

    def _section(self, text: str) -> None:
        """Process the text of a CDATA section."""
        if self._value is None or self._closed:
            self.over = True
        elif self._value.string is not None:
            self._value.string.add_section(text)
        else:
            self.over = True

    def _text(self, text: str) -> None:
        """Process text without a tag."""
        if not text or self.over:
            return
        blank = text.isspace()
        if self._value is None or self._call_ended:
            self.over = not blank
        elif self._closed and blank:
            self._closed += text
        else:
            # Text follows, so the closing tag was part of the value.
            self._value.add(self._closed + text)
            self._closed = ""

    def _tag(self, match: "re.Match[str]") -> None:
        kind = str(match.lastgroup)
        if self._value is not None and not self._closed:
            self.over = kind != END_PARAMETER
            self._closed = match[0]
        elif kind == PARAMETER and self._in_call and not self._call_ended:
            self._begin_value(match)
        elif kind == END_CALL and self._in_call and not self._call_ended:
            self._call_ended = True
        elif kind == BLOCK and not (self._wrapped or self.calls):
            self._wrapped = True
        elif kind in (CALL, EMPTY_CALL) and (self._call_ended or not self.calls):
            self._begin_call(match, kind)
        else:
            self.over = True

    def _begin_call(self, match: "re.Match[str]", kind: str) -> None:
        if self.calls and not self._wrapped:
            self.over = True
            return
        name = match["name"] if kind == CALL else match["alone"]
        self.start(unescape(name, QUOTES) if self.grammar.escaped else name)
        self._in_call, self._call_ended = True, kind == EMPTY_CALL
        self._value, self._closed = None, ""

    def _begin_value(self, match: "re.Match[str]") -> None:
        fields = match.groupdict("")
        key = unescape(fields["key"], QUOTES) if self.grammar.escaped else fields["key"]
        if not key or (self._value is not None and not self._value.end()):
            self.over = True
            return
        self._value = _Parameter(self, key, fields.get("string", ""))
        self._closed = ""
