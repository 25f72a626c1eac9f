"""A playback as a provider on this machine: HTTP/1.1 on 127.0.0.1, for clients in any language.

Never on another address. It serves while its `with` block runs; at the end each connection is
closed and each thread has ended.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from harness.errors import UsageError
from harness.playback.handler import BODILESS, Handler
from harness.playback.listener import LoopbackServer
from harness.playback.pacing import paced
from harness.playback.playback import Playback
from harness.wire.interaction import Interaction

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
            _check(place, interaction)
        self.playback = playback
        self._delays = delays
        super().__init__(partial(Handler, playback, self._pace), port)

    def _pace(self, interaction: Interaction, reads: Iterator[bytes]) -> Iterator[bytes]:
        return paced(interaction, reads, self.stopping.wait) if self._delays else reads


def _check(place: int, interaction: Interaction) -> None:
    """Refuse an answer that no HTTP client would wait for, or whose body none would read."""
    status = interaction.status
    if status not in _FINAL_STATUSES or (status in BODILESS and interaction.body):
        raise UsageError(
            f"interaction {place} cannot be sent over HTTP: expected a status from 200 on that "
            f"has a body, found {status} with {len(interaction.body)} bytes",
            hint="Remove the interaction.",
        )
