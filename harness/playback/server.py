"""A playback as a provider on this machine: HTTP/1.1 on 127.0.0.1, for clients in any language.

Never on another address. It serves while its `with` block runs; at the end each connection is
closed and each thread has ended.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from typing import Final

from harness.errors import UsageError
from harness.playback.handler import BODILESS, Handler
from harness.playback.listener import LoopbackServer
from harness.playback.playback import Playback
from harness.wire.interaction import Interaction

# A recording may claim any time; nobody waits longer than this for one read.
MOST_SECONDS: Final = 60.0


def paced(
    interaction: Interaction, reads: Iterator[bytes], wait: Callable[[float], object]
) -> Iterator[bytes]:
    """Yield `reads`, calling `wait` with the seconds before each that has to wait.

    Args:
        interaction: whose body the reads are of.
        reads: its body under any cuts.
        wait: sleeps; may return early.
    """
    starts = accumulate((read.size for read in interaction.reads), initial=0)
    pauses = [
        (start, read.delay_ms) for start, read in zip(starts, interaction.reads, strict=False)
    ]
    pauses.reverse()
    end = 0
    for read in reads:
        end += len(read)
        milliseconds = 0
        while pauses and pauses[-1][0] < end:
            milliseconds += pauses.pop()[1]
        if milliseconds > 0:
            wait(min(milliseconds / 1_000, MOST_SECONDS))
        yield read


_FINAL_STATUSES: Final = range(200, 1_000)


class PlaybackServer(LoopbackServer):
    """Serves a playback while its `with` block runs.

    Args:
        playback: what answers.
        port: 0 for any that is free.
        delays: let each read wait as long as it was recorded to.

    Attributes:
        playback: as given.

    Raises:
        UsageError: an answer cannot be sent over HTTP, or, as the block begins, the port
            cannot be had.
    """

    def __init__(self, playback: Playback, *, port: int = 0, delays: bool = False) -> None:
        for place, interaction in enumerate(playback.cassette.interactions):
            _check_sendable(place, interaction)
        self.playback = playback
        self._delays = delays
        super().__init__(partial(Handler, playback, self._pace), port)

    def _pace(self, interaction: Interaction, reads: Iterator[bytes]) -> Iterator[bytes]:
        return paced(interaction, reads, self.stopping.wait) if self._delays else reads


def _check_sendable(place: int, interaction: Interaction) -> None:
    """Refuse an answer that no HTTP client would wait for, or whose body none would read."""
    status = interaction.status
    if status not in _FINAL_STATUSES or (status in BODILESS and interaction.body):
        raise UsageError(
            f"interaction {place} cannot be sent over HTTP: expected a status from 200 on that "
            f"has a body, found {status} with {len(interaction.body)} bytes",
            hint="Remove the interaction.",
        )
