"""The object of a reply in the action protocol, while it is still arriving.

Reads the top level member by member: says `reasoning` and, once the action is `finish`, the
answer, as they come. It looks no closer at JSON than that needs; whether it was strict JSON,
and what it means, is asked of the whole object when its last brace has come.
"""

import re
from typing import Final

from harness.text_calls.notations.action_protocol import (
    ACTION_KEY,
    ANSWER_KEYS,
    CALLS_KEY,
    FINISH,
    REASONING_KEY,
    TOOL_CALL,
)

_PLAIN = re.compile(r'[^"\\]*+')
_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_HEX_END: Final = 6  # of \uXXXX
_LONE: Final = "\ufffd"


class JsonString:
    """One string, from behind its opening quotation mark on.

    Fields:
        ended: its closing quotation mark was taken.
        broken: an escape that JSON has not was met; `held` is as much of it as was taken.
        held: the start of an escape, as it was spelled.
    """

    __slots__ = ("_high", "broken", "ended", "held")

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
            plain = _PLAIN.match(text, at)
            stop = plain.end() if plain else at
            if stop > at:
                self._say(text[at:stop], out)
            at = stop
            if at == len(text):
                break
            if text[at] == '"':
                self._say("", out)
                self.ended = True
            else:
                self.held = "\\"
            at += 1
        return "".join(out), at

    def _escape(self, text: str, at: int, out: list[str]) -> int:
        """Take one character of an escape."""
        sign = text[at]
        if self.held == "\\" and sign in _ESCAPES:
            self._say(_ESCAPES[sign], out)
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
        """Take one UTF-16 unit that an escape spelled."""
        if "\ud800" <= unit <= "\udbff":
            self._say("", out)
            self._high = unit
        elif "\udc00" <= unit <= "\udfff":
            pair = (self._high + unit).encode("utf-16-le", "surrogatepass")
            out.append(pair.decode("utf-16-le") if self._high else _LONE)
            self._high = ""
        else:
            self._say(unit, out)

    def _say(self, text: str, out: list[str]) -> None:
        """Say `text`, and before it that the first half of a pair stayed alone."""
        if self._high:
            out.append(_LONE)
            self._high = ""
        out.append(text)


_SPACE = re.compile(r"[ \t\n\r]*+")
_SCALAR = re.compile(r"[-+.0-9A-Za-z]*+")
_SCALAR_BEGINS: Final = frozenset("-0123456789tfn")
# Inside a value that is no string: what matters, or what no JSON has.
_MATTERS = re.compile(r'["{}\[\]]|[^ \t\n\r0-9:,.+\-eEtrufalsn"{}\[\]]')
_PAIRS: Final = {"}": "{", "]": "["}


