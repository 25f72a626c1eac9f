"""Read calls in Python's syntax while their text still arrives.

A string is streamed up to an escape that is not whole, and any other value comes when a comma or
the closing parenthesis follows it.
"""

import re
from typing import Final

from harness.text_calls.boundaries import BRACKETS
from harness.text_calls.dialect import Offered
from harness.text_calls.python import CALL, STRING, read_escape, read_python_literal
from harness.text_calls.streamed import BlockStream
from harness.turns.exact_json import write_exactly

_BEGIN: Final = re.compile(r"\s*+\[?+\s*+")
_KEYWORD: Final = re.compile(r"\s*+([^\W\d][\w.\-]*+)\s*+=(?!=)\s*+")
_QUOTE: Final = re.compile(r"'''|\"\"\"|'(?!'')|\"(?!\"\")")
_STRING_SIGN: Final = re.compile(r"[\\\n'\"]")
_NEXT: Final = re.compile(r"\s*+([,)])")
_BETWEEN: Final = re.compile(r"\s*+[,;]?+\s*+")
# What may end a value, and what it may contain.
_SKIM: Final = re.compile(rf"{STRING}|(?P<cut>['\"])|[()\[\]{{}},]", re.DOTALL)
# What a name, a value other than a string, or an escape may have at most.
_LONGEST: Final = 2_048
# The characters of an escape after the backslash, by its letter; any other has one.
_ESCAPE_SIZES: Final = {"x": 3, "u": 5, "U": 9, "N": 102, "\r": 2, **dict.fromkeys("01234567", 4)}


class PythonStream(BlockStream):
    """Streams calls in Python's syntax.

    Args:
        offered: the tools of the request.
        method: a method after the name that is not part of it.
    """

    def __init__(self, offered: Offered, method: str = "") -> None:
        super().__init__(offered)
        self._method = method
        self._kept = ""
        self._quote = ""
        self._in_call = False

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        text, self._kept = self._kept + text, ""
        at = 0
        while not self.over and at < len(text):
            if self._quote:
                end = self._string(text, at)
            else:
                end = self._argument(text, at) if self._in_call else self._begin(text, at)
            if end < 0:
                self._kept = text[at:]
                self.over = len(self._kept) > _LONGEST
                return
            at = end

    def _begin(self, text: str, at: int) -> int:
        """Start a call; return the index after its parenthesis, or -1 if more text decides."""
        lead = (_BETWEEN if self.calls else _BEGIN).match(text, at)
        match = CALL.match(text, lead.end() if lead else at)
        if match is None:
            self.over = "(" in text[at:] or "]" in text[at:]
            return -1
        name = match[1]
        plain = name if name in self.offered else name.removesuffix(self._method)
        self._in_call = self.start(plain) is not None
        return match.end()

    def _argument(self, text: str, at: int) -> int:
        """Process a keyword and the start of its value; return where to continue, or -1."""
        over = _NEXT.match(text, at)
        if over:
            return self._next(over)
        keyword = _KEYWORD.match(text, at)
        if keyword is None or len(text) - keyword.end() < len("'''"):
            return -1
        call = self.calls[-1]
        lead = f"{', ' if call.fragments else '{'}{write_exactly(keyword[1])}: "
        quote = _QUOTE.match(text, keyword.end())
        if quote:
            self._quote = quote[0]
            call.fragments += (lead, '"')
            return quote.end()
        end = self._end_of_value(text, keyword.end())
        literal = read_python_literal(text[keyword.end() : end].rstrip()) if end >= 0 else None
        if literal is None:
            self.over = end >= 0
            return -1
        call.fragments.append(lead + literal)
        return end

    def _next(self, sign: "re.Match[str]") -> int:
        """Process what follows a value: a comma, or the end of the call."""
        if sign[1] == ")":
            call = self.calls[-1]
            call.fragments.append("}" if call.fragments else "{}")
            self._in_call = False
        return sign.end()

    def _end_of_value(self, text: str, at: int) -> int:
        """Return the index of the comma or parenthesis after a value; -1 if it did not arrive."""
        depth = 0
        for match in _SKIM.finditer(text, at):
            if match["cut"]:
                return -1
            if match["string"]:
                continue
            if not depth and match[0] in (",", ")"):
                return match.start()
            depth += BRACKETS.get(match[0], 0)
        return -1

    def _string(self, text: str, at: int) -> int:
        """Emit a part of a string; return the index after it, or -1 if all of it must wait."""
        quote = self._quote
        match = _STRING_SIGN.search(text, at)
        end = match.start() if match else len(text)
        if end > at:
            self._write(text[at:end])
            return end
        if text[at] == "\\":
            return self._escape(text, at)
        if text.startswith(quote, at):
            self._quote = ""
            self.calls[-1].fragments.append('"')
            return at + len(quote)
        if quote.startswith(text[at:]):
            return -1
        self.over = text[at] == "\n" and len(quote) == 1
        self._write(text[at])
        return at + 1

    def _escape(self, text: str, at: int) -> int:
        """Emit an escape; return the index after it, or -1 if it is not whole."""
        letter = text[at + 1 : at + 2]
        if not letter or len(text) - at - 1 < _ESCAPE_SIZES.get(letter, 1):
            return -1
        found = read_escape(text, at)
        if found is None:
            self.over = True
            return -1
        self._write(found[0])
        return found[1]

    def _write(self, text: str) -> None:
        self.calls[-1].fragments.append(write_exactly(text)[1:-1])
