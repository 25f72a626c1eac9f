"""Growing text -> whether it is one whole JSON value, in time linear in the text.

Asked again and again while a text grows, a scan of all of it each time would be quadratic:
here brackets are counted from where the last answer stopped, and only a text in which all of
them are closed is scanned, once. It never says yes to what is no JSON value.
"""

import re
from collections.abc import Sequence

from harness.turns.json_prefix import PrefixState, prefix_state

_OUTSIDE = re.compile(r'[\[\]{}"]')
_INSIDE = re.compile(r'\\.?|"', re.DOTALL)
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_BLANKS = " \t\n\r"
# A number or a word that is longer than this is no value that a caller could mean.
_SCALAR_CHARACTERS = 64


class Completeness:
    """What is known of one text that only grows."""

    __slots__ = ("_cut_escape", "_depth", "_in_string", "_pieces_seen", "_start", "_whole")

    def __init__(self) -> None:
        self._pieces_seen = 0
        self._start = ""  # the first character that is no blank
        self._depth = 0
        self._in_string = False
        self._cut_escape = False  # the text so far ends with a backslash
        self._whole: bool | None = None  # None until the brackets were closed once

    def of(self, pieces: Sequence[str]) -> bool:
        """Return whether `pieces`, which begin with those of the call before, are complete."""
        for at in range(self._pieces_seen, len(pieces)):
            self._read(pieces[at])
        self._pieces_seen = len(pieces)
        if self._start not in ("{", "[", '"'):
            size = sum(map(len, pieces[: _SCALAR_CHARACTERS + 1]))
            return 0 < size <= _SCALAR_CHARACTERS and _is_complete(pieces)
        if self._whole is None and self._depth <= 0 and not self._in_string:
            self._whole = _is_complete(pieces)
        return bool(self._whole)

    def _read(self, piece: str) -> None:
        if self._whole is not None:
            self._whole = self._whole and not piece.strip(_BLANKS)
            return
        self._start = self._start or piece.lstrip(_BLANKS)[:1]
        position = 1 if self._cut_escape and piece else 0
        self._cut_escape = self._cut_escape and not piece
        while True:
            match = (_INSIDE if self._in_string else _OUTSIDE).search(piece, position)
            if match is None:
                return
            position = match.end()
            self._step(match[0])

    def _step(self, found: str) -> None:
        if found == '"':
            self._in_string = not self._in_string
        elif found == "\\":
            self._cut_escape = True
        else:
            self._depth += _STEPS.get(found, 0)


def _is_complete(pieces: Sequence[str]) -> bool:
    return prefix_state("".join(pieces)) is PrefixState.COMPLETE
