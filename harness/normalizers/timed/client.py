"""A client that keeps all rules about time: one connection for each request, with a time limit.

It reads the response with the reader of the dialect, as `reference` does. If the connection breaks
or is silent for too long, it reports a failure and withholds the calls of the turn. It sends a
request again only if agent code got nothing of the first response.
"""

import http.client
import socket
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

from harness.normalizers import reference
from harness.normalizers.protocol import Normalizer
from harness.normalizers.respond import respond
from harness.normalizers.timing import TimedCase, TimedClient
from harness.turns.deltas import (
    Delta,
    Finish,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
    UsageDelta,
)
from harness.wire.interaction import Interaction

# Sources: the retries that the documentation of the packages openai and anthropic describes.
RETRIED: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_FIRST_ERROR_STATUS: Final = 400
_READ_BYTES: Final = 65_536
_BACKOFF_SECONDS: Final = 0.05
_KEEP_ALIVES: Final = (b":", b"event: ping", b'data: {"type": "ping"}')

Connection: TypeAlias = tuple[socket.socket, http.client.HTTPResponse]


class HttpClient:
    """Sends the request of a case, and yields the deltas of the answer."""

    retried: frozenset[int] = RETRIED

    def run(self, case: TimedCase) -> Iterator[Delta]:
        """Yield what agent code gets."""
        for left in range(case.max_retries, -1, -1):
            try:
                connection = self.send(case)
            except (OSError, http.client.HTTPException) as problem:
                yield StreamFailure("interrupted", str(problem))
                return
            try:
                status = connection[1].status
                if left and self.is_retried(status):
                    self.wait(connection[1])
                    continue
                yield from self.deltas(case, connection)
                return
            finally:
                self.close(connection)

    def is_retried(self, status: int) -> bool:
        """Return whether a response with this status is not the answer."""
        return status in self.retried

    def send(self, case: TimedCase) -> Connection:
        """Send the request, and return the connection with the head of its response."""
        address, request = urlsplit(case.base_url), case.interaction.request
        sender = http.client.HTTPConnection(address.netloc, timeout=self.timeout(case))
        path = address.path + (urlsplit(request.uri).path or "/")
        headers = {"content-type": "application/json"}
        sender.request("POST", path, request.body or b"{}", headers)
        # The response keeps the socket open, and the sender forgets it if the server closes it.
        return sender.sock, sender.getresponse()

    def timeout(self, case: TimedCase) -> float | None:
        """Return the seconds without data after which the client gives up."""
        return case.idle_timeout

    def wait(self, response: http.client.HTTPResponse) -> None:
        """Wait before the next request, as long as the server demands."""
        response.read()
        demanded = response.headers.get("retry-after", "")
        sleep(float(demanded) if demanded.isdigit() else _BACKOFF_SECONDS)

    def close(self, connection: Connection) -> None:
        """Close the connection, because the answer is complete or the consumer wants no more."""
        connection[1].close()
        connection[0].close()

    def deltas(self, case: TimedCase, connection: Connection) -> Iterator[Delta]:
        """Yield the deltas of a response."""
        broke: list[str] = []
        interaction = _with_head(case.interaction, connection[1])
        for delta in respond(interaction, self.reads(case, connection, broke)):
            yield self.with_break(delta, broke[0]) if broke else delta

    def with_break(self, delta: Delta, why: str) -> Delta:
        """Return a delta as it is after the connection broke: no call ends, and the turn fails."""
        if isinstance(delta, ToolCallEnd):
            return ToolCallRejected(delta.index, ParseError("tool_use", why))
        return StreamFailure("interrupted", why) if isinstance(delta, Finish) else delta

    def reads(self, case: TimedCase, connection: Connection, broke: list[str]) -> Iterator[bytes]:
        """Yield the body; if the connection breaks, say why in `broke`."""
        limit = self.timeout(case)
        due = None if limit is None else monotonic() + limit
        while True:
            try:
                connection[0].settimeout(None if due is None else max(due - monotonic(), 0.001))
                data = connection[1].read1(_READ_BYTES)
            except TimeoutError:
                broke.append(f"no data for {limit} s")
                return
            except (OSError, http.client.HTTPException) as problem:
                broke.append(f"the connection broke: {problem}")
                return
            if not data:
                return
            yield data
            if limit is not None and self.is_progress(data):
                due = monotonic() + limit

    def is_progress(self, data: bytes) -> bool:
        """Return whether data resets the idle timeout: all data does."""
        return bool(data)


class EventsOnly(HttpClient):
    """The same client, with an idle timeout that comments and pings do not reset."""

    def is_progress(self, data: bytes) -> bool:
        """Return whether data resets the idle timeout: only events of the answer do."""
        return is_event(data)


def is_event(data: bytes) -> bool:
    """Return whether a read has an event of the answer, and not only a comment or a ping."""
    return not data.startswith(_KEEP_ALIVES)


def _with_head(interaction: Interaction, response: http.client.HTTPResponse) -> Interaction:
    headers = tuple(response.headers.items())
    return msgspec.structs.replace(interaction, status=response.status, headers=headers)


def is_content(delta: Delta) -> bool:
    """Return whether agent code gets a part of the answer with a delta."""
    return not isinstance(delta, Finish | StreamFailure | UsageDelta)


def timed_normalizer(
    name: str, client: HttpClient, summary: str, *, keep_alive: str = "resets", breaks: str = ""
) -> Normalizer:
    """Return `reference` with a client for timing scenarios."""
    return msgspec.structs.replace(
        reference.normalizer,
        name=name,
        summary=summary,
        role="mutant" if breaks else "conforming",
        breaks=frozenset(breaks.split()),
        policies={**reference.normalizer.policies, "keep-alive": keep_alive},
        timed=TimedClient(client.run),
    )


TIMED_REFERENCES: Final = {
    each.name: each
    for each in (
        timed_normalizer(
            "timed-reference", HttpClient(), "a client of HTTP that keeps the rules about time"
        ),
        timed_normalizer(
            "timed-reference-events",
            EventsOnly(),
            "the same, with an idle timeout that comments and pings do not reset",
            keep_alive="ignored",
        ),
    )
}
