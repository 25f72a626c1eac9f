"""Answer each request of a client with the interaction of the turn that is replayed."""

from collections.abc import Callable, Iterable

from harness.playback.transports import Answer
from harness.wire.interaction import Interaction, Request


class Answers:
    """Answers every request of a client with the interaction that is replayed at that time."""

    def __init__(self) -> None:
        self._play: Callable[[Request], Answer | None] = lambda _: None

    def __call__(self, request: Request) -> Answer | None:
        """Return the answer to a request."""
        return self._play(request)

    def use(self, interaction: Interaction, reads: Iterable[bytes]) -> None:
        """Answer the following requests with `interaction`, and with `reads` as its body."""
        answer = interaction, filter(None, reads)
        self._play = lambda _: answer

    def play(self, answer: Callable[[Request], Answer | None]) -> None:
        """Answer each of the following requests with what the function `answer` returns for it."""
        self._play = answer
