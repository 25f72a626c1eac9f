"""How much `harness serve` carries: many streams at once, each of other contents.

    python -m benchmarks.serving [--streams N] [--events N] [--delay MS] [--over N] [--stalled N]
                                 [--json]

It writes a cassette for each stream, starts `harness serve` in another process, opens all
streams, and compares each byte and each chunk with the cassette. `--stalled` more clients send a
request and read nothing, or half a request and nothing more. While all connections are open,
`--over` more clients must get status 503. The memory of the server is what the kernel counts
(`VmRSS` and `VmHWM`, Linux only).
"""

import argparse
import asyncio
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from harness.dialects.table import DIALECTS
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Interaction, Request

_PATH: Final = "/v1/chat/completions"
_BUFFER_BYTES: Final = 1 << 16
_WAIT_SECONDS: Final = 600
_REFUSAL_SECONDS: Final = 20

_Connection: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Found(msgspec.Struct):
    """What the clients of one run found.

    Fields:
        complete: streams whose bytes and chunks are those of their cassette.
        wrong: other streams.
        refused: clients beyond the limit that got status 503 and a reason.
        dropped: clients beyond the limit that got anything else.
        seconds: from the first connection to the last byte.
    """

    complete: int = 0
    wrong: int = 0
    refused: int = 0
    dropped: int = 0
    seconds: float = 0.0


def stream_answer(stream: int, events: int) -> Interaction:
    """Return an answer of `events` events that no other stream has."""
    # The writer adds an event that opens the message, one that ends it, and `[DONE]`.
    texts = (TextDelta(f"stream {stream} event {event} ") for event in range(events - 3))
    return DIALECTS["openai-chat"].interaction(
        (*texts, Finish(FinishReason.STOP, "stop")),
        request=Request("POST", f"https://api.example.com{_PATH}"),
    )


def write_cassettes(folder: Path, streams: int, events: int) -> Iterator[Interaction]:
    """Write a cassette for each stream, and yield its answer."""
    origin = Origin("emulated", by="benchmarks/serving.py")
    for stream in range(streams):
        answer = stream_answer(stream, events)
        save_cassette(Cassette(_name(stream), (answer,), origin), folder / f"{_name(stream)}.yaml")
        yield answer


def _name(stream: int) -> str:
    return f"s{stream}"


async def read_streams(
    port: int, answers: Sequence[Interaction], *, delay: int = 0, over: int = 0, stalled: int = 0
) -> Found:
    """Read all streams at the same time, and compare each with its answer.

    Args:
        port: of the server, which plays `answers` under the ids `cassette:s0` and so on.
        answers: one for each stream.
        delay: milliseconds that the server waits before each read.
        over: clients that connect while all other connections are open.
        stalled: clients that connect first, and do not read an answer.
    """
    clients = _Clients(port, len(answers))
    started = time.perf_counter()
    stalling = [await clients.stall(number, delay) for number in range(stalled)]
    tasks = [asyncio.create_task(clients.read(*each, delay)) for each in enumerate(answers)]
    await asyncio.wait_for(clients.started.wait(), _WAIT_SECONDS)
    await asyncio.gather(*(clients.try_beyond() for _ in range(over)))
    await asyncio.wait_for(clients.ended.wait(), _WAIT_SECONDS)
    clients.found.seconds = time.perf_counter() - started
    clients.closing.set()
    await asyncio.gather(*tasks)
    for _, writer in stalling:
        writer.close()
    await asyncio.sleep(0)  # lets the transports close
    return clients.found


