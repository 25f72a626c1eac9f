"""Define the key `timing` of a scenario: what the server does, and how the client must react.

The bytes are those of the scenario's cassette. Times are seconds.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from harness.errors import UnreadableError
from harness.files.typed import File, Text
from harness.normalizers.timing import TOLD, Told
from harness.playback.timed import Comments, Insert, Pause, Send, Step, TimedResponse
from harness.wire.cassette import Cassette
from harness.wire.interaction import Ended, Interaction
from harness.wire.reads import synthetic_reads

_Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0.05, le=10)]
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
_ENDED: Final[dict[str, Ended]] = {
    "complete": "complete",
    "reset": "reset",
    "close": "truncated",
}


class StepFile(File, frozen=True, omit_defaults=True):
    """One step of a response. Exactly one of its keys is set; `every` and `times` repeat a comment.

    Fields:
        send: send the body up to and with this event, or to its `end`.
        send_bytes: send the body up to this offset.
        pause: send nothing for some seconds.
        comment: send these characters after each of `times` pauses of `every` seconds. They must
            not be an event of the answer.
        insert: send these characters, such as an event with an error.
    """

    send: _Number | Literal["end"] | None = None
    send_bytes: _Number | None = None
    pause: _Seconds | None = None
    comment: Text | None = None
    insert: Text | None = None
    every: _Seconds = 0.2
    times: _Number = 1


class ResponseFile(File, frozen=True, omit_defaults=True):
    """The response to one request.

    Fields:
        interaction: the interaction of the cassette whose bytes, status and headers are sent.
        status, headers, body: replace those of the interaction.
        steps: how the body is sent; () to send it at once.
        end: `complete` by its framing; `close`: the server closes the connection in the middle of
            the body; `reset`: the connection breaks.
    """

    interaction: Annotated[int, msgspec.Meta(ge=0)] = 0
    status: Annotated[int, msgspec.Meta(ge=200, le=599)] | None = None
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: Text | None = None
    steps: tuple[StepFile, ...] = ()
    end: Literal["complete", "close", "reset"] = "complete"


class ToldFile(File, frozen=True, omit_defaults=True):
    """What the client is told, as in `TimedCase`, and how its consumer behaves.

    Fields:
        consumer_pause: the seconds that the consumer takes for each piece.
    """

    idle_timeout: _Seconds | None = None
    max_retries: Annotated[int, msgspec.Meta(ge=0, le=5)] = 0
    cancel_after: _Number | None = None
    consumer_pause: _Seconds | None = None


class TimingExpectation(File, frozen=True, omit_defaults=True):
    """How the client must react. A missing key is not judged.

    Fields:
        turn: the index of the interaction whose complete turn agent code must get.
        fails: the client must report that the turn failed.
        executes_nothing: agent code must get no call that it may execute.
        ended_within: the client must end within this time after the last pause began.
        upstream_closed_within: the client must close the connection within this time after it
            ended, or after its consumer left.
        retry_after_kept: a new request must wait as long as the header `retry-after` says.
        requests: the least and the largest number of requests.
        nothing_twice: the client must not repeat a request after agent code got content.
    """

    turn: Annotated[int, msgspec.Meta(ge=0)] | None = None
    fails: bool = False
    executes_nothing: bool = False
    ended_within: _Seconds | None = None
    upstream_closed_within: _Seconds | None = None
    retry_after_kept: bool = False
    requests: tuple[_Number, _Number] | None = None
    nothing_twice: bool = False


class TimingScript(File, frozen=True):
    """The value of the key `timing`.

    Fields:
        client: what the client is told.
        responses: one response for each request. A further request gets status 410.
        expect: how the client must react.
    """

    responses: Annotated[tuple[ResponseFile, ...], msgspec.Meta(min_length=1)]
    expect: TimingExpectation
    client: ToldFile = ToldFile()

    @property
    def told(self) -> frozenset[Told]:
        """What a client must be told."""
        return frozenset(name for name in TOLD if getattr(self.client, name))

    @property
    def has_comments(self) -> bool:
        """Whether the server sends bytes that are no event of the answer."""
        return any(step.comment is not None for each in self.responses for step in each.steps)

    @property
    def seconds(self) -> float:
        """The time of all pauses."""
        return sum(
            (step.pause or 0) + (step.every * step.times if step.comment is not None else 0)
            for each in self.responses
            for step in each.steps
        )


def require_playable(script: TimingScript, cassette: Cassette, where: str) -> None:
    """Check that the script fits its cassette.

    Raises:
        UnreadableError: it names what the cassette does not have, or a step has several keys.
    """
    expected = script.expect
    if expected == TimingExpectation():
        raise UnreadableError(
            "timing.expect: expected at least one key", where=where, hint="Such as `fails: true`."
        )
    count = len(cassette.interactions)
    named = {each.interaction for each in script.responses} | {expected.turn or 0}
    if max(named) >= count:
        raise UnreadableError(
            f"timing: there is no interaction {max(named)}, the cassette has {count}", where=where
        )
    for at, response in enumerate(script.responses):
        events = len(synthetic_reads(_interaction(response, cassette).body))
        for number, step in enumerate(response.steps):
            path = f"timing.responses[{at}].steps[{number}]"
            keys = (step.send, step.send_bytes, step.pause, step.comment, step.insert)
            if keys.count(None) != len(keys) - 1:
                raise UnreadableError(
                    f"{path}: expected one of send, send_bytes, pause, comment and insert",
                    where=where,
                )
            if isinstance(step.send, int) and step.send > events:
                raise UnreadableError(
                    f"{path}.send: the body has {events} events, found {step.send}", where=where
                )


def responses_of(script: TimingScript, cassette: Cassette) -> tuple[TimedResponse, ...]:
    """Return the responses of a script that `require_playable` accepts."""
    return tuple(
        TimedResponse(found, tuple(_steps(response, found.body)), _ENDED[response.end])
        for response in script.responses
        for found in (_interaction(response, cassette),)
    )


def _interaction(response: ResponseFile, cassette: Cassette) -> Interaction:
    found = cassette.interactions[response.interaction]
    headers = response.headers
    if response.body is not None:
        data = response.body.encode()
        headers = {"content-type": "application/json", **headers}
        found = msgspec.structs.replace(
            found, body=data, reads=synthetic_reads(data), reads_kept=False, headers=()
        )
    others = tuple((name, value) for name, value in found.headers if name.lower() not in headers)
    return msgspec.structs.replace(
        found, status=response.status or found.status, headers=(*others, *headers.items())
    )


def _steps(response: ResponseFile, body: bytes) -> Iterator[Step]:
    ends = tuple(accumulate(read.size for read in synthetic_reads(body)))
    for step in response.steps:
        if step.pause is not None:
            yield Pause(step.pause)
        elif step.comment is not None:
            yield Comments(step.comment.encode(), step.every, step.times)
        elif step.insert is not None:
            yield Insert(step.insert.encode())
        elif step.send_bytes is not None:
            yield Send(min(step.send_bytes, len(body)))
        else:
            yield Send(len(body) if step.send == "end" else ends[(step.send or 1) - 1])
    if not response.steps:
        yield Send(len(body))
