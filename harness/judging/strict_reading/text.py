"""Pieces of text -> one text, and how much of it is complete at any moment.

Half of a surrogate pair at the end of a piece waits for its other half.
"""

from harness.turns.surrogates import join_surrogates


class GrowingText:
    """Text that arrives in pieces."""

    def __init__(self) -> None:
        self._complete: list[str] = []
        self._half = ""
        self.length = 0

    def add(self, piece: str) -> None:
        """Append `piece`."""
        piece = self._half + piece
        half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        whole = join_surrogates(piece.removesuffix(half) if half else piece)
        self._complete.append(whole)
        self._half = half
        self.length += len(whole)

    def value(self) -> str:
        """Return the text so far; a half that stayed alone is U+FFFD."""
        return "".join(self._complete) + join_surrogates(self._half)
