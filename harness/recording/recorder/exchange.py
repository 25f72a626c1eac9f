"""Keep one recorded response: the interaction to write, or the reason why it is not written."""

from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

from harness.errors import RecordingError
from harness.recording.detect import token_exchange_reason
from harness.recording.recorder.response import ResponseRecorder
from harness.wire.interaction import Interaction

# Returns an interaction after the filters of the user, None if they leave it out.
Filter: TypeAlias = Callable[[Interaction], Interaction | None]
# Returns an interaction without secrets.
Clean: TypeAlias = Callable[[Interaction], Interaction]


class Exchange:
    """A request that was sent, and its response.

    Args:
        number: the position of the request in the order of all requests.
        response: the recorder of the response.

    Attributes:
        interaction: the interaction to write, without secrets; None if nothing is written.
        reason: why the recorder leaves the interaction out on purpose; "" otherwise.
        error: the error if the interaction cannot be written.
        saved: whether the cassette contains the interaction, or is complete without it.
        journaled: whether the journal contains the interaction.
    """

    def __init__(self, number: int, response: ResponseRecorder) -> None:
        self.number = number
        self.response = response
        self.interaction: Interaction | None = None
        self.reason = ""
        self.error: Exception | None = None
        self.saved = self.journaled = False
        self._received: Interaction | None = None
        self._known = -1
        self._cleaning = (
            Lock()
        )  # a large body takes long, and must not keep other exchanges waiting

    @property
    def ended(self) -> bool:
        """Whether a response arrived, and has ended."""
        return self.response.answered and self.response.ended is not None

    @property
    def left_out(self) -> str:
        """Why the interaction is not on the disk; "" if it is, or the response has not ended."""
        if self.error is not None:
            return str(self.error)
        lost = self.interaction is not None and not (self.saved or self.journaled)
        return self.reason or ("not written" if lost else "")

    def clean(self, filtered: Filter, clean: Clean, known: int) -> bool:
        """Set `interaction` to what is written, unless it was set with the same known secrets.

        Args:
            filtered: the filters of the user; called once for a response that has ended.
            clean: removes secrets; called again when more secrets are known.
            known: how many secrets are known.

        Returns:
            Whether the interaction differs from the one that was written before.
        """
        if self._known == known:
            return False
        with self._cleaning:
            before = self.interaction
            try:
                self._clean(filtered, clean)
            except Exception as error:  # noqa: BLE001 - a filter of the user may raise anything
                self.interaction, self.error = None, error
            self._known = known if self.ended else -1
            return before is not None and before != self.interaction

    def _clean(self, filtered: Filter, clean: Clean) -> None:
        received = self._received or self._receive(filtered)
        if received is not None:
            self.reason = token_exchange_reason(received)
            self.interaction = None if self.reason else clean(received)

    def _receive(self, filtered: Filter) -> Interaction | None:
        if self.response.overflowed:
            where = self.response.request.uri
            raise RecordingError("the response is too large to be recorded", where=where)
        received = filtered(self.response.interaction())
        if received is None:
            self.reason = "left out by a filter"
        elif self.ended:
            self._received = received
            self.response.forget()
        return received
