"""Define a replay: what a client emitted for one interaction under one chunking."""

import msgspec

from harness.results.exchange import Exchange
from harness.turns.deltas import Delta, StreamFailure, ToolCallRejected
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking


class Emission(msgspec.Struct, frozen=True, gc=False):
    """A delta, with the number of body bytes that the client had read when it emitted the delta."""

    delta: Delta
    bytes_read: int


class Replay(msgspec.Struct, frozen=True):
    """The result of one normalizer on one interaction under one chunking.

    Fields:
        error: the exception that the normalizer raised, as `Type: text`; "" if it raised none.
        raised: where the exception was raised, as `harness.judging.raised` writes it.
        hung: whether the normalizer neither emitted a delta nor ended within its limits.
        is_read_ahead: whether another thread, such as a server's, read the body for the client.
            Then `bytes_read` does not show what the client had received before a delta.
        trace: the traceback of the exception.
        bytes_read: number of bytes that had been read when the exception was raised; 0 if none was.
        exchange: what a gateway was sent and what it sent; None for other normalizers.
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
    exchange: Exchange | None = None

    @property
    def reports_failure(self) -> bool:
        """Whether the normalizer emitted a failure; `turn` may fail without one."""
        return any(isinstance(each.delta, StreamFailure) for each in self.emissions)

    @property
    def rejects(self) -> bool:
        """Whether the normalizer rejected a call; a call without an end is also a parse error."""
        return any(isinstance(each.delta, ToolCallRejected) for each in self.emissions)
