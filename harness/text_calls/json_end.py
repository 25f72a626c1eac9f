"""Find the end of a JSON block in a text that is still arriving, whatever its strings contain.

The search checks only as much of RFC 8259 as it needs to find where the text stops being JSON. From
there the next closing marker is the end of the block, so that a broken call does not contain the
next call. The reader of the complete block decides whether it is strict JSON.
"""

import re
from functools import cache
from typing import Final

from harness.text_calls.boundaries import (
    MORE,
    Ending,
    PatternEnd,
    SequenceEnd,
    any_literal,
    end_of,
    literal_end,
)
from harness.text_calls.json_scan import MATTERS, PAIRS, PLAIN, SPACE, Walk

_BRACKET: Final = re.compile(r"[{\[]")
_BETWEEN: Final = re.compile(r"[ \t\n\r,;]*+")
_AFTER_STRING: Final = ":,}]"
_BLANK_LINE: Final = r"\n[ \t\r]{0,24}+(\n)"
# The most characters that a marker can have, with what is before it.
_SPAN: Final = 256


def _marker_end(closers: tuple[str, ...], openers: tuple[str, ...]) -> SequenceEnd:
    """Return the `Ending` for broken JSON.

    It ends at a closing marker, or at an opening marker after a bracket or a blank line.
    """
    markers = (*closers, *openers)
    return SequenceEnd(
        PatternEnd(_broken_pattern(closers, openers, lines=True), _SPAN, inclusive=False),
        lambda text, at: (
            None if text.startswith(markers, at) else literal_end(*markers, inclusive=False)
        ),
    )


@cache
def _broken_pattern(
    closers: tuple[str, ...], openers: tuple[str, ...], *, lines: bool
) -> "re.Pattern[str]":
    """Return a pattern for the markers that end broken JSON; with `lines`, also for blank lines."""
    closing = any_literal(*closers)
    # Special tokens may follow the bracket. A closer among them comes first in the text.
    markers = any_literal(*closers, *openers)
    closed = rf"[}}\]]\s{{0,24}}+(?:(?!{markers})<\|\w{{1,32}}+\|>\s{{0,24}}+){{0,2}}+"
    after_bracket = [f"{closed}({any_literal(*openers)})"] if openers else []
    blank = [_BLANK_LINE] if lines else []
    return re.compile("|".join([closing, *after_bracket, *blank]))


class JsonEnd(Walk):
    """Ends a block after one JSON object or array, or after several in a row.

    Markup in a string is data, even if the string contains line ends, which JSON forbids, or if the
    text ends inside it. It counts only if the text after the string shows that its quotation
    mark is missing, as in `{"q": "x}</tool_call> <tool_call>{"name"`. A marker of another block
    must follow a closing bracket or, outside strings, a blank line, because text that quotes it
    may be quoted wrongly.

    Args:
        opened: the bracket that is part of the opening marker; "" if the JSON follows the marker,
            perhaps after other text, which belongs to the block.
        several: further values may follow, with white space, commas or semicolons between them.
        closers: markers that end a block with broken JSON. The block ends before them.
        openers: markers of another block, which also end it. Without closers, broken JSON
            continues to the end of the text.

    Fields:
        broken_at: the index, outside strings, at which the text stopped being JSON; `MORE` if all
            of it is JSON.
        string_end: the index after its last complete string.
    """

    inside = PLAIN

    def __init__(
        self,
        opened: str = "",
        *,
        several: bool = False,
        closers: tuple[str, ...] = (),
        openers: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self._stack = list(opened)
        self._several = several
        self._closers, self._openers = closers, openers
        self._pieces: list[str] = []  # the block, until its JSON is broken
        self._closer: Ending | None = None  # from then on
        self._end = MORE  # of the last complete value, if another may follow
        self._string_start: int  # of the last string
        self._after_string = False
        self.broken_at = MORE
        self.string_end = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        offset = self._taken - start
        self._taken += len(text) - start
        if not self.broken:
            end = self._json(text, start, offset)
            if end != MORE or not self._closers:
                return end
            stop = len(text) if self.broken_at == MORE else self.broken_at - offset
            self._pieces.append(text[start:stop])
            if self.broken_at == MORE:
                return MORE
            raw, start = "".join(self._pieces), stop
            end = self._closer_in_string(raw)
            if end != MORE:
                return end
            self._closer = _marker_end(self._closers, self._openers)
            self._closer.feed(raw, self.string_end)
        if self._closer is None:
            return MORE
        end = self._closer.feed(text, start)
        return end if end == MORE else self.string_end + end

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        return self._end

    def _json(self, text: str, start: int, offset: int) -> int:
        at, stop = start, len(text)
        while at < stop:
            if self._in_string:
                at = self._string(text, at)
                self.string_end = offset + at
                continue
            if not self._stack:
                at = self._gap(text, at)
                if at == stop:
                    return MORE
                if text[at] not in "{[":
                    return self._end
                self._end = MORE
            at = self._token(text, at)
            if self.broken:
                self.broken_at = offset + at
                return MORE
            if self._in_string:
                self._string_start = offset + at
            if not self._stack:
                self._end = offset + at
                if not self._several:
                    return self._end
        return MORE

    def _closer_in_string(self, raw: str) -> int:
        """Return the index of a marker in an unclosed string, if it counts there; else `MORE`."""
        if not self._after_string:
            return MORE
        pattern = _broken_pattern(self._closers, self._openers, lines=False)
        match = pattern.search(raw, self._string_start, self.string_end)
        return match.start(match.lastindex or 0) if match else MORE

    def _gap(self, text: str, at: int) -> int:
        """Return the index at which the next value may begin."""
        if self._end == MORE:
            match = _BRACKET.search(text, at)
            return match.start() if match else len(text)
        return end_of(_BETWEEN, text, at)

    def _after(self, _sign: str) -> None:
        self._after_string = True

    def _token(self, text: str, at: int) -> int:
        if self._after_string:
            at = SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
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
        elif sign in "{[":
            self._stack.append(sign)
        elif not (sign in PAIRS and self._stack.pop() == PAIRS[sign]):
            self.broken = True
            return match.start()
        return match.end()


def headed_end(
    closers: tuple[str, ...], openers: tuple[str, ...], *, brackets: tuple[str, ...] = ("{", "[")
) -> SequenceEnd:
    """Return an `Ending` that ends a block after the first JSON object in it.

    Args:
        closers: markers that end a block without JSON, or with broken JSON. It ends before them.
        openers: markers of another block, which also end it.
        brackets: characters that begin the JSON; no other part of a header contains them.
    """
    markers = (*closers, *openers)
    return SequenceEnd(
        literal_end(*markers, *brackets, inclusive=False),
        lambda text, at: (
            None if text.startswith(markers, at) else JsonEnd(closers=closers, openers=openers)
        ),
    )
