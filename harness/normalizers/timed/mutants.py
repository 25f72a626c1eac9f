"""Copies of the timed reference client with one seeded fault each, as real clients have them."""

import http.client
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from harness.normalizers.protocol import Normalizer
from harness.normalizers.respond import respond
from harness.normalizers.timed.client import (
    Connection,
    EventsOnly,
    HttpClient,
    is_content,
    is_event,
    timed_normalizer,
)
from harness.normalizers.timing import TimedCase
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
)

_HALF_SECOND: Final = 0.5
_MOST_RETRIES: Final = 8
_MOST_KEPT: Final = 256
_TICK: Final = 0.04


class _NoTimeout(HttpClient):
    def timeout(self, case: TimedCase) -> float | None:
        del case
        return None


class _LateTimeout(HttpClient):
    def timeout(self, case: TimedCase) -> float | None:
        return None if case.idle_timeout is None else case.idle_timeout + _HALF_SECOND


class _TotalTimeout(HttpClient):
    def is_progress(self, data: bytes) -> bool:
        return not is_event(data)


class _CleanEnd(HttpClient):
    def with_break(self, delta: Delta, why: str) -> Delta:
        found = super().with_break(delta, why)
        return Finish(FinishReason.STOP, "stop") if isinstance(delta, StreamFailure) else found


class _RunsCutCall(HttpClient):
    def with_break(self, delta: Delta, why: str) -> Delta:
        del why
        return ToolCallEnd(delta.index) if isinstance(delta, ToolCallRejected) else delta


class _KeepsConnection(HttpClient):
    kept: Final[list[Connection]] = []

    def close(self, connection: Connection) -> None:
        self.kept.append(connection)
        while len(self.kept) > _MOST_KEPT:
            super().close(self.kept.pop(0))


class _RetriesAtOnce(HttpClient):
    def wait(self, response: http.client.HTTPResponse) -> None:
        response.read()


class _NeverRetries(HttpClient):
    retried = frozenset()


class _RetriesRequests(HttpClient):
    def run(self, case: TimedCase) -> Iterator[Delta]:
        most = _MOST_RETRIES if case.max_retries else 0
        yield from super().run(msgspec.structs.replace(case, max_retries=most))


class _RetriesAll(HttpClient):
    def is_retried(self, status: int) -> bool:
        return status >= http.client.BAD_REQUEST


class _RetriesAfterContent(HttpClient):
    def run(self, case: TimedCase) -> Iterator[Delta]:
        for left in range(case.max_retries, -1, -1):
            given = False
            for delta in super().run(case):
                if left and given and isinstance(delta, StreamFailure):
                    break
                given = given or is_content(delta)
                yield delta
            else:
                return


class _Mixes(HttpClient):
    def deltas(self, case: TimedCase, connection: Connection) -> Iterator[Delta]:
        reads: list[bytes] = []
        for left in range(case.max_retries, -1, -1):
            broke: list[str] = []
            if not left and not reads:
                yield from super().deltas(case, connection)
                return
            reads += self.reads(case, connection, broke)
            if not (left and broke):
                break
            self.close(connection)
            connection = self.send(case)
        self.close(connection)
        yield from respond(case.interaction, reads)


class _DropsWhenSlow(HttpClient):
    def reads(self, case: TimedCase, connection: Connection, broke: list[str]) -> Iterator[bytes]:
        waited = 0.0
        for data in super().reads(case, connection, broke):
            if waited > _TICK:
                waited = 0.0  # the buffer was full
                continue
            before = time.monotonic()
            yield data
            waited = time.monotonic() - before


_FAULTS: Final[dict[str, tuple[str, HttpClient, str]]] = {
    "stall-waited": ("TIME-STALL-ENDS", _NoTimeout(), "has no idle timeout"),
    "stall-late": ("TIME-STALL-ENDS", _LateTimeout(), "gives up half a second too late"),
    "total-timeout": (
        "TIME-BYTES-USED",
        _TotalTimeout(),
        "takes its idle timeout for the time of the whole answer",
    ),
    "ping-unheard": ("TIME-KEEP-ALIVE", EventsOnly(), "gives up although the server sends pings"),
    "break-as-end": ("TIME-FAILURE-TOLD", _CleanEnd(), "reports a broken answer as a finished one"),
    "cut-call-run": ("TIME-CALL-NOT-RUN", _RunsCutCall(), "executes a call that broke off"),
    "connection-kept": (
        "TIME-UPSTREAM-CLOSED",
        _KeepsConnection(),
        "leaves the connection open when its consumer leaves",
    ),
    "retry-at-once": ("TIME-RETRY-AFTER", _RetriesAtOnce(), "does not wait for retry-after"),
    "never-retried": ("TIME-RETRY-STATUS", _NeverRetries(), "does not send a request again"),
    "retry-unbounded": (
        "TIME-RETRY-BOUND",
        _RetriesRequests(),
        "sends a request more often than it was told",
    ),
    "retry-all": ("TIME-RETRY-BOUND", _RetriesAll(), "sends a request again that was refused"),
    "retry-after-content": (
        "TIME-NOT-TWICE",
        _RetriesAfterContent(),
        "sends a request again after agent code got a part of the answer",
    ),
    "answers-mixed": ("TIME-NO-MIX", _Mixes(), "joins a broken answer and the next one"),
    "slow-drops": ("TIME-SLOW-CONSUMER", _DropsWhenSlow(), "drops data if its consumer is slow"),
}
TIMED_MUTANTS: Final[dict[str, Normalizer]] = {
    name: timed_normalizer(name, client, summary, breaks=breaks)
    for name, (breaks, client, summary) in _FAULTS.items()
} | {
    "ping-counted": timed_normalizer(
        "ping-counted",
        HttpClient(),
        "declares that pings do not reset its idle timeout, and they do",
        keep_alive="ignored",
        breaks="TIME-KEEP-ALIVE",
    )
}
