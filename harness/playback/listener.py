"""Listen on 127.0.0.1 only, for a bounded number of connections.

The replay server and the recording proxy share this module.
"""

import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from socketserver import BaseRequestHandler, TCPServer, ThreadingMixIn
from threading import Event, Lock, Thread
from typing import Any, Final, Self, TypeAlias

from harness.errors import UsageError

HOST: Final = "127.0.0.1"

MakeHandler: TypeAlias = Callable[..., BaseRequestHandler]

_MOST_CONNECTIONS: Final = 128
_POLL_SECONDS: Final = 0.05


class LoopbackServer:
    """Serves while its `with` block runs; at the end each connection and thread has ended.

    Args:
        handler: creates the handler of one connection.
        port: 0 for any free port.

    Attributes:
        base_url: its address without a path; "" until the block begins.
        stopping: set when the block ends.

    Raises:
        UsageError: the port is not available when the block begins.
    """

    def __init__(self, handler: MakeHandler, port: int) -> None:
        self.base_url = ""
        self.stopping = Event()
        self._handler = handler
        self._port = port

    def __enter__(self) -> Self:
        self._listener = _listen(self._port, self._handler)
        self.base_url = f"http://{HOST}:{self._listener.server_address[1]}"
        self._thread = Thread(target=self._listener.serve_forever, args=(_POLL_SECONDS,))
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
