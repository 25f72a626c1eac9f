r"""Views of a body: texts that a reader can see in it, each character with its bytes.

The views are: the body itself, the body with escapes decoded (`@` for `\u0040`), the strings of one
JSON key joined over all events (a delta stream), and these with escapes decoded. A byte is one
character (Latin-1), because detectors match ASCII only.

Views are made of one segment of the body after the other, because the views of a complete body that
is full of escapes need many times its memory. A segment owns a range of its characters; before and
after it, the segment has text of its neighbors as context, so that a secret on a boundary is
completely in one segment.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from io import StringIO
from typing import Final

# Escapes inside escapes: arguments are JSON in a JSON string, and may contain JSON again.
MOST_LEVELS: Final = 5
# Addresses in the parameters of addresses.
MOST_QUOTED: Final = 2

JSON_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
URL_ESCAPE: Final = re.compile(r"%([0-9a-fA-F]{2})()")

# Length of an escape -> how many hexadecimal digits it ends with.
_HEX_DIGITS: Final = {3: 2, 6: 4}
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Pieces:
    """The runs of characters that a view took from the text of its parent, in order.

    Three arrays store the numbers. If a body is full of escapes, a list of tuples would need a
    hundred times the memory of the body.
    """

    def __init__(self) -> None:
        self.starts, self.theres, self.lengths = array("I"), array("I"), array("I")

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, there: int, length: int) -> None:
        """Add a run: its start in the view, and its start and length in the parent."""
        self.starts.append(start)
        self.theres.append(there)
        self.lengths.append(length)


class View:
    """A text that a reader can see in a body, and the source of each character.

    Args:
        text: the text that detectors search.
        parent: the view from which this text was made; None for the bytes themselves.
        pieces: the runs of characters, in the order of this text. A run of one character may
            replace several characters of the parent.
        name: the name for messages.
        owned: the indexes that belong to this segment, and not to its context; None for a view of
            a segment.
    """

    def __init__(
        self,
        text: str,
        parent: "View | None",
        pieces: Pieces,
        name: str,
        owned: range | None = None,
    ) -> None:
        self.text = text
        self.name = name
        self._parent = parent
        self._pieces = pieces
        self._owned = owned

    def owns(self, index: int) -> bool:
        """Whether the character at `index` belongs to the segment, and not to its context."""
        if self._owned is not None or self._parent is None:
            return self._owned is None or index in self._owned
        first, _ = self._above(index)
        return self._parent.owns(first)

    def bytes_of(self, index: int) -> Iterator[int]:
        """Yield the offsets of the bytes of the character at `index`."""
        if self._parent is None:
            yield index
            return
        first, length = self._above(index)
        for there in range(first, first + length):
            yield from self._parent.bytes_of(there)

    def is_escape(self, index: int) -> bool:
        """Whether the character at `index` is an escape in this view or in a parent."""
        if self._parent is None:
            return False
        first, length = self._above(index)
        return length > 1 or self._parent.is_escape(first)

    def put(self, body: bytearray, index: int, char: str) -> None:
        """Replace the character at `index` by `char` in `body`, as an escape if it was one."""
        if self._parent is None:
            body[index] = ord(char)
            return
        first, length = self._above(index)
        digits = f"{ord(char):02x}".rjust(_HEX_DIGITS.get(length, 0), "0") if length > 1 else char
        for there, digit in enumerate(digits, first + length - len(digits)):
            self._parent.put(body, there, digit)

    def unescaped(self, escape: re.Pattern[str] = JSON_ESCAPE) -> "View | None":
        """Return a view with one level of escapes decoded, or None if this view has no escapes."""
        text = StringIO()
        pieces = Pieces()
        here = there = 0
        for match in escape.finditer(self.text):
            start, end = match.span()
            plain = start - there
            if plain:
                text.write(self.text[there:start])
                pieces.add(here, there, plain)
            text.write(_unescaped_character(match))
            pieces.add(here + plain, start, end - start)
            here, there = here + plain + 1, end
        if not pieces:
            return None
        if there < len(self.text):
            text.write(self.text[there:])
            pieces.add(here, there, len(self.text) - there)
        return View(text.getvalue(), self, pieces, f"{self.name}, escapes decoded")

    def unquoted(self) -> Iterator["View"]:
        """Yield the views without percent-escapes such as `%40`: decoded once, and twice."""
        view = self
        for _ in range(MOST_QUOTED):
            found = view.unescaped(URL_ESCAPE) if "%" in view.text else None
            if found is None:
                return
            yield found
            view = found

    def escapes(self) -> Iterator[int]:
        """Yield the indexes of the characters that are escapes in the parent."""
        starts = self._pieces.starts
        return (starts[at] for at in range(len(starts)) if self._is_unit(at))

    def _above(self, index: int) -> tuple[int, int]:
        """Return the offset and the length, in the parent, of the character at `index`."""
        pieces = self._pieces
        at = bisect_right(pieces.starts, index) - 1
        there = pieces.theres[at]
        if self._is_unit(at):
            return there, pieces.lengths[at]
        return there + index - pieces.starts[at], 1

    def _is_unit(self, at: int) -> bool:
        """Whether the run with this number is one character for several of the parent."""
        pieces = self._pieces
        last = at + 1 == len(pieces)
        end = len(self.text) if last else pieces.starts[at + 1]
        return pieces.lengths[at] > 1 and end - pieces.starts[at] == 1


def unescaped_views(view: View, escape: re.Pattern[str] = JSON_ESCAPE) -> Iterator[View]:
    """Yield `view`, then the views with its escapes decoded, level by level."""
    found: View | None = view
    for _ in range(MOST_LEVELS + 1):
        if found is None:
            return
        yield found
        found = found.unescaped(escape)


def _unescaped_character(match: re.Match[str]) -> str:
    """Return the character of an escape; if it does not fit in a byte, a harmless placeholder."""
    if match[2]:
        return _SHORT.get(match[2], match[2])
    number = int(match[1], 16)
    return chr(number) if number < 0x100 else "\xff"  # noqa: PLR2004 - the values of a byte
