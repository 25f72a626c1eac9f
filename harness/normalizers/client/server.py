"""A server that answers each case of a client under its own base URL, once."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from threading import Lock
from typing import Any, Final

import msgspec

from harness.playback.handler import LoopbackHandler
from harness.playback.server import LoopbackServer
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Interaction, Request

_PREFIX: Final = "c"
# SDKs do not retry this status, see `harness.playback.playback`.
_SURPLUS_STATUS: Final = 410
_JSON: Final = ((b"content-type", b"application/json"), (b"x-should-retry", b"false"))


class _OpenCase(msgspec.Struct):
    """A case that the client works on; `reads` is None once they are taken."""

    interaction: Interaction
    reads: Iterator[bytes] | None


class CaseServer(LoopbackServer):
    """Answers the first request below the base URL of each open case with its reads.

    A second request of a case, and one below no open case, get status 410.
    """

    def __init__(self) -> None:
        self._open: dict[str, _OpenCase] = {}
        self._names = map(str, count(1))
        self._lock = Lock()
        super().__init__(partial(_Handler, self), 0, daemon=True)

    @contextmanager
    def open(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[str]:
        """Open a case, and yield its base URL."""
        name = next(self._names)
        with self._lock:
            self._open[name] = _OpenCase(interaction, filter(None, reads))
        try:
            yield f"{self.base_url}/{_PREFIX}/{name}"
        finally:
            with self._lock:
                del self._open[name]

    def take(self, path: str) -> tuple[Interaction, Iterator[bytes]] | None:
        """Return the response to a request for `path`, or None for a surplus request."""
        parts = path.split("/", 3)
        if len(parts) < len(("", _PREFIX, "name")) or parts[1] != _PREFIX:
            return None
        with self._lock:
            case = self._open.get(parts[2].partition("?")[0])
            if case is None or case.reads is None:
                return None
            reads, case.reads = case.reads, None
        return case.interaction, self._while_open(case, reads)

    def _while_open(self, case: _OpenCase, reads: Iterator[bytes]) -> Iterator[bytes]:
        """Yield reads until the case is closed: then no client waits for them."""
        for read in reads:
            if case not in self._open.values():
                return
            yield read


class _Handler(LoopbackHandler):
    """Answers the requests of one connection."""

    def __init__(self, cases: CaseServer, *connection: Any) -> None:  # noqa: ANN401 - the arguments of socketserver
        self._cases = cases
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Send the response of the case, read by read, and end it as recorded."""
        taken = self._cases.take(self.path)
        if taken is not None:
            self.play(*taken)
            return
        message = f"surplus request: expected one request for each case, found {request.uri}"
        error = {"type": "surplus_request", "message": message}
        self.send(_SURPLUS_STATUS, _JSON, iter([encode_json({"error": error})]))
