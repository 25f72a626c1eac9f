"""Serve a playback over HTTP/1.1 on 127.0.0.1, for clients in any language.

A server runs while its `with` block runs. It has one thread for each connection, and a limit of
connections: further clients get status 503. When the block ends, all connections are closed and all
threads have ended. The recording proxy uses the same base class.
"""

import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from socketserver import BaseRequestHandler, TCPServer
from threading import Condition, Event, Thread
from typing import Any, ClassVar, Final, Self, TypeAlias

from harness.errors import UsageError
from harness.playback.delivery import Delivery
from harness.playback.handler import (
    BODILESS,
    REFUSAL_SECONDS,
    AnswerHandler,
    AnswerRequest,
    linger,
    refuse_connection,
)
from harness.playback.playback import Playback
from harness.playback.request_reader import RequestMemory
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
# Files that a process has open besides its connections.
_OTHER_DESCRIPTORS: Final = 64


class LoopbackServer:
    """The base class of servers on 127.0.0.1, which serve while their `with` block runs.

    Args:
        handler: creates the handler of one connection.
        port: 0 for any free port.
        most_connections: further connections get status 503.
        daemon: whether the process may exit while its threads run. Needed if an exit handler ends
            the block, because that runs after all other threads have ended.

    Attributes:
        base_url: the server's address without a path; "" until the block begins.
        most_connections: the limit; when the block begins, at most what the limit of open files
            allows.
        limit_note: why the limit is lower than requested, and what to do; else "".
        stopping: set when the block ends.

    Raises:
        UsageError: the port is not available when the block begins.
    """

    # Open files of one connection.
    descriptors_each: ClassVar[int] = 1
    # What a client beyond the limit is told to do.
    advice: ClassVar[str] = "try again later"

    def __init__(
        self,
        handler: MakeHandler,
        port: int,
        *,
        most_connections: int = MOST_CONNECTIONS,
        daemon: bool = False,
    ) -> None:
        self.base_url = self.limit_note = ""
        self.most_connections = most_connections
        self.stopping = Event()
        self._daemon = daemon
        self._handler = handler
        self._port = port

    def __enter__(self) -> Self:
        wanted = self.most_connections
        self.most_connections = most = allowed_connections(wanted, self.descriptors_each)
        if most < wanted:
            self.limit_note = (
                f"the limit of open files allows {most} open connections, not {wanted}: "
                "raise it with `ulimit -n`"
            )
        message = f"the server has {most} open connections, its limit: {self.advice}"
        self._listener = _listen(self._port, self._handler, most, message, self.stopping)
        self.base_url = f"http://{HOST}:{self._listener.server_address[1]}"
        self._listener.daemon_threads = self._daemon
        work, poll = self._listener.serve_forever, (_POLL_SECONDS,)
        self._thread = Thread(target=work, args=poll, daemon=self._daemon)
        self._thread.start()
        return self

    @property
    def open_connections(self) -> int:
        """The number of open connections, without those that are refused."""
        return self._listener.open_connections

    def __exit__(self, *_raised: object) -> None:
        self.stopping.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.close_connections()
        self._listener.server_close()


