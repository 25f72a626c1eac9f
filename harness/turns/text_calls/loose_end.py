"""Where braces in prose close: around a JSON object, or around what only looks like one.

A reader that takes JSON anywhere in an answer must not look for a call inside an object that is
none (quirk TEXT-INNER-FRAGMENT), so each thing in braces is one block up to the brace that
closes it, whatever it is. What is no JSON may never be closed: it ends where a blank line follows,
or a line with a tag, which no JSON has, unless its first key is one that calls have.
"""

import re
from typing import Final

from harness.turns.text_calls.endings import MORE, Ending

_IN_STRING = re.compile(r'[^"\\\n]*+')
_SPACE = re.compile(r"[ \t\r]*+")
# Outside strings: what matters, or what no JSON has; then what matters once it is no JSON.
_MATTERS = re.compile(r'["{}\[\]\n]|[^ \t\r0-9:,.+\-eEtrufalsn]')
_BRACKETS = re.compile(r'["{}\[\]\n]')
_BACKSLASH = "\\"
_KEY_CHARACTERS: Final = 16


class LooseEnd(Ending):
    """The end of what one opening bracket opened.

    Args:
        keys: first keys that make it a call, broken or not, which only its own bracket ends.
    """

    __slots__ = (
        "_broken",
        "_call",
        "_depth",
        "_escaped",
        "_in_string",
        "_key",
        "_keys",
        "_line_start",
        "_taken",
    )

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = keys
        self._key: str | None = ""
        self._call = False
        self._depth = 1
        self._in_string = False
        self._escaped = False
        self._broken = False
        self._line_start = False
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """See `Ending.feed`."""
        at, stop = start, len(text)
        while at < stop:
            if self._in_string:
                at = self._string(text, at)
                continue
            if self._line_start:
                at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
                if at == stop:
                    break
                if not self._call and (text[at] == "<" or (self._broken and text[at] == "\n")):
                    return self._taken + at - start
                self._line_start = False
            at = self._token(text, at)
            if not self._depth:
                return self._taken + at - start
        self._taken += stop - start
        return MORE

    def _token(self, text: str, at: int) -> int:
        match = (_BRACKETS if self._broken else _MATTERS).search(text, at)
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
            self._broken = True
        return match.end()

    def _string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        end = _IN_STRING.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
        if self._key is not None:
            self._key = (self._key + text[at : min(end, at + _KEY_CHARACTERS)])[:_KEY_CHARACTERS]
        if end == len(text):
            return end
        if text[end] == _BACKSLASH:
            self._escaped = True
            return end + 1
        if text[end] == "\n":
            self._broken = self._line_start = True
        self._in_string = False
        self._call = self._call or self._key in self._keys
        self._key = None
        return end + 1
