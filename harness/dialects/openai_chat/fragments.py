"""Join the fragments of one call's arguments, even if the provider repeats text.

Most providers append. Some send all the text so far in each fragment, or all of it again at the
end, or `{}` before the real object. Such a fragment starts with all the text before it, and
appending it can rarely give JSON. Only if it cannot, the fragment counts as a repetition. So
fragments that append to JSON, or to the start of it, are never read in another way. If a
stream mixes both ways, `fault` has the reason and the call must not be executed.
Quirks: ARGS-CUMULATIVE, ARGS-REPEATED-AT-END, ARGS-EMPTYOBJ-THEN-REAL.
"""

import re
from collections.abc import Sequence

from harness.turns.arguments import same_value
from harness.turns.json_prefix import PrefixState, prefix_state

_OUTSIDE = re.compile(r'[\[\]{}"]')
_INSIDE = re.compile(r'\\.?|"', re.DOTALL)
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_BLANKS = " \t\n\r"
# A number or a word that is longer than this cannot be a value that a caller means.
_SCALAR_CHARACTERS = 64


class Completeness:
    """Tracks whether a growing text is complete JSON."""

    __slots__ = (
        "_complete_text",
        "_cut_escape",
        "_depth",
        "_in_string",
        "_pieces_seen",
        "_size",
        "_start",
    )

    def __init__(self) -> None:
        self._pieces_seen = 0
        self._size = 0
        self._start = ""  # the first character that is not blank
        self._depth = 0
        self._in_string = False
        self._cut_escape = False  # the text so far ends with a backslash
        self._complete_text: bool | None = None  # None until the brackets were closed once

    def of(self, pieces: Sequence[str]) -> bool:
        """Return whether the text is complete JSON. `pieces` only grows from call to call."""
        for at in range(self._pieces_seen, len(pieces)):
            self._read(pieces[at])
        self._pieces_seen = len(pieces)
        if self._start not in ("{", "[", '"'):
            return self._size <= _SCALAR_CHARACTERS and _is_complete(pieces)
        if self._complete_text is None and self._depth <= 0 and not self._in_string:
            self._complete_text = _is_complete(pieces)
        return bool(self._complete_text)

    def _read(self, piece: str) -> None:
        self._size += len(piece)
        if self._complete_text is not None:
            self._complete_text = self._complete_text and not piece.strip(_BLANKS)
            return
        self._start = self._start or piece.lstrip(_BLANKS)[:1]
        position = 1 if self._cut_escape else 0
        self._cut_escape = False
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


_OPEN = (PrefixState.PREFIX, PrefixState.COMPLETE)
_PLACEHOLDER = "{}"
_TWO_READINGS = (
    "its last fragments repeat all the text before them: appended they are cut short, "
    "and whether they were meant to replace it cannot be known"
)
_BROKEN_OFF = "its fragments repeated all the text before them, and then one did not"


