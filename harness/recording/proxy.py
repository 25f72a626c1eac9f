"""Record through a reverse proxy on 127.0.0.1, for clients in any language.

The proxy sends each request to the upstream. Each read of the response is one chunk and one write
to the client, before the next read. A request is read completely before it is forwarded, up to a
limit. No part of a response is held back.
"""

import re
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final, Self
from urllib.parse import SplitResult, unquote, urlsplit

from harness.errors import BlockedRequestError, UsageError
from harness.playback.handler import LoopbackHandler
from harness.playback.request_head import RequestHead
from harness.playback.server import LoopbackServer
from harness.playback.transports import HOP_BY_HOP, RawHeaders, is_sendable
from harness.playback.websocket import (
    INSTALL_HINT,
    WebSocketConnection,
    is_available,
    is_upgrade,
)
from harness.recording.recorder import Recorder
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.secrets.credentials import scrub_address
from harness.recording.session_relay import SessionJournal, recover_sessions, relay_session
from harness.recording.upstream import (
    Connections,
    UpstreamError,
    check_address,
    upstream_response,
)
from harness.wire.cuts import split
from harness.wire.interaction import Ended, Headers, Request

# Headers of one connection: generated again for the upstream, and again for the client.
_PER_CONNECTION: Final = frozenset({"accept-encoding", "content-length", "expect", "host"})
_MOST_DECODINGS: Final = 4
_NO_PATH: Final = re.compile(r"[/\\]{2}")
_PARENT: Final = re.compile(r"[/\\]\.\.(?=[/\\;\x00-\x20]|$)")
_FOLD: Final = re.compile(r"\r?\n[ \t]+")
# Content encodings that the recorder can remove, and the package that each needs.
_ENCODINGS: Final = {"gzip": "zlib", "deflate": "zlib", "br": "brotli", "zstd": "zstandard"}


class RecordingProxy(LoopbackServer):
    """Forwards requests to a server (the upstream), and records, while its `with` block runs.

    Args:
        recorder: saves the cassette when its own `with` block ends.
        upstream: the server's address, http or https, with a path that precedes all requests'
            paths.
        port: 0 for any free port.

    Raises:
        UsageError: the address is invalid, or the port is not available when the block begins.
    """

    descriptors_each = 2  # one of the client, one of the upstream

    def __init__(self, recorder: Recorder, upstream: str, *, port: int = 0) -> None:
        self._connections = Connections()
        self._cassette = recorder.path
        handler = partial(_Handler, recorder, parse_upstream(upstream), self._connections)
        super().__init__(handler, port)

    def __enter__(self) -> Self:
        list(recover_sessions(self._cassette))
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        self._connections.close()  # a server may be silent for minutes
        super().__exit__(*raised)


def parse_upstream(address: str) -> SplitResult:
    """Return the parts of an upstream's address.

    Raises:
        UsageError: `address` is not the address of an HTTP server, or has a query.
    """
    check_address(address)
    parts = urlsplit(address)
    if parts.query:
        raise UsageError(
            f"expected an upstream without a query, found {scrub_address(address)[:200]!r}"
        )
    return parts


class _Handler(LoopbackHandler):
    """Answers the requests of one connection: from the cassette, or else from the upstream."""

    def __init__(
        self,
        recorder: Recorder,
        upstream: SplitResult,
        connections: Connections,
        *connection: Any,  # noqa: ANN401 - the arguments of socketserver
    ) -> None:
        self._recorder = recorder
        self._upstream = upstream
        self._connections = connections
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Play the recorded answer, else forward the request and record the response."""
        target = self.head.target if self.head else ""
        reason = outside_reason(target)
        if reason:
            self.refuse(HTTPStatus.BAD_REQUEST, reason)
            return
        sent = _upstream_request(request, self._upstream, target)
        if self.head is not None and is_upgrade(self.head):
            self._relay_session(sent, self.head)
            return
        try:
            answer = self._recorder.play(sent)
        except BlockedRequestError as error:
            self.refuse(HTTPStatus.GONE, error.what)
            return
        if answer is not None:
            self.play(answer, split(answer.body, answer.recorded_cuts()))
            return
        try:
            self._relay(sent)
        except UpstreamError as error:
            self.refuse(HTTPStatus.BAD_GATEWAY, f"no response from the upstream: {error.what}")

    def _relay_session(self, request: Request, head: RequestHead) -> None:
        """Relay a WebSocket connection, and record it as a cassette next to the others."""
        self._closing = True
        if not is_available():
            self.refuse(HTTPStatus.NOT_IMPLEMENTED, INSTALL_HINT)
            return
        recorder = self._recorder
        journal = SessionJournal(recorder.path, request, recorder.scrubber)
        relay_session(WebSocketConnection(self.request, head, self._reader.rest), request, journal)

    def _relay(self, request: Request) -> None:
        connections = self._connections
        with upstream_response(self._recorder, request, connections=connections) as answer:
            headers = _to_send(tuple(answer.head.getheaders()))
            reads = answer.reads() if answer.has_body else None
            self.send(answer.head.status, headers, reads, lambda: _client_end(answer.recorder))


def outside_reason(target: str) -> str:
    """Return why a server may resolve `target` outside the base URL before it; "" if it cannot.

    Servers resolve `..` before or after they decode a path, and some take a backslash for a slash.
    """
    if not target.startswith("/"):
        return "expected a path: this is not a forward proxy"
    path = target.partition("?")[0]
    for _ in range(_MOST_DECODINGS):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    else:
        return f"expected a path that is percent-encoded less than {_MOST_DECODINGS} times"
    if _NO_PATH.match(path):
        return "expected a path with one slash at its start"
    if _PARENT.search(path):
        return "expected a path below the upstream's, found '..' in it"
    return ""


def _client_end(recorder: ResponseRecorder) -> Ended:
    """Return how the body ends for the client: truncated if the proxy closed the upstream."""
    return "truncated" if recorder.ended == "aborted" else recorder.ended or "complete"


def _upstream_request(request: Request, upstream: SplitResult, path: str) -> Request:
    """Return the request that the proxy sends to the server (upstream) for `request`."""
    removed = HOP_BY_HOP | _PER_CONNECTION | _named_in(request.headers, "connection")
    kept = tuple(pair for pair in request.headers if pair[0].lower() not in removed)
    accepted = ", ".join(_decodable(_named_in(request.headers, "accept-encoding")))
    return Request(
        request.method,
        f"{upstream.scheme}://{upstream.netloc}{upstream.path.rstrip('/')}{path}",
        (*kept, ("Accept-Encoding", accepted or "identity")),
        request.body,
    )


def _decodable(codings: frozenset[str]) -> list[str]:
    """Return those of `codings` (content encodings) that the recorder can remove."""
    return [name for name, package in _ENCODINGS.items() if name in codings and find_spec(package)]


def _named_in(headers: Headers, name: str) -> frozenset[str]:
    """Return the names that the headers called `name` list, without their parameters."""
    values = (value for key, value in headers if key.lower() == name)
    return frozenset(
        word.partition(";")[0].strip().lower() for value in values for word in value.split(",")
    )


def _to_send(headers: Headers) -> RawHeaders:
    """Return the headers for the client. The proxy frames the body, but keeps its encoding."""
    removed = HOP_BY_HOP | {"content-length"} | _named_in(headers, "connection")
    lines = ((name, _FOLD.sub(" ", value)) for name, value in headers)
    return tuple(
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in lines
        if name.lower() not in removed and is_sendable(name, value)
    )
