"""A server of the tests that accounts for each of its sends, and waits for its client between.

Nagle's algorithm is off, so each send is a packet of its own; and before the next send the
server waits until the client says that it has the last one, so nothing is left to time: what
holds a read back would hold up the server, which then gives up and says so.
"""

import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import Any, Literal

Framing = Literal["chunked", "length", "close"]
End = Literal["complete", "reset", "truncated"]

# Only a failing test ever waits so long.
_PATIENCE_SECONDS = 5.0


class PacedServer:
    """Answers each request with the same sends.

    Args:
        pieces: the body, one send each (and one chunk each, where it has chunks).
        framing: how the end of the body is told.
        end: how the connection ends.
        headers: more response headers.
        gated: wait for `seen` after each piece.

    Attributes:
        sends: (seconds, bytes) of each send of the body's bytes, without framing.
        url: the server's address.
        requests: the head and body of each request, as they came.
        impatient: whether a client ever did not say that it had a piece.
    """

    def __init__(
        self,
        pieces: Sequence[bytes],
        *,
        framing: Framing = "chunked",
        end: End = "complete",
        headers: Iterable[str] = (),
        gated: bool = True,
    ) -> None:
        self.pieces = tuple(pieces)
        self.sends: list[tuple[float, bytes]] = []
        self.requests: list[tuple[bytes, bytes]] = []
        self.impatient = False
        self._framing = framing
        self._end = end
        self._headers = tuple(headers)
        self._gated = gated
        self._seen: Queue[None] = Queue()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def seen(self) -> None:
        """Say that a piece has reached the client."""
        self._seen.put(None)

    @contextmanager
    def running(self) -> Iterator["PacedServer"]:
        """Serve while the block runs."""
        thread = Thread(target=self._serve)
        thread.start()
        try:
            yield self
        finally:
            with socket.create_connection(self._listener.getsockname()):
                pass  # an empty connection ends the loop
            thread.join()
            self._listener.close()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                request = _request(connection)
                if request is None:
                    return
                self.requests.append(request)
                try:
                    self._answer(connection)
                except OSError:  # the client left
                    continue

    def _answer(self, connection: socket.socket) -> None:
        connection.sendall(self._head())
        for n, piece in enumerate(self.pieces):
            chunked = b"%x\r\n%b\r\n" % (len(piece), piece)
            connection.sendall(chunked if self._framing == "chunked" else piece)
            self.sends.append((monotonic(), piece))
            if self._gated and (n < len(self.pieces) - 1 or self._end != "complete"):
                self._wait()
        if self._end == "reset":
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif self._end == "complete" and self._framing == "chunked":
            connection.sendall(b"0\r\n\r\n")

    def _head(self) -> bytes:
        size = sum(map(len, self.pieces)) + (self._end != "complete")
        framing = {
            "chunked": "transfer-encoding: chunked",
            "length": f"content-length: {size}",
            "close": "x-framing: close",
        }[self._framing]
        lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", "connection: close"]
        return "\r\n".join([*lines, framing, *self._headers, "", ""]).encode()

    def _wait(self) -> None:
        try:
            self._seen.get(timeout=_PATIENCE_SECONDS)
        except Empty:
            self.impatient = True


def _request(connection: socket.socket) -> tuple[bytes, bytes] | None:
    file: Any = connection.makefile("rb")
    head = b""
    while (line := file.readline()) not in (b"", b"\r\n"):
        head += line
    if not head:
        return None
    length = next(
        (
            int(line[15:])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    return head, file.read(length)


def event(text: str) -> bytes:
    """Return an event of a chat stream that says `text`."""
    return b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % text.encode()


EVENTS = (event("Hel"), event("lo"), b"data: [DO", b"NE]\n\n")
