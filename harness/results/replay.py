"""One replay: what a client emitted for one interaction under one chunking."""

import msgspec

from harness.turns.deltas import Delta, StreamFailure
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking


class Emission(msgspec.Struct, frozen=True, gc=False):
    """A delta, and how many bytes had been read when it was emitted."""

    delta: Delta
    bytes_read: int


class Replay(msgspec.Struct, frozen=True):
    """The result of one normalizer on one interaction under one chunking.

    Fields:
        error: the exception that the normalizer raised, `Type: text`; "" if it raised none.
        raised: `raised_in` that exception.
        hung: it neither yielded nor ended within its limits.
        is_read_ahead: another thread took reads, as a server does for its client, so `bytes_read`
            does not say what the client had received before a delta.
        trace: `traceback_of` that exception.
        bytes_read: how many bytes had been read when it was raised; 0 if none was.
    """

    chunking: Chunking
    emissions: tuple[Emission, ...]
    turn: Turn
    error: str = ""
    hung: bool = False
    raised: str = ""
    is_read_ahead: bool = False
    trace: str = ""
    bytes_read: int = 0

    @property
    def reports_failure(self) -> bool:
        """Whether the normalizer itself reported a failure; the folded turn may derive one."""
        return any(isinstance(each.delta, StreamFailure) for each in self.emissions)