class _Listener(TCPServer):
    """Accepts a bounded number of connections, and handles each in a thread."""

    allow_reuse_address = True
    request_queue_size = _BACKLOG

    def __init__(
        self, port: int, handler: MakeHandler, most_connections: int, message: str, stopping: Event
    ) -> None:
        self.daemon_threads = False
        self.request_memory = RequestMemory()
        self._most = most_connections
        self._message = message
        self._stopping = stopping
        self._open: set[socket.socket] = set()
        self._refused: set[socket.socket] = set()
        self._threads: list[Thread] = []
        self._changed = Condition()
        super().__init__((HOST, port), handler)

    @property
    def open_connections(self) -> int:
        """The number of open connections, without those that are refused."""
        return len(self._open)

    def get_request(self) -> tuple[Any, Any]:
        """Accept the next connection; if no file descriptor is free, wait before a new attempt."""
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

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Handle a connection in a new thread; if the system allows none, refuse it."""
        connection = (request, client_address)
        thread = Thread(target=self._handle, args=connection, daemon=self.daemon_threads)
        try:
            thread.start()
        except RuntimeError:
            with suppress(OSError):
                reason = "the system allows this server no further thread: try again later"
                refuse_connection(request, reason, _POLL_SECONDS)
            self.shutdown_request(request)
        else:
            self._threads = [*filter(Thread.is_alive, self._threads), thread]

    def _handle(self, request: socket.socket, client_address: object) -> None:
        try:
            if request in self._refused:
                refuse_connection(request, self._message, REFUSAL_SECONDS)
                linger(request)
            else:
                self.finish_request(request, client_address)
        except Exception:  # noqa: BLE001 - as the caller of `process_request` does
            self.handle_error(request, client_address)
        finally:
            self.shutdown_request(request)

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

    def server_close(self) -> None:
        """Wait until the threads of all connections have ended."""
        super().server_close()
        for thread in self._threads:
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Ignore errors of the connection; report any other error, because it is a bug."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def allowed_connections(most: int, descriptors_each: int = 1) -> int:
    """Raise the limit of open files as far as `most` connections need it.

    Returns:
        `most`, or how many connections the system allows: at least one.
    """
    try:
        resource = import_module("resource")
    except ImportError:  # Windows has no such limit
        return most
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = most * descriptors_each + MOST_REFUSALS + _OTHER_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return most
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (ValueError, OSError):  # some systems allow less than their hard limit
        allowed = soft
    return max(1, min(most, (allowed - MOST_REFUSALS - _OTHER_DESCRIPTORS) // descriptors_each))


def _listen(port: int, *options: Any) -> _Listener:  # noqa: ANN401 - as `_Listener` takes them
    try:
        return _Listener(port, *options)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen on {HOST}:{port}: {error}",
            hint="Choose another port, or 0 for any free port.",
        ) from None


def deliver(
    playback: Playback, delivery: Delivery, request: Request, wait: Callable[[float], object]
) -> Answer:
    """Return the answer of `playback` to `request`; a surplus request gets its error at once.

    The playback splits the body into reads; `delivery` adds the delays and the fault.
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
            sleeps for some seconds, returns early when the server stops, and raises an exception
            when the client leaves.
        port: 0 for any free port.
        most_connections: the maximum; further connections get status 503.
        daemon: whether the process may exit while the server's threads run.
    """

    advice = "try again later, or raise the limit with --connections"
    # Whether a WebSocket session is closed after its first response.
    closes_sessions: ClassVar[bool] = False

    def __init__(
        self,
        answer: AnswerRequest,
        *,
        port: int = 0,
        most_connections: int = MOST_CONNECTIONS,
        daemon: bool = False,
    ) -> None:

        def handler(*connection: Any) -> AnswerHandler:  # noqa: ANN401 - the arguments of socketserver
            return AnswerHandler(answer, self.stopping, self.closes_sessions, *connection)

        super().__init__(handler, port, most_connections=most_connections, daemon=daemon)


class PlaybackServer(AnswerServer):
    """Serves a playback while its `with` block runs.

    Args:
        playback: answers the requests.
        port: 0 for any free port.
        delays: send each read after its recorded delay.

    Attributes:
        playback: the playback that answers the requests.

    Raises:
        UsageError: an answer cannot be sent over HTTP, or the port is not available when the block
            begins.
    """

    def __init__(self, playback: Playback, *, port: int = 0, delays: bool = False) -> None:
        check_sendable(playback.cassette)
        self.playback = playback
        delivery = Delivery(delay=None if delays else 0)
        super().__init__(partial(deliver, playback, delivery), port=port)


_FINAL_STATUSES: Final = range(200, 1_000)


def check_sendable(cassette: Cassette) -> None:
    """Reject a cassette with an answer that HTTP clients cannot receive from a server.

    Clients do not wait for such an answer, or do not read its body.

    Raises:
        UsageError: the cassette has such an answer.
    """
    for index, interaction in enumerate(cassette.interactions):
        status = interaction.status
        if interaction.in_session:
            continue
        if status not in _FINAL_STATUSES or (status in BODILESS and interaction.body):
            raise UsageError(
                f"interaction {index} cannot be sent over HTTP: expected a status from 200 on that "
                f"has a body, found {status} with {len(interaction.body)} bytes",
                hint="Remove the interaction from the cassette.",
            )
