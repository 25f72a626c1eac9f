"""JSON in a text that is still arriving: its strings, and where it ends.

Markers inside its strings do not end a block. Only as much of RFC 8259 is checked as decides
where the text stops being JSON: then the next closing marker is its end, so that one broken call
does not swallow the next. Whether it was strict JSON
is decided by the reader of the complete block.
"""

import re
from functools import cache
from typing import ClassVar, Final

from harness.text_calls.boundaries import (
    MORE,
    Ending,
    PatternEnd,
    SequenceEnd,
    any_literal,
    end_of,
    literal_end,
)

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_LINE_SPACE: Final = re.compile(r"[ \t\r]*+")
_BRACKET: Final = re.compile(r"[{\[]")
_BETWEEN: Final = re.compile(r"[ \t\n\r,;]*+")
_BACKSLASH: Final = "\\"
# Outside strings: what matters, or what JSON never contains.
MATTERS: Final = re.compile(r'["{}\[\]]|[^ \t\n\r0-9:,.+\-eEtrufalsn"{}\[\]]')
# The same if a line end matters too; then what matters once it is not JSON.
_MATTERS_IN_LINES: Final = re.compile(r'["{}\[\]\n]|[^ \t\r0-9:,.+\-eEtrufalsn]')
_BRACKETS_IN_LINES: Final = re.compile(r'["{}\[\]\n]')
PAIRS: Final = {"}": "{", "]": "["}
_AFTER_STRING: Final = ":,}]"
# A closing bracket, and perhaps special tokens after it.
_CLOSED: Final = r"[}\]]\s{0,24}+(?:<\|\w{1,32}+\|>\s{0,24}+){0,2}+"
_BLANK_LINE: Final = r"\n[ \t\r]{0,24}+(\n)"
_MARKER_CHARACTERS: Final = 256
_KEY_CHARACTERS: Final = 16

_PLAIN: Final = re.compile(r'[^"\\]*+')
_ESCAPES: Final = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_HEX_END: Final = 6  # of \uXXXX
_LONE: Final = "\ufffd"


class _Walk(Ending):
    """Walks over brackets and strings; reports of a string only where it ends.

    Fields:
        broken: it is not JSON.
    """

    # What a string may contain, escapes aside.
    inside: ClassVar["re.Pattern[str]"]

    def __init__(self) -> None:
        self.broken = False
        self._in_string = False
        self._escaped = False
        self._taken = 0

    def _string(self, text: str, at: int) -> int:
        """Take a part of a string; return how far."""
        if self._escaped:
            self._escaped = False
            return at + 1
        end = self.inside.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
        if end == len(text):
            return end
        if text[end] == _BACKSLASH:
            self._escaped = True
        else:
            self._in_string = False
            self._after(text[end])
        return end + 1

    def _after(self, sign: str) -> None:
        """Take the character that ends a string: its quotation mark, or one it cannot contain."""


def _marker_end(closers: tuple[str, ...], openers: tuple[str, ...]) -> SequenceEnd:
    """Return the end of broken JSON: a closer, or an opener after a bracket or in a paragraph."""
    markers = (*closers, *openers)
    return SequenceEnd(
        PatternEnd(_broken_pattern(closers, openers), _MARKER_CHARACTERS, inclusive=False),
        lambda text, at: (
            None if text.startswith(markers, at) else literal_end(*markers, inclusive=False)
        ),
    )


@cache
def _broken_pattern(closers: tuple[str, ...], openers: tuple[str, ...]) -> "re.Pattern[str]":
    after_bracket = [f"{_CLOSED}({any_literal(*openers)})"] if openers else []
    return re.compile("|".join([*map(any_literal, closers), *after_bracket, _BLANK_LINE]))