class Fragments:
    """Collects the fragments of one call's arguments, and returns the text that each adds."""

    def __init__(self) -> None:
        self.size = 0  # number of characters so far
        self.fault = ""  # why the text cannot be relied on
        self._pieces: list[str] = []
        self._completeness = Completeness()
        self._appending = False  # nothing but plain appending so far
        self._cumulative = False
        self._pending = False  # the text so far is a `{}` that was not given on yet
        self._in_doubt: list[str] = []  # fragments that may replace the text or extend it

    @property
    def text(self) -> str:
        """The text of the arguments so far."""
        return "".join(self._pieces)

    def append(self, fragment: str) -> str:
        """Append a fragment without any check."""
        self._pieces.append(fragment)
        self.size += len(fragment)
        return fragment

    def take(self, fragment: str) -> str:
        """Process a fragment; return the new text, or "" if it adds none or must wait."""
        size = len(fragment)
        if self._appending and size < self.size:
            if self._repeats(fragment):
                return ""
            self._pieces.append(fragment)
            self.size += size
            return fragment
        return self._take_rare(fragment)

    def close(self) -> str:
        """Return the text that was held back, because the call has ended."""
        if self._pending:
            return self.text
        last = self._in_doubt[-1] if self._in_doubt else ""
        rest = self._append_doubtful()
        if last and not self.complete() and prefix_state(last) is PrefixState.COMPLETE:
            self.fault = _TWO_READINGS
        return rest

    def complete(self) -> bool:
        """Return whether the text so far is one complete JSON value."""
        return self._completeness.of(self._pieces)

    def _take_rare(self, fragment: str) -> str:
        if self._pending:
            return self._after_placeholder(fragment)
        if self._in_doubt:
            return self._decide(fragment)
        if self._cumulative:
            return self._extend(fragment)
        if not self._appending:
            return self._first(fragment)
        return self._long(fragment)

    def _first(self, fragment: str) -> str:
        """Process the first fragment that is not blank; ignore blank fragments before it."""
        if not fragment.strip(_BLANKS):
            return ""
        self._pending = "".join(fragment.split()) == _PLACEHOLDER
        self._appending = not self._pending
        self.append(fragment)
        return "" if self._pending else fragment

    def _after_placeholder(self, fragment: str) -> str:
        if fragment.isspace():
            self.append(fragment)
            return ""
        if "".join(fragment.split()) == _PLACEHOLDER:
            return ""
        self._pending = False
        self._appending = True
        if not fragment.lstrip().startswith("{"):
            return self.text + self.append(fragment)
        self._restart("")
        return self.append(fragment)

    def _long(self, fragment: str) -> str:
        """Process a fragment at least as long as the text before it."""
        text = self.text
        if not fragment.startswith(text):
            return "" if self._repeats(fragment) else self.append(fragment)
        if prefix_state(text + fragment) in _OPEN:
            self._in_doubt.append(fragment)
            self._appending = False
            return ""
        return self._replace(fragment)

    def _decide(self, fragment: str) -> str:
        """Use a further fragment to decide whether held fragments append to the text or replace it.

        The text before the last held fragment is open JSON. So if this fragment can be appended to
        the last one, it can be appended to all of them, and no text is checked twice.
        """
        last = self._in_doubt[-1]
        if not fragment.startswith(last):
            rest = self._append_doubtful()
            return rest + self.take(fragment)
        if prefix_state(last + fragment) in _OPEN:
            self._in_doubt.append(fragment)
            return ""
        if prefix_state(fragment) in _OPEN:
            self._in_doubt.clear()
            return self._replace(fragment)
        return self._append_doubtful() + self.append(fragment)

    def _append_doubtful(self) -> str:
        doubtful = "".join(self._in_doubt)
        if doubtful:
            self._in_doubt.clear()
            self._appending = True
            self.append(doubtful)
        return doubtful

    def _replace(self, fragment: str) -> str:
        """Process a fragment that cannot be appended: replace the text if the fragment is JSON."""
        if prefix_state(fragment) not in _OPEN:
            return self.append(fragment)
        new = fragment[self.size :]
        self._appending = False
        self._cumulative = True
        self._restart(fragment)
        return new

    def _restart(self, text: str) -> None:
        self._completeness = Completeness()
        self._pieces = [text]
        self.size = len(text)

    def _extend(self, fragment: str) -> str:
        """Process a fragment of a call in which each fragment contains all the text so far."""
        so_far = self._pieces[0]
        if so_far.startswith(fragment):
            return ""
        if fragment.startswith(so_far) and not self.fault:
            return self._replace(fragment)
        if self._repeats(fragment):
            return ""
        if not fragment.isspace():
            self.fault = _BROKEN_OFF
        return self.append(fragment)

    def _repeats(self, fragment: str) -> bool:
        """Return whether a complete object is repeated, perhaps with other white space or order."""
        if not fragment.lstrip().startswith("{") or not fragment.rstrip().endswith("}"):
            return False
        return self.complete() and same_value(self.text, fragment)
