"""The answer to each request of a client: the interaction of the turn that is replayed."""

from collections.abc import Iterable

from harness.playback.transports import Answer
from harness.wire.interaction import Interaction, Request


class Answers:
    """Answers every request with the interaction of the turn that is replayed at that time."""

    def __init__(self) -> None:
        self._answer: Answer | None = None

    def __call__(self, _request: Request) -> Answer | None:
        """Return the answer to a request."""
        return self._answer

    def use(self, interaction: Interaction, reads: Iterable[bytes]) -> None:
        """Answer the requests that follow with `reads`, as `replay_client` does."""
        self._answer = interaction, filter(None, reads)
