"""Play a timing scenario to a client once, and keep what it did and when.

The playback measures its own delays, because a verdict about times needs a machine that keeps them.
"""

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from threading import Event, Thread
from time import monotonic, sleep
from typing import Final, Self

import msgspec

from harness.judging.replaying import describe_exception, raised_deltas, run_guarded
from harness.judging.timing.script import TimingScript, responses_of
from harness.normalizers.timing import TimedCase, TimedClient
from harness.playback.case_server import timed_server
from harness.playback.timed import Mark, MarkKind, TimedPlayback
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    DeltaError,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallStart,
)
from harness.turns.fold import Folder
from harness.turns.turn import Turn
from harness.wire.cassette import Cassette

# How much later than its bound a client may end on an idle machine.
ALLOWANCE: Final = 0.3
CONTENT: Final = (TextDelta, ReasoningDelta, ToolCallStart, ArgumentsDelta)
# Time for the client itself, in addition to the pauses of the server.
_CLIENT_SECONDS: Final = 10.0
_TICK_SECONDS: Final = 0.01
_WORDS: Final[dict[MarkKind, str]] = {
    "request": "gets a request",
    "sent": "has sent the body",
    "comment": "has sent a comment",
    "paused": "begins a pause",
    "ended": "ends the response",
    "left": "notices that the client left",
}


class Played(msgspec.Struct, frozen=True):
    """What a client did with a script.

    Fields:
        deltas: the deltas that agent code got, each with its time.
        turn: the turn that they give.
        began, ended: when the client was called, and when it ended or its consumer had left.
        hung: whether the client had not ended when the time limit was over.
        marks: what the server noted.
        late: the largest delay in seconds of this process, which plays the server.
    """

    deltas: tuple[tuple[float, Delta], ...]
    turn: Turn
    began: float
    ended: float
    hung: bool
    marks: tuple[Mark, ...]
    late: float

    @property
    def requests(self) -> tuple[Mark, ...]:
        """The requests of the client."""
        return tuple(each for each in self.marks if each.kind == "request")


def play(
    script: TimingScript, cassette: Cassette, client: TimedClient, scale: float = 1.0
) -> Played:
    """Play `script` to `client`, with all times multiplied by `scale`."""
    playback = TimedPlayback(responses_of(script, cassette), scale)
    emitted: list[tuple[float, Delta]] = []
    ended: list[float] = []
    began = monotonic()
    with _Watch() as watch, timed_server(playback) as base_url:
        case = _case(script, cassette, base_url, scale)
        consume = partial(_consume, script, client, case, scale, emitted, ended)
        seconds = (script.seconds + (script.client.consumer_pause or 0)) * scale + _CLIENT_SECONDS
        _, _, hung = run_guarded(consume, seconds)
        at = ended[0] if ended else monotonic()
        within = script.expect.upstream_closed_within
        if within is not None:
            playback.wait_for(("left", "ended"), (within + 2 * ALLOWANCE) * scale)
    folder = Folder()
    try:
        folder.add(delta for _, delta in emitted)
    except DeltaError as error:
        folder = Folder()
        folder.add([StreamFailure("error", str(error))])
    late = max(watch.late, playback.late)
    marks = tuple(playback.marks)
    return Played(tuple(emitted), folder.turn(), began, at, hung, marks, late)


def timeline_of(played: Played) -> Iterator[str]:
    """Yield a line for each thing that the server or the client did, in the order of time."""
    server = [
        (mark.at, f"server  {_WORDS[mark.kind]}" + (f", {mark.size} bytes" if mark.size else ""))
        for mark in played.marks
    ]
    client = [(at, f"client  {delta}") for at, delta in played.deltas]
    ends = [(played.ended, "client  is killed" if played.hung else "client  ends")]
    for at, line in sorted([*server, *client, *ends], key=lambda each: each[0]):
        yield f"{at - played.began:7.2f} s  {line}"


def _case(script: TimingScript, cassette: Cassette, base_url: str, scale: float) -> TimedCase:
    told = script.client
    return TimedCase(
        base_url,
        cassette.interactions[0].without_body(),
        None if told.idle_timeout is None else told.idle_timeout * scale,
        told.max_retries,
        told.cancel_after,
    )


def _consume(  # noqa: PLR0913, PLR0917 - what `play` collects
    script: TimingScript,
    client: TimedClient,
    case: TimedCase,
    scale: float,
    emitted: list[tuple[float, Delta]],
    ended: list[float],
) -> None:
    """Take what the client emits, as its consumer does. An exception is a failure of the turn."""
    pause, pieces = (script.client.consumer_pause or 0) * scale, 0
    leaving = None if client.leaves else case.cancel_after
    try:
        with closing(_generator(client, case)) as deltas:
            for delta in deltas:
                emitted.append((monotonic(), delta))
                pieces += isinstance(delta, CONTENT)
                if leaving is not None and pieces >= leaving:
                    break
                if pause:
                    sleep(pause)
    except Exception as problem:  # noqa: BLE001 - a client may report a broken connection so
        found = raised_deltas((delta for _, delta in emitted), describe_exception(problem))
        emitted += [(monotonic(), delta) for delta in found]
    finally:
        ended.append(monotonic())


def _generator(client: TimedClient, case: TimedCase) -> Generator[Delta, None, None]:
    yield from client.run(case)


class _Watch:
    """Measures how late this process wakes up, while its `with` block runs."""

    def __init__(self) -> None:
        self.late = 0.0
        self._stopping = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            due = monotonic() + _TICK_SECONDS
            self._stopping.wait(_TICK_SECONDS)
            self.late = max(self.late, monotonic() - due)