class ActionObject:
    """One object, from its opening brace on.

    Fields:
        said: (whether it is reasoning, text), in order, since it was taken last.
        action: the first value of that key, "" before it came.
        reasoned, answered: something of that kind was said.
        lists: the key of the calls was seen.
        whole: its last brace was taken.
        stuck: what came next cannot be JSON.
    """

    def __init__(self) -> None:
        self.said: list[tuple[bool, str]] = []
        self.action = ""
        self.reasoned = self.answered = self.lists = False
        self.whole = self.stuck = False
        self._raw: list[str] = []
        self._size = 0
        self._base = 0  # where `_size` characters were taken in the text at hand
        self._rest = 0
        self._step = self._brace
        self._key = ""
        self._string = JsonString()
        self._value: list[str] = []
        self._draft: dict[str, list[str]] = {}
        self._stack: list[str] = []
        self._quoted = False

    @property
    def committed(self) -> bool:
        """Whether it is a reply in the protocol, even if it breaks off."""
        return self.reasoned or self.lists or self.action in (TOOL_CALL, FINISH)

    @property
    def draft(self) -> str:
        """What may be the answer, from before the action was known."""
        return next(("".join(pieces) for pieces in self._draft.values()), "")

    @property
    def raw(self) -> str:
        """All that was taken."""
        return "".join(self._raw)

    @property
    def rest(self) -> str:
        """What was taken after the last text that was said."""
        return self.raw[self._rest :]

    def feed(self, text: str, at: int) -> int:
        """Take `text` from `at` on, up to the end of the object; return how far."""
        self._base = start = at
        while at < len(text) and not (self.whole or self.stuck):
            at = self._step(text, at)
        self._raw.append(text[start:at])
        self._size += at - start
        return at

    # One step after the other; each takes at least one character, or gets stuck at it

    def _brace(self, text: str, at: int) -> int:
        del text
        self._step = self._first_key
        return at + 1

    def _first_key(self, text: str, at: int) -> int:
        at = _skip(text, at)
        if at < len(text) and text[at] == "}":
            self.whole = True
            return at + 1
        return self._next_key(text, at)

    def _next_key(self, text: str, at: int) -> int:
        at = _skip(text, at)
        if at == len(text):
            return at
        if text[at] != '"':
            return self._stop(at)
        self._begin_string()
        self._step = self._in_key
        return at + 1

    def _in_key(self, text: str, at: int) -> int:
        piece, at = self._string.feed(text, at)
        self._value.append(piece)
        if self._string.broken:
            return self._stop(at)
        if self._string.ended:
            self._key = "".join(self._value)
            self.lists = self.lists or self._key == CALLS_KEY
            self._step = self._colon
        return at

    def _colon(self, text: str, at: int) -> int:
        at = _skip(text, at)
        if at == len(text):
            return at
        if text[at] != ":":
            return self._stop(at)
        self._step = self._begin_value
        return at + 1

    def _begin_value(self, text: str, at: int) -> int:
        at = _skip(text, at)
        if at == len(text):
            return at
        sign = text[at]
        if sign == '"':
            self._begin_string()
            self._step = self._in_string
        elif sign in "{[":
            self._stack = [sign]
            self._step = self._nested
        elif sign in _SCALAR_BEGINS:
            self._step = self._scalar
        else:
            return self._stop(at)
        return at + 1

    def _in_string(self, text: str, at: int) -> int:
        piece, at = self._string.feed(text, at)
        self._take(piece)
        if self._string.broken:
            self._rest = self._offset(at) - len(self._string.held)
            return self._stop(at)
        if self._string.ended:
            self._end_string(at)
            self._step = self._comma
        return at

    def _scalar(self, text: str, at: int) -> int:
        match = _SCALAR.match(text, at)
        at = match.end() if match else at
        if at < len(text):
            self._step = self._comma
        return at

    def _nested(self, text: str, at: int) -> int:
        if self._quoted:
            _, at = self._string.feed(text, at)
            self._quoted = not self._string.ended
            return self._stop(at) if self._string.broken else at
        match = _MATTERS.search(text, at)
        if match is None:
            return len(text)
        sign = match[0]
        if sign == '"':
            self._string, self._quoted = JsonString(), True
        elif sign in "{[":
            self._stack.append(sign)
        elif self._stack[-1] != _PAIRS.get(sign):
            return self._stop(match.start())
        else:
            self._stack.pop()
            self._step = self._step if self._stack else self._comma
        return match.end()

    def _comma(self, text: str, at: int) -> int:
        at = _skip(text, at)
        if at == len(text):
            return at
        if text[at] == "}":
            self.whole = True
        elif text[at] == ",":
            self._step = self._next_key
        else:
            return self._stop(at)
        return at + 1

    def _stop(self, at: int) -> int:
        self.stuck = True
        return at

    # Strings of the top level

    def _begin_string(self) -> None:
        self._string, self._value = JsonString(), []

    def _take(self, piece: str) -> None:
        """Take a piece of the value of a member."""
        if self._key == REASONING_KEY:
            self._say(piece, reasoning=True)
        elif self._key == ACTION_KEY and not self.action:
            self._value.append(piece)
        elif self._key in ANSWER_KEYS and not self.action:
            if piece:  # a key without text, said again and again, is kept nowhere
                self._draft.setdefault(self._key, []).append(piece)
        elif self._answers(self._key):
            self._say(piece, reasoning=False)
            self._draft = {self._key: [piece]} if piece else self._draft

    def _end_string(self, at: int) -> None:
        shown = self._key == REASONING_KEY or self._answers(self._key)
        self._rest = self._offset(at) - shown
        if self._key == ACTION_KEY and not self.action:
            self.action = "".join(self._value)
            if self.action == FINISH:
                self._say(self.draft, reasoning=False)

    def _answers(self, key: str) -> bool:
        """Whether this member is the answer: the first of its kind that says something."""
        said = next(iter(self._draft), key)
        return self.action == FINISH and key in ANSWER_KEYS and said == key

    def _offset(self, at: int) -> int:
        return self._size + at - self._base

    def _say(self, text: str, *, reasoning: bool) -> None:
        if text:
            self.said.append((reasoning, text))
            self.reasoned = self.reasoned or reasoning
            self.answered = self.answered or not reasoning


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
