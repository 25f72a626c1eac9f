"""Read JSON in a text that is still arriving: its strings, and the end of an object-like part."""

import re
from string import hexdigits
from typing import ClassVar, Final

from harness.text_calls.boundaries import MORE, Ending, end_of

SPACE: Final = re.compile(r"[ \t\n\r]*+")
_LINE_SPACE: Final = re.compile(r"[ \t\r]*+")
_BACKSLASH: Final = "\\"
# Outside strings: what matters, or what JSON never contains.
MATTERS: Final = re.compile(r'["{}\[\]]|[^ \t\n\r0-9:,.+\-eEtrufalsn"{}\[\]]')
# The same if a line end matters too; then what matters once it is not JSON.
_MATTERS_IN_LINES: Final = re.compile(r'["{}\[\]\n]|[^ \t\r0-9:,.+\-eEtrufalsn]')
_BRACKETS_IN_LINES: Final = re.compile(r'["{}\[\]\n]')
PAIRS: Final = {"}": "{", "]": "["}
_KEY_CHARACTERS: Final = 16

PLAIN: Final = re.compile(r'[^"\\]*+')
_ESCAPES: Final = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
_HEX_END: Final = 6  # of \uXXXX
_LONE: Final = "\ufffd"


class Walk(Ending):
    """Walks over brackets and strings, and skips the content of strings.

    Fields:
        broken: whether the text is known not to be JSON.
    """

    # What a string may contain, escapes aside.
    inside: ClassVar["re.Pattern[str]"]

    def __init__(self) -> None:
        self.broken = False
        self._in_string = False
        self._escaped = False
        self._taken = 0

    def _string(self, text: str, at: int) -> int:
        """Skip a part of a string; return the index at which the walk continues."""
        if self._escaped:
            self._escaped = False
            return at + 1
        end = self.inside.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
        if end == len(text):
            return end
        # An escaped quotation mark does not end the string, and the text may end between the two.
        if text[end] == _BACKSLASH:
            self._escaped = True
        else:
            self._in_string = False
            self._after(text[end])
        return end + 1

    def _after(self, sign: str) -> None:
        """Process the character that ended a string: a quotation mark, or an invalid one."""


class LooseEnd(Walk):
    """Ends a block at the brace that closes its first one, whether it is JSON or other text.

    A reader that accepts JSON anywhere in an answer must not search for a call inside an object
    that is not a call (quirk TEXT-INNER-FRAGMENT). So any text in braces is one block. Text that is
    not JSON may never be closed. So it ends at a blank line, or at a line with a tag, which JSON
    never contains, unless its first key is one that calls have.

    Args:
        keys: first keys that show a call, broken or not. Only its closing bracket ends it.
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
        """Search the next text for the end of the block; see `Ending.feed`."""
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
    r"""Decodes one JSON string while it arrives, from after its opening quotation mark on.

    It holds back an incomplete escape and the first half of a surrogate pair (`\ud83d`
    before `\ude00`), because only both halves are a character. It accepts a control character that
    JSON requires to be escaped, because this text is shown and never executed.

    Fields:
        ended: the closing quotation mark has arrived.
        broken: the text contains an escape that JSON does not have; `held` is its start.
        held: the start of an incomplete escape, as it was written.
    """

    def __init__(self) -> None:
        self.ended = False
        self.broken = False
        self.held = ""
        self._high = ""

    def feed(self, text: str, at: int) -> tuple[str, int]:
        """Decode `text` from index `at` on; return the characters, and where it stopped."""
        out: list[str] = []
        while at < len(text) and not (self.ended or self.broken):
            if self.held:
                at = self._escape(text, at, out)
            elif text[at] == _BACKSLASH:
                self.held = _BACKSLASH
                at += 1
            elif text[at] == '"':
                self._emit("", out)
                self.ended = True
                at += 1
            else:
                stop = end_of(PLAIN, text, at)
                self._emit(text[at:stop], out)
                at = stop
        return "".join(out), at

    def _escape(self, text: str, at: int, out: list[str]) -> int:
        """Process one character of an escape; return the index after it."""
        sign = text[at]
        if self.held == "\\" and sign in _ESCAPES:
            self._emit(_ESCAPES[sign], out)
            self.held = ""
        elif (self.held == "\\" and sign == "u") or (len(self.held) > 1 and sign in hexdigits):
            self.held += sign
        else:
            self.broken = True
            return at
        # `\uXXXX` is one UTF-16 unit; a character outside the BMP is two of them (RFC 8259, 7).
        if len(self.held) == _HEX_END:
            self._unit(chr(int(self.held.removeprefix("\\u"), 16)), out)
            self.held = ""
        return at + 1

    def _unit(self, unit: str, out: list[str]) -> None:
        """Process one UTF-16 unit that an escape stands for."""
        if "\ud800" <= unit <= "\udbff":
            self._emit("", out)
            self._high = unit
        elif "\udc00" <= unit <= "\udfff":
            # Only the pair is a character; a lone half cannot be encoded as UTF-8.
            pair = (self._high + unit).encode("utf-16-le", "surrogatepass")
            out.append(pair.decode("utf-16-le") if self._high else _LONE)
            self._high = ""
        else:
            self._emit(unit, out)

    def _emit(self, text: str, out: list[str]) -> None:
        """Append `text` to `out`, after U+FFFD if half a surrogate pair is still waiting."""
        if self._high:
            out.append(_LONE)
            self._high = ""
        out.append(text)
