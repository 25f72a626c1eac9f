"""Serve a playback over HTTP/1.1 on 127.0.0.1, for clients in any language.

It serves while its `with` block runs, a bounded number of connections. At the end, all connections
are closed and all threads have ended. The recording proxy listens in the same way.
"""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate
from socketserver import BaseRequestHandler, TCPServer, ThreadingMixIn
from threading import Event, Lock, Thread
from typing import Any, Final, Self, TypeAlias

from harness.errors import UsageError
from harness.playback.handler import BODILESS, Handler
from harness.playback.playback import Playback
from harness.wire.interaction import Interaction

HOST: Final = "127.0.0.1"

MakeHandler: TypeAlias = Callable[..., BaseRequestHandler]

_MOST_CONNECTIONS: Final = 128
_POLL_SECONDS: Final = 0.05


class LoopbackServer:
    """Serves while its `with` block runs; at the end each connection and thread has ended.

    Args:
        handler: creates the handler of one connection.
        port: 0 for any free port.
        daemon: its threads do not keep the process alive: for servers whose block ends in an exit
            handler, which runs after all other threads have ended.

    Attributes:
        base_url: its address without a path; "" until the block begins.
        stopping: set when the block ends.

    Raises:
        UsageError: the port is not available when the block begins.
    """

    def __init__(self, handler: MakeHandler, port: int, *, daemon: bool = False) -> None:
        self.base_url = ""
        self._daemon = daemon
        self.stopping = Event()
        self._handler = handler
        self._port = port

    def __enter__(self) -> Self:
        self._listener = _listen(self._port, self._handler)
        self.base_url = f"http://{HOST}:{self._listener.server_address[1]}"
        self._listener.daemon_threads = self._daemon
        work, poll = self._listener.serve_forever, (_POLL_SECONDS,)
        self._thread = Thread(target=work, args=poll, daemon=self._daemon)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stopping.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.close_connections()
        self._listener.server_close()


class _Listener(ThreadingMixIn, TCPServer):
    """Accepts a bounded number of connections, and keeps track of the open ones."""

    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, port: int, handler: MakeHandler) -> None:
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        super().__init__((HOST, port), handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401 - as socketserver types it
        """Accept a connection, unless too many are open."""
        del client_address
        with self._lock:
            if len(self._open) >= _MOST_CONNECTIONS:
                return False
            self._open.add(request)
        return True

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as above
        """Close a connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Shut down the open connections, so that their threads end."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # the client has closed it already
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Ignore errors of the connection; report any other error, because it is a bug."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _listen(port: int, handler: MakeHandler) -> _Listener:
    try:
        return _Listener(port, handler)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen on {HOST}:{port}: {error}",
            hint="Choose another port, or 0 for any free port.",
        ) from None


# A recording may contain any delay; the server never waits longer than this for one read.
MOST_SECONDS: Final = 60.0


def paced(
    interaction: Interaction, reads: Iterator[bytes], wait: Callable[[float], object]
) -> Iterator[bytes]:
    """Yield `reads`, each after the pause that was recorded before it.

    If the body is split at other offsets, a read waits for all recorded reads that began in it.

    Args:
        interaction: with the recorded delays.
        reads: its body, split at any cuts.
        wait: sleeps for some seconds; may return early.
    """
    starts = accumulate((read.size for read in interaction.reads), initial=0)
    pauses = [
        (start, read.delay_ms) for start, read in zip(starts, interaction.reads, strict=False)
    ]
    pauses.reverse()
    end = 0
    for read in reads:
        end += len(read)
        milliseconds = 0
        while pauses and pauses[-1][0] < end:
            milliseconds += pauses.pop()[1]
        if milliseconds > 0:
            wait(min(milliseconds / 1_000, MOST_SECONDS))
        yield read


_FINAL_STATUSES: Final = range(200, 1_000)


class PlaybackServer(LoopbackServer):
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
        for index, interaction in enumerate(playback.cassette.interactions):
            _check_sendable(index, interaction)
        self.playback = playback
        self._delays = delays
        super().__init__(partial(Handler, playback, self._pace), port)

    def _pace(self, interaction: Interaction, reads: Iterator[bytes]) -> Iterator[bytes]:
        return paced(interaction, reads, self.stopping.wait) if self._delays else reads


def _check_sendable(index: int, interaction: Interaction) -> None:
    """Reject an answer that no HTTP client would wait for, or whose body none would read."""
    status = interaction.status
    if status not in _FINAL_STATUSES or (status in BODILESS and interaction.body):
        raise UsageError(
            f"interaction {index} cannot be sent over HTTP: expected a status from 200 on that "
            f"has a body, found {status} with {len(interaction.body)} bytes",
            hint="Remove the interaction from the cassette.",
        )
