"""Segments of a body, and of the texts of one JSON key joined over all events, as views.

A body of up to a megabyte is one segment. A larger one is searched in segments, so that a search
needs the same memory for a body of any size.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Final

import msgspec

from harness.recording.secrets.views import Pieces, View

SEGMENT: Final = 1 << 20
CONTEXT: Final = 1 << 16
# Each level of escapes halves a run of backslashes; a segment begins at a multiple of what the
# levels together need.
_HALVED: Final = 1 << 6
_DATA: Final = ";base64,"
# The base64 of a data URL up to a boundary, also with escapes, of which the last may be incomplete.
_OPEN_DATA: Final = re.compile(
    r"(?:[A-Za-z0-9+/_=-]|\\+(?:/|u00[0-9a-fA-F]{2})|%(?:25)*[0-9a-fA-F]{2})*+"
    r"(?:\\+(?:u[0-9a-fA-F]{0,3})?|%[0-9a-fA-F]?)?"
)
# A key with its text, or the index that distinguishes parallel parts of one event.
_MEMBER: Final = re.compile(
    rb'"([^"\\\n]{1,64})"[ \t]*:[ \t]*"((?:[^"\\\n]++|\\.)*+)"|index"[ \t]*:[ \t]*([0-9]{1,6})|\n'
)


class Window(msgspec.Struct, frozen=True):
    """A range of a source that one segment owns.

    Fields:
        first: the first character that the segment owns.
        end: the character after the last.
        begin: the start of the context before `first`.
        in_data: whether `begin` is inside the base64 of a data URL.
    """

    first: int
    end: int
    begin: int
    in_data: bool


class Source:
    """A text of a body that is searched in segments: spans of its bytes, one after the other.

    Args:
        body: the bytes of the body.
        spans: start and end of each span in turn.
        name: the name of the text for messages.
    """

    def __init__(self, body: bytes, spans: "array[int]", name: str) -> None:
        self._body = body
        self._spans = spans
        sizes = (end - start for start, end in zip(spans[::2], spans[1::2], strict=True))
        self._starts = array("Q", accumulate(sizes, initial=0))
        self._root = View("", None, Pieces(), "the bytes")
        self._name = name

    @classmethod
    def of(cls, body: bytes) -> "Source":
        """Return the body itself as a source."""
        return cls(body, array("Q", (0, len(body))), "the bytes")

    def windows(self) -> Iterator[Window]:
        """Yield the ranges of the segments, in order."""
        size = self._starts[-1]
        begin, in_data = 0, False
        for first, end in pairwise((*range(0, max(size - CONTEXT, 1), SEGMENT), size)):
            near = first - CONTEXT
            if near > begin:
                before = self._text(begin, near, in_data=in_data)
                in_data = _is_in_data(before)
                run = 0 if in_data else len(before) - len(before.rstrip("\\"))
                begin = near - run % _HALVED
            yield Window(first, end, begin, in_data)

    def is_complete(self, window: Window, context: int) -> bool:
        """Whether a segment with so much context reaches the end of this source."""
        return window.end + context >= self._starts[-1]

    def segment(self, window: Window, context: int = CONTEXT) -> View:
        """Return a segment as a view, with so much context after it."""
        begin, end = window.begin, min(window.end + context, self._starts[-1])
        pieces, here = Pieces(), 0
        for start, stop in self._between(begin, end):
            pieces.add(here, start, stop - start)
            here += stop - start
        owned = range(window.first - begin, window.end - begin)
        text = self._text(begin, end, in_data=window.in_data)
        return View(text, self._root, pieces, self._name, owned)

    def segments(self) -> Iterator[View]:
        """Yield all segments, in order."""
        return map(self.segment, self.windows())

    def _between(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield start and end, in the body, of the spans between two characters."""
        at = bisect_right(self._starts, begin) - 1
        while begin < end:
            start = self._spans[2 * at] + begin - self._starts[at]
            stop = min(self._spans[2 * at + 1], start + end - begin)
            yield start, stop
            begin += stop - start
            at += 1

    def _text(self, begin: int, end: int, *, in_data: bool) -> str:
        """Return the text between two characters; after the start of a data URL if it is in one."""
        parts = (self._body[start:stop] for start, stop in self._between(begin, end))
        text = b"".join(parts).decode("latin-1")
        return f"{_DATA}{text[len(_DATA) :]}" if in_data else text


def joined_sources(body: bytes) -> Iterator[Source]:
    """Yield the joined texts of each JSON key in all events, and also those of each index alone."""
    spans: dict[str, array[int]] = {}
    index = ""
    for match in _MEMBER.finditer(body):
        start, end = match.span(2)
        if match[1] is None:
            index = (match[3] or b"").decode()
        elif start < end:
            key = match[1].decode("latin-1")
            for name in (key, f"{key} of index {index}") if index else (key,):
                spans.setdefault(name, array("Q")).extend((start, end))
    for name, found in spans.items():
        if _has_pieces(body, found):
            yield Source(body, found, f"the texts of {name!r} joined")


def _has_pieces(body: bytes, spans: "array[int]") -> bool:
    """Whether the texts differ; if all are equal, such as an id, the events do not split a text."""
    start, end, *others = spans
    whole = body[start:end]
    return any(body[start:end] != whole for start, end in zip(*[iter(others)] * 2, strict=True))


def _is_in_data(before: str) -> bool:
    """Whether the base64 of a data URL goes on after this text."""
    at = before.rfind(_DATA)
    return at >= 0 and _OPEN_DATA.fullmatch(before, at + len(_DATA)) is not None
