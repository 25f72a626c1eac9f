"""Serve a playback over HTTP/1.1 on 127.0.0.1, for clients in any language.

It serves while its `with` block runs, a bounded number of connections, one thread for each. A
client beyond that gets status 503. At the end, all connections are closed and all threads have
ended. The recording proxy listens in the same way.
"""

import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from socketserver import BaseRequestHandler, TCPServer, ThreadingMixIn
from threading import Condition, Event, Thread
from typing import Any, Final, Self, TypeAlias

from harness.errors import UsageError
from harness.playback.delivery import Delivery
from harness.playback.handler import BODILESS, AnswerHandler, RequestMemory, refuse_connection
from harness.playback.playback import Playback
from harness.playback.transports import Answer
from harness.wire.cassette import Cassette
from harness.wire.interaction import Request

HOST: Final = "127.0.0.1"

MakeHandler: TypeAlias = Callable[..., BaseRequestHandler]

MOST_CONNECTIONS: Final = 600

# Connections that wait for their 503; while there are as many, the others wait in the backlog.
MOST_REFUSALS: Final = 64
_BACKLOG: Final = 1_024
_POLL_SECONDS: Final = 0.05


class LoopbackServer:
    """Serves while its `with` block runs; at the end each connection and thread has ended.

    Args:
        handler: creates the handler of one connection.
        port: 0 for any free port.
        most_connections: any more get status 503.
        daemon: its threads do not keep the process alive: for servers whose block ends in an exit
            handler, which runs after all other threads have ended.

    Attributes:
        base_url: its address without a path; "" until the block begins.
        stopping: set when the block ends.

    Raises:
        UsageError: the port is not available when the block begins.
    """

    def __init__(
        self,
        handler: MakeHandler,
        port: int,
        *,
        most_connections: int = MOST_CONNECTIONS,
        daemon: bool = False,
    ) -> None:
        self.base_url = ""
        self._daemon = daemon
        self.stopping = Event()
        self._handler = handler
        self._port = port
        self._most_connections = most_connections

    def __enter__(self) -> Self:
        self._listener = _listen(self._port, self._handler, self._most_connections, self.stopping)
        self.base_url = f"http://{HOST}:{self._listener.server_address[1]}"
        self._listener.daemon_threads = self._daemon
        work, poll = self._listener.serve_forever, (_POLL_SECONDS,)
        self._thread = Thread(target=work, args=poll, daemon=self._daemon)
        self._thread.start()
        return self

    @property
    def open_connections(self) -> int:
        """How many connections are open; those that are refused do not count."""
        return self._listener.open_connections

    def __exit__(self, *_raised: object) -> None:
        self.stopping.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.close_connections()
        self._listener.server_close()


class _Listener(ThreadingMixIn, TCPServer):
    """Accepts a bounded number of connections, and keeps track of the open ones."""

    allow_reuse_address = True
    request_queue_size = _BACKLOG

    def __init__(
        self, port: int, handler: MakeHandler, most_connections: int, stopping: Event
    ) -> None:
        self.request_memory = RequestMemory()
        self._most = most_connections
        self._stopping = stopping
        self._open: set[socket.socket] = set()
        self._refused: set[socket.socket] = set()
        self._changed = Condition()
        super().__init__((HOST, port), handler)

    @property
    def open_connections(self) -> int:
        """How many connections are open, without those that are refused."""
        return len(self._open)

    def get_request(self) -> tuple[Any, Any]:
        """Accept the next connection; without a free descriptor, wait before the next attempt."""
        try:
            return super().get_request()
        except OSError:
            self._stopping.wait(_POLL_SECONDS)
            raise

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401 - as socketserver types it
        """Accept a connection; if too many are open, a separate thread refuses it."""
        del client_address
        with self._changed:
            while not self._stopping.is_set():
                if len(self._open) < self._most:
                    self._open.add(request)
                    return True
                if len(self._refused) < MOST_REFUSALS:
                    self._refused.add(request)
                    return True
                self._changed.wait(_POLL_SECONDS)
        return False

    def finish_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Handle a connection, or refuse it."""
        if request in self._refused:
            refuse_connection(
                request,
                f"the server has {self._most} open connections, its limit: "
                "try again later, or raise the limit with --connections",
            )
        else:
            super().finish_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as above
        """Close a connection."""
        with self._changed:
            self._open.discard(request)
            self._refused.discard(request)
            self._changed.notify()
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Shut down the open connections, so that their threads end."""
        with self._changed:
            for connection in (*self._open, *self._refused):
                with suppress(OSError):  # the client has closed it already
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Ignore errors of the connection; report any other error, because it is a bug."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _listen(port: int, handler: MakeHandler, most_connections: int, stopping: Event) -> _Listener:
    try:
        return _Listener(port, handler, most_connections, stopping)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen on {HOST}:{port}: {error}",
            hint="Choose another port, or 0 for any free port.",
        ) from None


def deliver(
    playback: Playback, delivery: Delivery, request: Request, wait: Callable[[float], object]
) -> Answer:
    """Return the answer of `playback` to `request`; a surplus request gets its error at once.

    The playback splits the body, not `delivery`.
    """
    answered = playback.receive(request)
    reads = playback.reads(answered.answer)
    if answered.index is None:
        return answered.answer, reads
    return delivery.deliver(answered.answer, reads, wait)


class AnswerServer(LoopbackServer):
    """Serves the answers of a function while its `with` block runs.

    Args:
        answer: returns the answer to a request; several threads call it. It gets a function that
            sleeps for some seconds, and returns early when the server stops.
        port: 0 for any free port.
        most_connections: any more get status 503.
        daemon: as for `LoopbackServer`.
    """

    def __init__(
        self,
        answer: Callable[[Request, Callable[[float], object]], Answer],
        *,
        port: int = 0,
        most_connections: int = MOST_CONNECTIONS,
        daemon: bool = False,
    ) -> None:
        handler = partial(AnswerHandler, lambda request: answer(request, self.stopping.wait))
        super().__init__(handler, port, most_connections=most_connections, daemon=daemon)


class PlaybackServer(AnswerServer):
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
        check_sendable(playback.cassette)
        self.playback = playback
        delivery = Delivery(delay=None if delays else 0)
        super().__init__(partial(deliver, playback, delivery), port=port)


_FINAL_STATUSES: Final = range(200, 1_000)


def check_sendable(cassette: Cassette) -> None:
    """Reject an answer that no HTTP client would wait for, or whose body none would read.

    Raises:
        UsageError: the cassette has such an answer.
    """
    for index, interaction in enumerate(cassette.interactions):
        status = interaction.status
        if status not in _FINAL_STATUSES or (status in BODILESS and interaction.body):
            raise UsageError(
                f"interaction {index} cannot be sent over HTTP: expected a status from 200 on that "
                f"has a body, found {status} with {len(interaction.body)} bytes",
                hint="Remove the interaction from the cassette.",
            )
