"""Serve a playback over HTTP/1.1 on 127.0.0.1, for clients in any language.

It serves while its `with` block runs. At the end, all connections are closed and all threads have
ended.
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

# A recording may contain any delay; the server never waits longer than this for one read.
MOST_SECONDS: Final = 60.0


def paced(
    interaction: Interaction, reads: Iterator[bytes], wait: Callable[[float], object]
) -> Iterator[bytes]:
    """Yield `reads`, each after the pause that was recorded before it.

    If the body is split at other offsets, a read waits for all recorded reads that began in it.

    Args:
        interaction: with the recorded delays.
        reads: its body, split at any cuts.
        wait: sleeps for some seconds; may return early.
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
        playback: answers the requests.
        port: 0 for any free port.
        delays: send each read after its recorded delay.

    Attributes:
        playback: as given.

    Raises:
        UsageError: an answer cannot be sent over HTTP, or the port is not available when the
            block begins.
    """

    def __init__(self, playback: Playback, *, port: int = 0, delays: bool = False) -> None:
        for index, interaction in enumerate(playback.cassette.interactions):
            _check_sendable(index, interaction)
        self.playback = playback
        self._delays = delays
        super().__init__(partial(Handler, playback, self._pace), port)

    def _pace(self, interaction: Interaction, reads: Iterator[bytes]) -> Iterator[bytes]:
        return paced(interaction, reads, self.stopping.wait) if self._delays else reads


def _check_sendable(index: int, interaction: Interaction) -> None:
    """Reject an answer that no HTTP client would wait for, or whose body none would read."""
    status = interaction.status
    if status not in _FINAL_STATUSES or (status in BODILESS and interaction.body):
        raise UsageError(
            f"interaction {index} cannot be sent over HTTP: expected a status from 200 on that "
            f"has a body, found {status} with {len(interaction.body)} bytes",
            hint="Remove the interaction from the cassette.",
        )
