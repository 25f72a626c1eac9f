"""A recorder as a reverse proxy on this machine, for clients in any language.

What a client asks of 127.0.0.1 is asked of the upstream; each read that comes back is one
chunk and one write to the client before the next is awaited. A request is read whole before
it is passed on, bounded; of a response nothing is held back.
"""

from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from harness.errors import BlockedRequestError, UsageError
from harness.playback.handler import LoopbackHandler
from harness.playback.listener import LoopbackServer
from harness.playback.transports import RawHeaders
from harness.recording.recorder import Recorder
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.upstream import UpstreamError, check_address, upstream_response
from harness.wire.cuts import split
from harness.wire.interaction import Ended, Headers, Request

# Source: RFC 9110, section 7.6.1, and what older clients send.
HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)

# Of this connection and no other: asked anew of the upstream, and framed anew for the client.
_PER_CONNECTION: Final = frozenset({"accept-encoding", "content-length", "expect", "host"})
# What can be taken off a body that is kept, and the package that it takes.
_ENCODINGS: Final = {"gzip": "zlib", "deflate": "zlib", "br": "brotli", "zstd": "zstandard"}


class RecordingProxy(LoopbackServer):
    """Passes requests on to an upstream, and records, while its `with` block runs.

    Args:
        recorder: what records; it saves when its own block ends.
        upstream: the server's address, http or https, with any path in front of all.
        port: 0 for any that is free.

    Raises:
        UsageError: no address to ask, or, as the block begins, the port cannot be had.
    """

    def __init__(self, recorder: Recorder, upstream: str, *, port: int = 0) -> None:
        super().__init__(partial(_Handler, recorder, parse_upstream(upstream)), port)


def parse_upstream(address: str) -> SplitResult:
    """Return the parts of an upstream's address.

    Raises:
        UsageError: it is no address of an HTTP server, or has a query.
    """
    check_address(address)
    parts = urlsplit(address)
    if parts.query:
        raise UsageError(f"expected an upstream without a query, found {address[:200]!r}")
    return parts


class _Handler(LoopbackHandler):
    """Answers the requests of one connection from the upstream, or from the cassette."""

    def __init__(self, recorder: Recorder, upstream: SplitResult, *connection: Any) -> None:  # noqa: ANN401 - what socketserver passes on
        self._recorder = recorder
        self._upstream = upstream
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Play what is recorded, else ask the upstream and record."""
        if not self.path.startswith("/"):
            self.send_error(HTTPStatus.BAD_REQUEST, "expected a path: this is no forward proxy")
            return
        asked = _upstream_request(request, self._upstream, self.path)
        try:
            answer = self._recorder.play(asked)
        except BlockedRequestError as error:
            self.send_error(HTTPStatus.GONE, error.what)
            return
        if answer is not None:
            self.play(answer, split(answer.body, answer.recorded_cuts()))
            return
        try:
            self._relay(asked)
        except UpstreamError as error:
            self.send_error(HTTPStatus.BAD_GATEWAY, f"the upstream gave no answer: {error.what}")

    def _relay(self, request: Request) -> None:
        with upstream_response(self._recorder, request) as answer:
            headers = _to_send(tuple(answer.head.getheaders()))
            reads = answer.reads() if answer.has_body else None
            self.send(answer.head.status, headers, reads, lambda: _client_end(answer.tape))


def _client_end(tape: ResponseRecorder) -> Ended:
    """Return how the client sees the end; where we left the upstream, it is no whole answer."""
    return "truncated" if tape.ended == "aborted" else tape.ended or "complete"


def _upstream_request(request: Request, upstream: SplitResult, path: str) -> Request:
    """Return `request` as the upstream is asked."""
    gone = HOP_BY_HOP | _PER_CONNECTION | _named_in(request.headers, "connection")
    kept = tuple(pair for pair in request.headers if pair[0].lower() not in gone)
    accepted = ", ".join(_decodable(_named_in(request.headers, "accept-encoding")))
    return Request(
        request.method,
        f"{upstream.scheme}://{upstream.netloc}{upstream.path.rstrip('/')}{path}",
        (*kept, ("Accept-Encoding", accepted or "identity")),
        request.body,
    )


def _decodable(codings: frozenset[str]) -> list[str]:
    """Return the codings that can be taken off again here."""
    return [name for name, package in _ENCODINGS.items() if name in codings and find_spec(package)]


def _named_in(headers: Headers, name: str) -> frozenset[str]:
    """Return the names that the headers called `name` list, without their parameters."""
    values = (value for key, value in headers if key.lower() == name)
    return frozenset(
        word.partition(";")[0].strip().lower() for value in values for word in value.split(",")
    )


def _to_send(headers: Headers) -> RawHeaders:
    """Return the headers that go on to the client; the body's framing is ours, its coding not."""
    gone = HOP_BY_HOP | {"content-length"} | _named_in(headers, "connection")
    return tuple(
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in headers
        if name.lower() not in gone
    )