class JsonEnd(_Walk):
    """A block that ends after one JSON object or array, or after several in a row.

    Markup in a string is data, also if the string contains lines, which JSON forbids, or if the
    end of the text cuts it. It counts only if what follows the string shows that its quotation
    mark is missing, as in `{"q": "x}</tool_call> <tool_call>{"name"`. A marker of another block
    must follow a closing bracket or a blank line, because text that quotes it may be quoted
    wrongly.

    Args:
        opened: the bracket that the opening marker itself was; "" if JSON still follows.
        lead: other text may precede the first value; it belongs to the block.
        several: further values follow, with white space, commas or semicolons between them.
        closers: markers that end a block whose JSON is broken; the block ends before them.
        openers: markers of another block, which do so too. Without closers, broken JSON
            continues to the end of the text.

    Fields:
        broken_at: where it stopped being JSON outside strings; `MORE` if it did not.
        string_end: up to where its last string was taken.
    """

    inside = _PLAIN

    def __init__(
        self,
        opened: str = "",
        *,
        lead: bool = False,
        several: bool = False,
        closers: tuple[str, ...] = (),
        openers: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self._stack = list(opened)
        self._lead = lead
        self._several = several
        self._closers, self._openers = closers, openers
        self._brackets = ""  # the last two since the last string
        self._bracket_at = MORE  # after the last one
        self._closer: Ending | None = None  # once it is broken
        self._closer_base = self._break_at = 0
        self._end = MORE  # of the last complete value, if another may follow
        self._string_pieces: list[str] = []
        self._after_string = False
        self.broken_at = MORE
        self.string_end = 0

    def feed(self, text: str, start: int) -> int:
        """See `Ending.feed`."""
        offset = self._taken - start
        self._taken += len(text) - start
        if not self.broken:
            end = self._json(text, start, offset)
            if end != MORE or not self.broken:
                return end
            end = self._closer_in_string()
            if end != MORE:
                return end
            start = self._break_at - offset
        if self._closer is None:
            return MORE
        end = self._closer.feed(text, start)
        return end if end == MORE else self._closer_base + end

    def close(self) -> int:
        """See `Ending.close`."""
        return self._end

    def _json(self, text: str, start: int, offset: int) -> int:
        at, stop = start, len(text)
        while at < stop:
            if self._in_string:
                begun, at = at, self._string(text, at)
                self._string_pieces.append(text[begun:at])
                self.string_end = offset + at
            elif self._stack:
                depth = len(self._stack)
                at = self._token(text, at)
                if self.broken:
                    self.broken_at = offset + at
                    return self._break(offset + at)
                if len(self._stack) != depth:
                    self._brackets = (self._brackets + text[at - 1])[-2:]
                    self._bracket_at = offset + at
                if not self._stack:
                    self._end = offset + at
                    if not self._several:
                        return self._end
            else:
                at = self._gap(text, at)
                if at == stop:
                    break
                if text[at] not in "{[":
                    # The end, or not JSON at all.
                    self.broken = self._end == MORE
                    return self._break(offset + at) if self.broken else self._end
                self._stack.append(text[at])
                self._end, self._lead = MORE, False
                at += 1
                self._bracket_at = offset + at
        return MORE

    def _break(self, at: int) -> int:
        """Look for markers from `at` on, or from the brackets before it, which one may contain."""
        self._break_at = self._closer_base = at
        if not self._closers:
            return MORE
        if self._bracket_at == MORE:
            self._closer = literal_end(*self._closers, *self._openers, inclusive=False)
            return MORE
        self._closer = _marker_end(self._closers, self._openers)
        if self._brackets[-1:] in PAIRS or at == self._bracket_at:
            self._closer_base -= len(self._brackets)
            self._closer.feed(self._brackets, 0)
        return MORE

    def _closer_in_string(self) -> int:
        """Return where a marker is in a string that was never closed, if it counts there."""
        if not (self._after_string and self._closers):
            return MORE
        string = "".join(self._string_pieces)
        end = _marker_end(self._closers, self._openers).feed(string, 0)
        return end if end == MORE else self.string_end - len(string) + end

    def _gap(self, text: str, at: int) -> int:
        """Return where the next value may begin."""
        if self._lead:
            match = _BRACKET.search(text, at)
            return match.start() if match else len(text)
        return end_of(_BETWEEN if self._end != MORE else _SPACE, text, at)

    def _after(self, _sign: str) -> None:
        self._after_string = True

    def _token(self, text: str, at: int) -> int:
        if self._after_string:
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
            if at == len(text):
                return at
            if text[at] not in _AFTER_STRING:
                self.broken = True
                return at
            self._after_string = False
        match = MATTERS.search(text, at)
        if match is None:
            return len(text)
        sign = match[0]
        if sign == '"':
            self._in_string = True
            self._string_pieces = []
            self._brackets = ""
        elif sign in "{[":
            self._stack.append(sign)
        elif not (sign in PAIRS and self._stack.pop() == PAIRS[sign]):
            self.broken = True
            return match.start()
        return match.end()


class LooseEnd(_Walk):
    """The end of what one opening bracket opened: a JSON object, or what only looks like one.

    A reader that takes JSON anywhere in an answer must not look for a call inside an object that
    is not a call (quirk TEXT-INNER-FRAGMENT), so each thing in braces is one block up to the brace
    that closes it. What is not JSON may never be closed: it ends if a blank line follows, or a
    line with a tag, which JSON never contains, unless its first key is one that calls have.

    Args:
        keys: first keys that make it a call, broken or not, which only its own bracket ends.
    """

    inside = re.compile(r'[^"\\\n]*+')

    def __init__(self, keys: frozenset[str]) -> None:
        super().__init__()
        self._keys = keys
        self._key: str | None = ""  # the first string as far as it came; None after it
        self._call = False
        self._depth = 1
        self._line_start = False

    def feed(self, text: str, start: int) -> int:
        """See `Ending.feed`."""
        at, stop = start, len(text)
        while at < stop:
            if self._in_string:
                if self._key is not None:
                    taken = self._key + text[at : end_of(self.inside, text, at)]
                    self._key = taken[:_KEY_CHARACTERS]
                at = self._string(text, at)
                continue
            if self._line_start:
                at = end_of(_LINE_SPACE, text, at)
                if at == stop:
                    break
                if not self._call and (text[at] == "<" or (self.broken and text[at] == "\n")):
                    return self._taken + at - start
                self._line_start = False
            at = self._token(text, at)
            if not self._depth:
                return self._taken + at - start
        self._taken += stop - start
        return MORE

    def _token(self, text: str, at: int) -> int:
        match = (_BRACKETS_IN_LINES if self.broken else _MATTERS_IN_LINES).search(text, at)
        if match is None:
            return len(text)
        sign = match[0]
        if sign == '"':
            self._in_string = True
        elif sign in "{[":
            self._depth += 1
        elif sign in "}]":
            self._depth -= 1
        elif sign == "\n":
            self._line_start = True
        else:
            self.broken = True
        return match.end()

    def _after(self, sign: str) -> None:
        if sign == "\n":
            self.broken = self._line_start = True
        self._call = self._call or self._key in self._keys
        self._key = None


class JsonString:
    r"""The characters of one string, from after its opening quotation mark on.

    An incomplete escape is held back, and so is the first half of a surrogate pair (`\ud83d`
    before `\ude00`), because only both are a character. A control character that JSON requires to
    be escaped is taken unchanged: what is read here is shown, never executed.

    Fields:
        ended: its closing quotation mark was taken.
        broken: an escape that JSON does not have was found; `held` is the part that was taken.
        held: the start of an escape, as it was written.
    """

    def __init__(self) -> None:
        self.ended = False
        self.broken = False
        self.held = ""
        self._high = ""

    def feed(self, text: str, at: int) -> tuple[str, int]:
        """Take `text` from `at` on; return the characters it gave, and how far it was taken."""
        out: list[str] = []
        while at < len(text) and not (self.ended or self.broken):
            if self.held:
                at = self._escape(text, at, out)
                continue
            stop = end_of(_PLAIN, text, at)
            if stop > at:
                self._emit(text[at:stop], out)
            at = stop
            if at == len(text):
                break
            if text[at] == '"':
                self._emit("", out)
                self.ended = True
            else:
                self.held = "\\"
            at += 1
        return "".join(out), at

    def _escape(self, text: str, at: int, out: list[str]) -> int:
        """Take one character of an escape."""
        sign = text[at]
        if self.held == "\\" and sign in _ESCAPES:
            self._emit(_ESCAPES[sign], out)
            self.held = ""
        elif (self.held == "\\" and sign == "u") or (len(self.held) > 1 and sign in _HEX):
            self.held += sign
        else:
            self.broken = True
            return at
        if len(self.held) == _HEX_END:
            self._unit(chr(int(self.held.removeprefix("\\u"), 16)), out)
            self.held = ""
        return at + 1

    def _unit(self, unit: str, out: list[str]) -> None:
        """Take one UTF-16 unit that an escape wrote."""
        if "\ud800" <= unit <= "\udbff":
            self._emit("", out)
            self._high = unit
        elif "\udc00" <= unit <= "\udfff":
            pair = (self._high + unit).encode("utf-16-le", "surrogatepass")
            out.append(pair.decode("utf-16-le") if self._high else _LONE)
            self._high = ""
        else:
            self._emit(unit, out)

    def _emit(self, text: str, out: list[str]) -> None:
        """Emit `text`, after a replacement for the first half of a pair that stayed alone."""
        if self._high:
            out.append(_LONE)
            self._high = ""
        out.append(text)


def headed_end(
    closers: tuple[str, ...], openers: tuple[str, ...], *, brackets: str = "{["
) -> SequenceEnd:
    """Return the ending of a block that ends after the first JSON object in it.

    Args:
        closers: markers that end a block without JSON, or with broken JSON, before them.
        openers: markers of another block, which do so too.
        brackets: those that begin the JSON; no other part of a header has them.
    """
    markers = (*closers, *openers)
    return SequenceEnd(
        literal_end(*markers, *brackets, inclusive=False),
        lambda text, at: (
            None if text.startswith(markers, at) else JsonEnd(closers=closers, openers=openers)
        ),
    )
