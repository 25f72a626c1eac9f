"""How much later the events of many streams arrive through `harness serve` and the proxy.

    python -m benchmarks.serving_latency [--streams N] [--events N] [--pace MS] [--json]

The same streams are read at the same time over four routes: from a bare asyncio server (the
floor), from that server through `harness record --proxy`, from `harness serve`, and from `harness
serve` through the proxy. Each server, the proxy and the clients have a process of their own. Both
servers wait before each event, so an event is due when the pace has passed since the request or
the event before. The latency of the first event contains the connections, also that of the proxy
to its upstream. Each byte, each chunk and each recorded body is compared.
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
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Final

import msgspec

from benchmarks.serving import memory_mb, served, write_cassettes
from harness.playback.server import allowed_connections
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction

FLOOR: Final = "floor"
ROUTES: Final = (FLOOR, "floor, proxy", "serve", "serve, proxy")
_WAIT_SECONDS: Final = 600
# The clients begin within this part of the time of a stream.
_RAMP: Final = 0.4
_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


class Figures(msgspec.Struct):
    """What the clients of one route found.

    Fields:
        complete: streams whose bytes and chunks are those of their cassette.
        wrong: other streams.
        recorded: streams whose bytes the proxy recorded exactly; None without the proxy.
        first_ms: median latency of the first event of a stream.
        first_p99_ms: 99 of 100 streams began at most so late.
        event_ms: median latency of all other events.
        event_p99_ms: 99 of 100 of them arrived at most so late.
        serve_mb: peak memory of `harness serve`; None without it.
        proxy_mb: peak memory of the proxy, before it writes the cassette; None without it.
    """

    complete: int = 0
    wrong: int = 0
    recorded: int | None = None
    first_ms: float = 0.0
    first_p99_ms: float = 0.0
    event_ms: float = 0.0
    event_p99_ms: float = 0.0
    serve_mb: float | None = None
    proxy_mb: float | None = None


async def serve_floor(answers: Sequence[Interaction], pace: float) -> None:
    """Serve answers with one write for each read, after a pause; print the address first."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            head = await reader.readuntil(b"\r\n\r\n")
            stream = int((re.search(rb":s(\d+)/", head) or [b"", b"0"])[1])
            writer.write(_HEAD)
            for chunk in _chunks(answers[stream]):
                await asyncio.sleep(pace)
                writer.write(chunk)
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1_024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def _chunks(answer: Interaction) -> Iterator[bytes]:
    start = 0
    for read in answer.reads:
        yield b"%x\r\n%b\r\n" % (read.size, answer.body[start : start + read.size])
        start += read.size


async def read_paced(port: int, answers: Sequence[Interaction], pace: float) -> Figures:
    """Read all streams at the same time.

    Args:
        port: of the server or the proxy.
        answers: one for each stream.
        pace: seconds before each event.
    """
    clients = [
        _read_one(port, number, answer, pace, _RAMP * number / len(answers))
        for number, answer in enumerate(answers)
    ]
    async with asyncio.timeout(_WAIT_SECONDS):
        results = await asyncio.gather(*clients)
    complete = sum(right for right, _ in results)
    first = quantiles([1_000 * each for _, late in results for each in late[:1]], n=100)
    other = quantiles([1_000 * each for _, late in results for each in late[1:]], n=100)
    return Figures(
        complete,
        len(answers) - complete,
        first_ms=first[49],
        first_p99_ms=first[98],
        event_ms=other[49],
        event_p99_ms=other[98],
    )


async def _read_one(
    port: int, number: int, answer: Interaction, pace: float, begin: float
) -> tuple[bool, list[float]]:
    """Return whether the bytes and chunks are right, and the seconds that each event was late."""
    late: list[float] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        await asyncio.sleep(begin * pace * len(answer.reads))
        path = f"/delay={pace * 1_000:.0f}/cassette:s{number}/v1/chat/completions"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        before = time.perf_counter()
        try:
            await reader.readuntil(b"\r\n\r\n")
            for chunk in _chunks(answer):
                if await reader.readexactly(len(chunk)) != chunk:
                    return False, late
                arrived = time.perf_counter()
                late.append(arrived - before - pace)
                before = arrived
            return await reader.readexactly(5) == b"0\r\n\r\n", late
        except (EOFError, OSError):
            return False, late


