"""Serve the response of each replay under its own base URL, once.

The client under test sends its request to this URL. An open case is a replay that waits for it.
"""

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from threading import Lock
from typing import Final, TypeAlias

import msgspec

from harness.playback.matching import path_of
from harness.playback.server import AnswerServer
from harness.playback.timed import TimedPlayback, Wait, surplus_answer
from harness.playback.transports import Answer
from harness.wire.interaction import Interaction, Request

_PREFIX: Final = "c"


class _OpenCase(msgspec.Struct):
    """A replay whose client may send its request; `reads` is None after the request came."""

    interaction: Interaction
    reads: Iterator[bytes] | None


_Open: TypeAlias = _OpenCase | TimedPlayback


class CaseServer(AnswerServer):
    """Answers the first request below the base URL of each open replay with its reads.

    A second request for a replay, and a request below any other URL, get status 410. The script of
    a timing scenario answers several requests.
    """

    closes_sessions = True

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._names = map(str, count(1))
        self._lock = Lock()
        super().__init__(self._answer, daemon=True)

    @contextmanager
    def open(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[str]:
        """Begin a replay, and yield its base URL until the block ends."""
        with self.open_case(_OpenCase(interaction, filter(None, reads))) as base_url:
            yield base_url

    @contextmanager
    def open_case(self, case: _Open) -> Iterator[str]:
        """Begin a replay or a script, and yield its base URL until the block ends."""
        name = next(self._names)
        with self._lock:
            self._open[name] = case
        try:
            yield f"{self.base_url}/{_PREFIX}/{name}"
        finally:
            with self._lock:
                del self._open[name]

    def _answer(self, request: Request, wait: Wait) -> Answer:
        case = self._case(path_of(request.uri))
        if isinstance(case, TimedPlayback):
            return case.answer(request, wait)
        return self._take(case) or surplus_answer(request)

    def _case(self, path: str) -> _Open | None:
        parts = path.split("/", 3)
        if len(parts) < len(("", _PREFIX, "name")) or parts[1] != _PREFIX:
            return None
        with self._lock:
            return self._open.get(parts[2])

    def _take(self, case: _OpenCase | None) -> Answer | None:
        """Return the response of a case, or None if it was taken already."""
        with self._lock:
            if case is None or case.reads is None:
                return None
            reads, case.reads = case.reads, None
        return case.interaction, self._while_open(case, reads)

    def _while_open(self, case: _OpenCase, reads: Iterator[bytes]) -> Iterator[bytes]:
        """Yield reads until the replay ends, because then no client waits for them."""
        for read in reads:
            if case not in self._open.values():
                return
            yield read


@contextmanager
def replay_server(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[str]:
    """Yield a base URL on 127.0.0.1, below which the first request is answered with `reads`.

    Use it for libraries that accept only a base URL. Each further request gets status 410, so
    disable retries. The server sends reads as fast as the connection accepts them, so the harness
    does not judge how promptly text arrives.

    Args:
        interaction: provides status and headers, and how the body ended.
        reads: the body, read by read.
    """
    with _server_of_process().open(interaction, reads) as base_url:
        yield base_url


@contextmanager
def timed_server(playback: TimedPlayback) -> Iterator[str]:
    """Yield a base URL on 127.0.0.1, below which `playback` answers all requests."""
    with _server_of_process().open_case(playback) as base_url:
        yield base_url


@cache
def _server_of_process() -> CaseServer:
    server = CaseServer()
    server.__enter__()
    atexit.register(server.__exit__)
    return server
