"""Play the script of a timing scenario: what a server sends, when it pauses, and how it ends.

Each request gets the next response of the script. The playback notes when something happened, so
that a judge can tell whether the client kept its times. It never decides whether that was right.
"""

from collections.abc import Callable, Iterator
from threading import Condition
from time import monotonic
from typing import Final, Literal, TypeAlias, assert_never

import msgspec

from harness.playback.handler import PeerLeftError
from harness.playback.playback import SURPLUS_HEADERS, SURPLUS_STATUS
from harness.playback.transports import Answer
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Ended, Interaction, Request
from harness.wire.reads import synthetic_interaction

Wait: TypeAlias = Callable[[float], object]
# What happened: a request came; data, a comment or the end of a response was sent; the server began
# a pause; the client left before the end of a response.
MarkKind = Literal["request", "sent", "comment", "paused", "ended", "left"]

# A client that sends requests for ever gets no more marks.
_MOST_MARKS: Final = 10_000


class Send(msgspec.Struct, frozen=True):
    """Sends the body up to an offset."""

    end: int


class Pause(msgspec.Struct, frozen=True):
    """Sends nothing for some seconds."""

    seconds: float


class Comments(msgspec.Struct, frozen=True):
    """Sends the same bytes, which contain no event of the answer, after each of several pauses."""

    data: bytes
    every: float
    times: int


class Insert(msgspec.Struct, frozen=True):
    """Sends bytes that the body does not have, such as an error of the server."""

    data: bytes


Step: TypeAlias = Send | Pause | Comments | Insert


class TimedResponse(msgspec.Struct, frozen=True):
    """One response of a script: its steps, and how the connection ends after them."""

    interaction: Interaction
    steps: tuple[Step, ...]
    ended: Ended = "complete"


class Mark(msgspec.Struct, frozen=True):
    """Something that happened while a script was played.

    Fields:
        at: the time in seconds, of a clock that only goes forward.
        response: the index of the response, or the number of responses for a surplus request.
        size: for `sent`, the number of bytes of the body that were sent so far.
    """

    at: float
    kind: MarkKind
    response: int
    size: int = 0


class TimedPlayback:
    """Plays the responses of a script, one for each request, and notes what happened.

    Args:
        responses: the responses, in order.
        scale: the factor of all pauses.
        repeats: whether the first response follows the last one; if not, a further request gets
            status 410.

    Attributes:
        marks: what happened so far.
        late: by how many seconds a pause took longer than the script says, at most.
    """

    def __init__(
        self, responses: tuple[TimedResponse, ...], scale: float = 1.0, *, repeats: bool = False
    ) -> None:
        self._responses = responses
        self._scale = scale
        self._repeats = repeats
        self._changed = Condition()
        self._requests = 0
        self.marks: list[Mark] = []
        self.late = 0.0

    def answer(self, request: Request, wait: Wait) -> Answer:
        """Return the next response; its reads come at their times."""
        with self._changed:
            number, self._requests = self._requests, self._requests + 1
        count = len(self._responses)
        number = number % count if self._repeats else min(number, count)
        self._mark("request", number)
        if number == count:
            return surplus_answer(request)
        response = self._responses[number]
        answer = msgspec.structs.replace(response.interaction, ended=response.ended)
        return answer, self._reads(number, response, wait)

    def wait_for(self, kinds: tuple[MarkKind, ...], seconds: float) -> bool:
        """Wait until each answered request has a mark of one of `kinds`; return whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: self._has_each(kinds), seconds)

    def _has_each(self, kinds: tuple[MarkKind, ...]) -> bool:
        asked = sum(each.kind == "request" for each in self.marks)
        surplus = sum(
            each.kind == "request" and each.response == len(self._responses) for each in self.marks
        )
        return sum(each.kind in kinds for each in self.marks) >= asked - surplus

    def _reads(self, number: int, response: TimedResponse, wait: Wait) -> Iterator[bytes]:
        body, done = response.interaction.body, 0
        try:
            for step in response.steps:
                match step:
                    case Send(end):
                        wait(0)  # a client that left gets nothing more
                        yield body[done:end]
                        done = max(done, end)
                        self._mark("sent", number, done)
                    case Pause(seconds):
                        self._mark("paused", number)
                        self._pause(seconds, wait)
                    case Comments(data, every, times):
                        self._mark("paused", number)
                        for _ in range(times):
                            self._pause(every, wait)
                            yield data
                            self._mark("comment", number)
                    case Insert(data):
                        yield data
                    case _:
                        assert_never(step)
        except (PeerLeftError, GeneratorExit):
            self._mark("left", number)
            raise
        self._mark("ended", number)

    def _pause(self, seconds: float, wait: Wait) -> None:
        due = monotonic() + seconds * self._scale
        wait(seconds * self._scale)
        self.late = max(self.late, monotonic() - due)

    def _mark(self, kind: MarkKind, number: int, size: int = 0) -> None:
        with self._changed:
            if len(self.marks) < _MOST_MARKS:
                self.marks.append(Mark(monotonic(), kind, number, size))
            self._changed.notify_all()


def surplus_answer(request: Request) -> Answer:
    """Return the answer to a request that no response is left for."""
    message = f"surplus request: no response is left for {request.uri}"
    body = encode_json({"error": {"type": "surplus_request", "message": message}})
    error = synthetic_interaction(
        body, request, status=SURPLUS_STATUS, headers=SURPLUS_HEADERS, dialect="unknown"
    )
    return error, iter([body])
