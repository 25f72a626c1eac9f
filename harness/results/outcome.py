"""Define how a replay or a cell ended, and which party is to blame for a failed turn."""

from enum import StrEnum
from typing import Literal

Blame = Literal["", "model", "provider", "model or provider", "request", "normalizer", "harness"]


class Outcome(StrEnum):
    """The outcome of a replay or a cell, the worst first: by the harm to the user of the turn.

    A wrong call that an agent executes silently is the worst, because the user cannot see it. Then
    comes the loss of the whole turn, and then that of a part. So a client that keeps more of a turn
    than before has no worse outcome.
    """

    SILENT_WRONG = "silent_wrong"
    HANG = "hang"
    CRASH = "crash"
    LOST_CALL = "lost_call"
    LEAK = "leak"
    MISMATCH = "mismatch"
    UNJUDGED = "unjudged"
    PARSE_ERROR = "parse_error"
    PASS = "pass"  # noqa: S105 - not a password
    UNSUPPORTED = "unsupported"

    @property
    def badness(self) -> int:
        """The position in the order of outcomes: 0 for the worst, and larger for better ones."""
        return _ORDER[self]

    @property
    def conforms(self) -> bool:
        """Whether the client was correct. A reported parse error is correct, too."""
        return self in _CONFORMING

    @property
    def judged(self) -> bool:
        """Whether the harness judged the cell, so that it conforms or fails."""
        return self not in _NOT_JUDGED

    @property
    def fails(self) -> bool:
        """Whether the harness judged the cell and the cell does not conform."""
        return self.judged and not self.conforms


_ORDER = {outcome: index for index, outcome in enumerate(Outcome)}
# A large page needs these a million times, so they are looked up once.
_CONFORMING = (Outcome.PARSE_ERROR, Outcome.PASS)
_NOT_JUDGED = (Outcome.UNJUDGED, Outcome.UNSUPPORTED)