@contextmanager
def _started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command whose first line is its address; yield its process and the address."""
    with subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.terminate()
            process.communicate(timeout=_WAIT_SECONDS)


def measure_route(route: str, folder: Path, answers: Sequence[Interaction], pace: float) -> Figures:
    """Return the figures of one route."""
    recording = folder / "proxy.yaml"
    recording.unlink(missing_ok=True)
    serving = proxying = 0
    with ExitStack() as stack:
        if route.startswith(FLOOR):
            program = ("-m", "benchmarks.serving_latency", "--floor", str(folder / "cassettes"))
            _, address = stack.enter_context(_started(*program, "--pace", str(pace * 1_000)))
        else:
            serving, port = stack.enter_context(served(folder / "cassettes", len(answers)))
            address = f"http://127.0.0.1:{port}"
        if route.endswith("proxy"):
            command = ("-c", "from harness.cli import main; main()", "record", "--proxy", "0")
            options = ("--upstream", address, "-o", str(recording), "--allow-in-ci")
            process, address = stack.enter_context(_started(*command, *options))
            proxying = process.pid
        port = int(address.rpartition(":")[2])
        found = asyncio.run(read_paced(port, answers, pace))
        found.serve_mb = memory_mb(serving, "VmHWM") if serving else None
        found.proxy_mb = memory_mb(proxying, "VmHWM") if proxying else None
    if route.endswith("proxy"):
        found.recorded = count_recorded(recording, answers)
    return found


def count_recorded(recording: Path, answers: Sequence[Interaction]) -> int:
    """Return how many of the answers are in a cassette, with each byte and the end."""
    bodies = {
        each.body for each in load_cassette(recording).interactions if each.ended == "complete"
    }
    return sum(answer.body in bodies for answer in answers)


def measure(streams: int, events: int, pace: float) -> dict[str, Figures]:
    """Return the figures of each route."""
    allowed = allowed_connections(streams)
    if allowed < streams:
        raise SystemExit(f"the limit of open files allows {allowed} streams: use ulimit -n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = list(write_cassettes(folder / "cassettes", streams, events))
        return {route: measure_route(route, folder, answers, pace) for route in ROUTES}


def _answers_in(folder: Path) -> list[Interaction]:
    """Return the answers that `write_cassettes` wrote, in their order."""
    paths = sorted(folder.glob("*.yaml"), key=lambda path: int(path.stem[1:]))
    return [load_cassette(path).interactions[0] for path in paths]


def main() -> None:
    """Print the figures; the exit code is 1 if a stream was wrong or not recorded."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--events", type=int, default=40)
    parser.add_argument("--pace", type=float, default=250, metavar="MS")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--floor", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    pace = given.pace / 1_000
    if given.floor:
        asyncio.run(serve_floor(_answers_in(given.floor), pace))
    figures = measure(given.streams, given.events, pace)
    if given.json:
        settings = {"python": platform.python_version(), **vars(given)}
        print(json.dumps({**settings, "routes": msgspec.to_builtins(figures)}, default=str))
    else:
        _print_table(figures)
    wrong = (each.wrong or each.recorded not in (None, given.streams) for each in figures.values())
    raise SystemExit(1 if any(wrong) else 0)


def _print_table(figures: dict[str, Figures]) -> None:
    names = Figures.__struct_fields__
    print("".join(f"{name:>17}" for name in ("route", *names)))
    for route, found in figures.items():
        values = (getattr(found, name) for name in names)
        cells = (f"{value:,.1f}" if isinstance(value, float) else str(value) for value in values)
        print("".join(f"{cell:>17}" for cell in (route, *cells)))


if __name__ == "__main__":
    main()
