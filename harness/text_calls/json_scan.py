"""Where JSON in a text ends, found while the text arrives, whatever its strings contain."""

import re
from typing import Final

from harness.text_calls.boundaries import MORE, Ending, SequenceEnd, literal_end

_IN_STRING = re.compile(r'[^"\\\x00-\x1f]*+')
# Outside strings: what matters, or what no JSON has.
_MATTERS = re.compile(r'["{}\[\]]|[^ \t\n\r0-9:,.+\-eEtrufalsn"{}\[\]]')
_SPACE = re.compile(r"[ \t\n\r]*+")
_BRACKET = re.compile(r"[{\[]")
_BETWEEN = re.compile(r"[ \t\n\r,;]*+")
_PAIRS = {"}": "{", "]": "["}
_AFTER_STRING = ":,}]"
_BACKSLASH = "\\"


class JsonEnd(Ending):
    """A block that ends after one JSON object or array, or after several in a row.

    Args:
        opened: the bracket that the opening marker itself was; "" where JSON still follows.
        lead: other text may stand before the first value; it belongs to the block.
        several: further values follow, with white space, commas or semicolons between them.
        closers: markers that end a block whose JSON is broken; the block ends before them.
            Without any, broken JSON goes on to the end of the text.

    Fields:
        broken: it is no JSON.
        broken_at: where it stopped being JSON outside strings; `MORE` where it did not.
    """

    __slots__ = (
        "_after_string",
        "_closer",
        "_closer_at",
        "_end",
        "_escaped",
        "_in_string",
        "_lead",
        "_several",
        "_stack",
        "_taken",
        "broken",
        "broken_at",
    )

    def __init__(
        self,
        opened: str = "",
        *,
        lead: bool = False,
        several: bool = False,
        closers: tuple[str, ...] = (),
    ) -> None:
        self._stack = list(opened)
        self._lead = lead
        self._several = several
        self._closer = literal_end(*closers, inclusive=False) if closers else None
        self._closer_at = MORE
        self._taken = 0
        self._end = MORE  # of the last whole value, where another may follow
        self._in_string = False
        self._escaped = False
        self._after_string = False
        self.broken = False
        self.broken_at = MORE

    def feed(self, text: str, start: int) -> int:
        """See `Ending.feed`."""
        if self._closer and self._closer_at == MORE:
            self._closer_at = self._closer.feed(text, start)
        if not self.broken:
            end = self._json(text, start)
            if end != MORE:
                return end
        self._taken += len(text) - start
        return self._closer_at if self.broken else MORE

    def close(self) -> int:
        """See `Ending.close`."""
        return self._end if self._end != MORE else self._closer_at

    def _json(self, text: str, start: int) -> int:
        at, stop = start, len(text)
        offset = self._taken - start
        while at < stop:
            if self._in_string:
                at = self._string(text, at)
                if self.broken:
                    return MORE
                continue
            if not self._stack:
                at = self._gap(text, at)
                if at == stop:
                    break
                if text[at] not in "{[":
                    return self._no_value()
                self._stack.append(text[at])
                self._end, self._lead = MORE, False
                at += 1
                continue
            at = self._token(text, at)
            if self.broken:
                self.broken_at = offset + at
                return MORE
            if not self._stack:
                self._end = offset + at
                if not self._several:
                    return self._end
        return MORE

    def _gap(self, text: str, at: int) -> int:
        """Return where the next value may begin."""
        if self._lead:
            match = _BRACKET.search(text, at)
            return match.start() if match else len(text)
        gap = _BETWEEN if self._end != MORE else _SPACE
        return gap.match(text, at).end()  # type: ignore[union-attr]  # it matches ""

    def _no_value(self) -> int:
        """Something else stands where a value could: the end, or no JSON at all."""
        if self._end == MORE:
            self.broken = True
        return self._end

    def _string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        at = _IN_STRING.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
        if at == len(text):
            return at
        if text[at] == '"':
            self._in_string, self._after_string = False, True
        elif text[at] == _BACKSLASH:
            self._escaped = True
        else:
            self.broken = True
        return at + 1

    def _token(self, text: str, at: int) -> int:
        if self._after_string:
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
            if at == len(text):
                return at
            self._after_string = False
            if text[at] not in _AFTER_STRING:
                self.broken = True
                return at
        match = _MATTERS.search(text, at)
        if match is None:
            return len(text)
        sign = match[0]
        if sign == '"':
            self._in_string = True
        elif sign in "{[":
            self._stack.append(sign)
        elif not (sign in _PAIRS and self._stack.pop() == _PAIRS[sign]):
            self.broken = True
            return match.start()
        return match.end()


_IN_LOOSE_STRING = re.compile(r'[^"\\\n]*+')
_LINE_SPACE = re.compile(r"[ \t\r]*+")
# Outside strings: what matters, or what no JSON has; then what matters once it is no JSON.
_LOOSE_MATTERS = re.compile(r'["{}\[\]\n]|[^ \t\r0-9:,.+\-eEtrufalsn]')
_BRACKETS = re.compile(r'["{}\[\]\n]')
_ESCAPE_SIGN = "\\"
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
                at = _LINE_SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
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
        match = (_BRACKETS if self._broken else _LOOSE_MATTERS).search(text, at)
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
        end = _IN_LOOSE_STRING.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
        if self._key is not None:
            self._key = (self._key + text[at : min(end, at + _KEY_CHARACTERS)])[:_KEY_CHARACTERS]
        if end == len(text):
            return end
        if text[end] == _ESCAPE_SIGN:
            self._escaped = True
            return end + 1
        if text[end] == "\n":
            self._broken = self._line_start = True
        self._in_string = False
        self._call = self._call or self._key in self._keys
        self._key = None
        return end + 1


class HeadedEnd(SequenceEnd):
    """A block that ends after the first JSON object in it.

    Args:
        closers: markers that end a block without JSON, or with broken JSON, before them.
        brackets: those that begin the JSON; no other part of a header has them.
    """

    def __init__(self, closers: tuple[str, ...], *, brackets: str = "{[") -> None:
        header = literal_end(*closers, *brackets, inclusive=False)
        super().__init__(header, self._json)
        self._closers = closers

    def _json(self, text: str, at: int) -> Ending | None:
        return None if text.startswith(self._closers, at) else JsonEnd(closers=self._closers)
