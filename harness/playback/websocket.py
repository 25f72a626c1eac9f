"""Speak WebSocket on one connection of a loopback server: read messages, send reads as fragments.

The library `websockets` carries the protocol, and does no input or output. Each line of
a body is one message. A read that ends inside a line ends a fragment, also inside a character, so
the cuts of a body are the fragments of its messages, and their order is kept.
Source: RFC 6455.
"""

import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from harness.playback.request_head import MAX_REQUEST_BYTES, RequestHead
from harness.wire.session import Opcode

try:
    from websockets.frames import Opcode as FrameOpcode
    from websockets.protocol import State
    from websockets.server import ServerProtocol
except ImportError:  # the extra `websocket` is not installed
    ServerProtocol = None  # type: ignore[assignment,misc]

INSTALL_HINT: Final = "WebSocket needs the extra: pip install 'toolcall-harness[websocket]'"
ABNORMAL: Final = 1006
_READ_BYTES: Final = 65_536
_IDLE_SECONDS: Final = 300.0
_WRITE_SECONDS: Final = 60.0


def is_available() -> bool:
    """Return whether the library for the protocol is installed."""
    return ServerProtocol is not None


def is_upgrade(head: RequestHead) -> bool:
    """Return whether a request asks to open a WebSocket connection."""
    return head.method == "GET" and any(
        value.lower() == "websocket" for value in head.values("upgrade")
    )


def fragments(reads: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the fragments of the messages in `reads`, each with whether it ends its message."""
    begun = False
    for read in reads:
        *complete, rest = read.split(b"\n")
        for line in complete:
            if line or begun:
                yield line, True
            begun = False
        if rest:
            yield rest, False
            begun = True
    if begun:
        yield b"", True


class WebSocketConnection:
    """The server's side of one WebSocket connection.

    Args:
        connection: the connected socket, on which the head of the opening request was read.
        head: that head.
        rest: bytes that the client sent after it.
    """

    def __init__(self, connection: socket.socket, head: RequestHead, rest: bytes) -> None:
        self._socket = connection
        # A client may offer subprotocols that contain its key; the first one is accepted.
        self._protocol = ServerProtocol(
            select_subprotocol=lambda _, offered: offered[0] if offered else None,
            max_size=MAX_REQUEST_BYTES,
        )
        self._lock = Lock()  # a relay sends in another thread than it receives
        self._received: list[Any] = []
        lines = [f"GET {head.target} HTTP/1.1", *(f"{name}: {text}" for name, text in head.headers)]
        self._protocol.receive_data("\r\n".join([*lines, "", ""]).encode("latin-1"))
        for request in self._protocol.events_received():
            self._protocol.send_response(self._protocol.accept(request))  # type: ignore[arg-type]
        self._flush()
        if rest and self.is_open:
            self._protocol.receive_data(rest)
            self._take()

    @property
    def is_open(self) -> bool:
        """Whether neither side has closed the connection."""
        return self._protocol.state is State.OPEN

    @property
    def subprotocol(self) -> str:
        """The subprotocol that was accepted; "" for none."""
        return self._protocol.subprotocol or ""

    @property
    def close_code(self) -> int:
        """The code with which the connection was closed; 1006 if there was no close frame."""
        return self._protocol.close_code or ABNORMAL

    def messages(self) -> Iterator[tuple[bytes, Opcode]]:
        """Yield each message of the client and its opcode, until one side closes.

        Pings are answered, and a message that is too large closes the connection.
        """
        pieces: list[bytes] = []
        opcode: Opcode = "text"
        while True:
            for frame in self._frames():
                if frame.opcode is not FrameOpcode.CONT:
                    opcode = "text" if frame.opcode is FrameOpcode.TEXT else "binary"
                pieces.append(bytes(frame.data))
                if frame.fin:
                    yield b"".join(pieces), opcode
                    pieces = []
            if not self.is_open or not self._receive():
                return

    def _frames(self) -> list[Any]:
        found, self._received = self._received, []
        data = (FrameOpcode.TEXT, FrameOpcode.BINARY, FrameOpcode.CONT)
        return [frame for frame in found if frame.opcode in data]

    def _receive(self) -> bool:
        """Wait for the next bytes of the client; return whether any came."""
        self._socket.settimeout(_IDLE_SECONDS)
        try:
            data = self._socket.recv(_READ_BYTES)
        except OSError:
            data = b""
        if not data:
            return False
        with self._lock:
            self._protocol.receive_data(data)
            self._take()
        return True

    def _take(self) -> None:
        self._received += self._protocol.events_received()
        self._flush()

    def send_message(self, data: bytes, opcode: Opcode = "text") -> None:
        """Send one message in one frame."""
        with self._lock:
            (self._protocol.send_binary if opcode == "binary" else self._protocol.send_text)(data)
            self._flush()

    def send_reads(self, reads: Iterable[bytes]) -> None:
        """Send the lines in `reads` as messages; a read that ends inside a line is a fragment."""
        begun = False
        for data, is_last in fragments(reads):
            if not self.is_open:
                return
            send = self._protocol.send_continuation if begun else self._protocol.send_text
            send(data, fin=is_last)
            self._flush()
            begun = not is_last

    def ping(self) -> None:
        """Send a ping, which the library of the client answers."""
        self._protocol.send_ping(b"harness")
        self._flush()

    def close(self, code: int, reason: str = "") -> None:
        """Send a close frame; if the connection is closed, do nothing."""
        with self._lock:
            if self.is_open:
                self._protocol.send_close(code, reason)
                self._flush()

    def shut_down(self) -> None:
        """Close the connection below WebSocket, so that a thread that waits for it continues."""
        with suppress(OSError):  # the client has gone already
            self._socket.shutdown(socket.SHUT_RDWR)

    def _flush(self) -> None:
        self._socket.settimeout(_WRITE_SECONDS)
        for data in self._protocol.data_to_send():
            if data:
                self._socket.sendall(data)
