"""Create a session of the package aiohttp that answers requests from an interaction.

The session, its parser and its errors are those of the package: only the connection is replaced by
one in memory. The connection sends the head of the response when the client waits for it, and a
read as one chunk when the client waits for more of the body.
"""

import asyncio
import importlib
from collections.abc import Iterator
from functools import cache
from http.client import responses
from types import ModuleType
from typing import Any

from harness.normalizers.sdk.answers import Answers
from harness.playback.transports import headers_to_send
from harness.wire.interaction import Interaction, Request


def make_aiohttp_session(answers: Answers) -> Any:  # noqa: ANN401 - of a package that may not be installed
    """Return an `aiohttp.ClientSession` that answers its requests with `answers`.

    Raises:
        RuntimeError: no event loop runs.
    """
    aiohttp = importlib.import_module("aiohttp")
    connector: Any = type(_Connector.__name__, (_Connector, aiohttp.BaseConnector), {})
    return aiohttp.ClientSession(
        connector=connector(aiohttp, answers),
        response_class=type(_Response.__name__, (_Response, aiohttp.ClientResponse), {}),
    )


class _Connector:
    """Opens connections in memory; each is for one request."""

    _factory: Any  # of the package's class

    def __init__(self, aiohttp: ModuleType, answers: Answers) -> None:
        options: dict[str, Any] = {"force_close": True}
        super().__init__(**options)
        self._error = aiohttp.ClientConnectionError
        self._answers = answers

    async def _create_connection(self, request: Any, *_options: object) -> Any:  # noqa: ANN401 - as above
        answer = self._answers(Request(request.method, str(request.url)))
        if answer is None:
            raise self._error("no interaction answers the request")
        protocol = self._factory()
        protocol.connection_made(_Connection(protocol, *answer))
        return protocol


class _Response:
    """Reads the head and the body of a response when the client wants them."""

    content: Any  # of the package's class

    async def start(self, connection: Any) -> Any:  # noqa: ANN401 - as above
        """Wait for the head of the response."""
        connection.transport.send_head()
        begin: Any = super()
        await begin.start(connection)
        reader = _reader_class()
        if type(self.content) in reader.__bases__:  # a response without a body has another class
            self.content.__class__ = reader
        return self


@cache
def _reader_class() -> type:
    """Return a class of body readers that get the next read when the client waits for data."""
    streams: Any = importlib.import_module("aiohttp.streams")

    async def wait(self: Any, _name: str) -> None:  # noqa: ANN401 - as above
        self._protocol.transport.send_next()
        if self.exception() is not None:
            raise self.exception()

    return type("Reader", (streams.StreamReader,), {"__slots__": (), "_wait": wait})


class _Connection(asyncio.Transport):
    """The server's side of a connection in memory."""

    def __init__(self, protocol: Any, interaction: Interaction, reads: Iterator[bytes]) -> None:  # noqa: ANN401 - as above
        super().__init__()
        self._protocol = protocol
        self._interaction = interaction
        self._reads = reads
        self._is_closed = False

    def send_head(self) -> None:
        """Send the status and the headers."""
        status = self._interaction.status
        lines = [f"HTTP/1.1 {status} {responses.get(status, '')}".encode()]
        headers = headers_to_send(self._interaction)
        lines += [name + b": " + value for name, value in headers]
        lines += [b"transfer-encoding: chunked", b"", b""]
        self._protocol.data_received(b"\r\n".join(lines))

    def send_next(self) -> None:
        """Send the next read, or end the body as the recorded connection ended it."""
        read = next(self._reads, b"")
        if read:
            self._protocol.data_received(b"%x\r\n%b\r\n" % (len(read), read))
        elif not self._interaction.broken:
            self._protocol.data_received(b"0\r\n\r\n")
        else:
            self._is_closed = True
            is_reset = self._interaction.ended == "reset"
            error = ConnectionResetError("recorded: the connection was reset") if is_reset else None
            self._protocol.connection_lost(error)

    def write(self, data: object) -> None:
        """Ignore the request."""

    def is_closing(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """Tell the client that the connection is closed, because the client waits for that."""
        if not self._is_closed:
            self._is_closed = True
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        """Close the connection; no data is buffered that could be lost."""
        self.close()

    def pause_reading(self) -> None:
        """Do nothing, because data is sent only when the client waits for it."""

    def resume_reading(self) -> None:
        """Do nothing, because data is sent only when the client waits for it."""