class _Clients:
    """The clients of one run; none reads an event before all streams have begun."""

    def __init__(self, port: int, streams: int) -> None:
        self.found = Found()
        self.started, self.ended, self.closing = (asyncio.Event() for _ in range(3))
        self._port = port
        self._begun = 0
        self._streams = streams

    async def read(self, number: int, answer: Interaction, delay: int) -> None:
        """Read one stream, and compare it."""
        reader, writer = await self._connect()
        writer.write(_request(f"/delay={delay}/cassette:{_name(number)}{_PATH}"))
        try:
            await reader.readuntil(b"\r\n\r\n")
            await self._wait_for_all()
            right = await _is_answer(reader, answer)
        except (EOFError, OSError, ValueError):
            right = False
        self.found.complete += right
        self.found.wrong += not right
        if self.found.complete + self.found.wrong == self._streams:
            self.ended.set()
        await self.closing.wait()
        writer.close()

    async def stall(self, number: int, delay: int) -> _Connection:
        """Send a request and read nothing; each second client sends half of it."""
        reader, writer = await self._connect(limit=1)
        request = _request(f"/delay={delay}/cassette:{_name(0)}{_PATH}")
        writer.write(request if number % 2 else request[: len(request) // 2])
        return reader, writer

    async def try_beyond(self) -> None:
        """Send a request that the server must refuse."""
        status = rest = b""
        reader, writer = await self._connect()
        with closing(writer), suppress(OSError):
            writer.write(_request("/"))
            async with asyncio.timeout(_REFUSAL_SECONDS):
                status, rest = await reader.readline(), await reader.read()
        refused = status.startswith(b"HTTP/1.1 503 ") and b"its limit" in rest
        self.found.refused += refused
        self.found.dropped += not refused

    async def _connect(self, limit: int = _BUFFER_BYTES) -> _Connection:
        return await asyncio.open_connection("127.0.0.1", self._port, limit=limit)

    async def _wait_for_all(self) -> None:
        self._begun += 1
        if self._begun == self._streams:
            self.started.set()
        await self.started.wait()


def _request(path: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n"
    return head.encode() + b"{}"


async def _is_answer(reader: asyncio.StreamReader, answer: Interaction) -> bool:
    """Return whether the chunks of the next body are the reads of `answer`."""
    start = 0
    for read in answer.reads:
        size = int(await reader.readline(), 16)
        chunk = await reader.readexactly(size + 2)
        if chunk != answer.body[start : start + read.size] + b"\r\n":
            return False
        start += read.size
    return await reader.readexactly(5) == b"0\r\n\r\n"


@contextmanager
def served(folder: Path, connections: int) -> Iterator[tuple[int, int]]:
    """Run `harness serve` on a folder; yield the id of its process and its port."""
    program = "from harness.cli import main; main()"
    options = ("serve", str(folder), "--connections", str(connections))
    with subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, "-c", program, *options], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.pid, int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.terminate()


def memory_mb(process: int, field: str) -> float | None:
    """Return what the kernel counts for a process, in MB; None if it does not."""
    status = Path(f"/proc/{process}/status")
    if not status.is_file():
        return None
    found = re.search(rf"^{field}:\s*(\d+) kB$", status.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else None


def measure(streams: int, events: int, *, delay: int, over: int, stalled: int) -> dict[str, object]:
    """Return the measured numbers of one run."""
    with tempfile.TemporaryDirectory() as name:
        answers = list(write_cassettes(Path(name), streams, events))
        started = time.perf_counter()
        with served(Path(name), streams + stalled) as (process, port):
            loaded = time.perf_counter() - started
            before = memory_mb(process, "VmRSS")
            found = asyncio.run(
                read_streams(port, answers, delay=delay, over=over, stalled=stalled)
            )
            peak = memory_mb(process, "VmHWM")
    return {
        "python": platform.python_version(),
        "streams": streams,
        "events": events,
        "delay_ms": delay,
        "stalled": stalled,
        "bytes": sum(len(answer.body) for answer in answers),
        **msgspec.to_builtins(found),
        "load_seconds": loaded,
        "loaded_mb": before,
        "peak_mb": peak,
    }


def main() -> None:
    """Print the numbers; the exit code is 1 if a stream was wrong or a client was dropped."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--delay", type=int, default=0, metavar="MS")
    parser.add_argument("--over", type=int, default=100)
    parser.add_argument("--stalled", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    measured = measure(
        given.streams, given.events, delay=given.delay, over=given.over, stalled=given.stalled
    )
    if given.json:
        print(json.dumps(measured))
    else:
        for name, value in measured.items():
            print(f"{name:<14}{value:,.1f}" if isinstance(value, float) else f"{name:<14}{value}")
    raise SystemExit(1 if measured["wrong"] or measured["dropped"] else 0)


if __name__ == "__main__":
    main()
