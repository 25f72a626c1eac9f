"""How many turns of a log `harness measure` reads per second, and how memory grows with the log.

    python -m benchmarks.measure --turns N [--bytes B] [--workers W] [--corpus FOLDER] [--kill]
        [--json]

A log of N turns is made of recordings, or of written streams without them, by repetition with other
ids, each body filled up to about B bytes. It is measured by local processes, and by a Dask cluster
of as many workers; `--kill` kills a worker of both midway: a process that measures, and a worker of
the cluster with all that it started. `same_counts` says whether all numbers are equal. Times are
printed, never asserted.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from harness.dialects.table import DIALECTS
from harness.errors import HarnessError
from harness.measuring.engine import PartWork, measure_parts
from harness.measuring.rates import Measured, measured
from harness.measuring.sources import parts_of
from harness.recording.importing import Labels, import_file
from harness.runs.engine import LOCAL, open_engine
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.wire.interaction import Interaction

_MB: Final = 1 << 20
_SCHEDULER: Final = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
_PAD: Final = b": %s\n\n"
_TOOL: Final = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


class Figures(msgspec.Struct, frozen=True):
    """What the benchmark prints.

    Fields:
        client_mb, dask_client_mb: peak of the process of the command before it computes rates.
        worker_mb, dask_worker_mb: peak of the largest process that it or the cluster started.
        rates_mb: peak of the process of the command at the end.
    """

    turns: int
    bytes: int
    workers: int
    local_seconds: float
    dask_seconds: float
    turns_per_second_core: float
    dask_turns_per_second_core: float
    client_mb: float
    dask_client_mb: float
    worker_mb: float
    dask_worker_mb: float
    rates_mb: float
    rates_seconds: float
    same_counts: bool
    killed: bool


def streams(corpus: Path | None) -> list[Interaction]:
    """Return recordings of the corpus with events in lines, or written streams without one."""
    if corpus is None:
        row = DIALECTS["openai-chat"]
        body = b"".join(row.write([TextDelta("word "), Finish(FinishReason.STOP, "stop")]))
        request = json.dumps({"model": "m", "messages": [], "tools": [_TOOL]}).encode()
        written = import_file(Path("a.sse"), body, "a", Labels(dialect="openai-chat"))
        one = written.cassettes[0].interactions[0]
        return [
            msgspec.structs.replace(one, request=msgspec.structs.replace(one.request, body=request))
        ]
    found: list[Interaction] = []
    for path in sorted(corpus.rglob("*")):
        if path.is_file():
            try:
                imported = import_file(path, path.read_bytes(), path.name, Labels())
            except HarnessError:
                continue
            found += [each for it in imported.cassettes for each in it.interactions]
    return [each for each in found if each.body.startswith((b"data:", b"event:"))]


def write_log(path: Path, turns: int, size: int, corpus: Path | None) -> int:
    """Write a log of `turns` turns of about `size` bytes; return the bytes of all bodies."""
    short = [each for each in streams(corpus) if len(each.body) <= size]
    total = 0
    with path.open("wb") as file:
        for number in range(turns):
            each = short[number % len(short)]
            # A comment changes the content of a stream, and nothing that it means.
            fill = b"%012d" % number + b"." * (size - len(each.body) - 18)
            body = (_PAD % fill + each.body).decode("utf-8", "replace")
            total += len(body)
            record: dict[str, Any] = {
                "body": body,
                "status": each.status,
                "dialect": each.dialect,
                "provider": "p",
                "request": each.request.body.decode("utf-8", "replace") or None,
                "time": f"2026-01-{1 + number * 28 // turns:02}T00:00:00",
            }
            file.write(msgspec.json.encode(record) + b"\n")
    return total


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """Yield the address of a Dask cluster of processes on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder) / "scheduler.json"
        dask = [str(Path(sys.executable).with_name("dask"))]
        started = [_started([*dask, "scheduler", *_SCHEDULER, "--scheduler-file", str(at)], folder)]
        try:
            while not at.exists() or not at.read_text():
                time.sleep(0.1)
            address = json.loads(at.read_text())["address"]
            worker = [*dask, "worker", address, "--nthreads", "1", "--no-dashboard"]
            started += [_started([*worker, "--name", str(n)], folder) for n in range(workers)]
            time.sleep(3)
            yield address.replace("tcp://", "dask://")
        finally:
            for each in reversed(started):
                each.terminate()
            for each in started:
                each.wait()


def _started(command: list[str], folder: str) -> "subprocess.Popen[bytes]":
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)  # noqa: S603 - ours


def measure_log(
    log: Path, folder: Path, on: str, workers: int, *, kill: bool
) -> tuple[float, float]:
    """Write the rows of a log; return the seconds that it took, and the peak of the workers."""
    folder.mkdir()
    # Dask starts its workers so; those of the harness come from a server that forks them.
    killer = threading.Timer(3.0, _kill_a_worker, [b"forkserver" if on == LOCAL else b"spawn_main"])
    begin = time.monotonic()
    with _Peaks() as peaks, open_engine(on, paths=[str(log)]) as engine:
        work = PartWork(str(folder))
        counts = measure_parts(parts_of([str(log)]), work, workers, engine.open_pool)
        for number, _ in enumerate(counts):
            if kill and not number:
                killer.start()
        seconds = time.monotonic() - begin
    killer.cancel()
    return seconds, max(peaks.found.values(), default=0) / 1024


def _started_processes() -> Iterator[Path]:
    """Yield the folder in /proc of each process below this one."""
    below = {os.getpid()}
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(path.name)] = int(_fields(path)[1])
    while more := {each for each, parent in parents.items() if parent in below} - below:
        below |= more
    return (Path(f"/proc/{each}") for each in sorted(below - {os.getpid()}))


def _fields(process: Path) -> list[str]:
    return (process / "stat").read_text().rpartition(") ")[2].split()


class _Peaks(threading.Thread):
    """Watches the memory of the processes below this one: `found` has the peak of each in KB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.found: dict[str, int] = {}
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()

    def run(self) -> None:
        """Look twice a second."""
        while not self._ended.wait(0.5):
            for path in _started_processes():
                with suppress(OSError, IndexError):
                    peak = (path / "status").read_text().split("VmHWM:")[1].split()[0]
                    self.found[path.name] = int(peak)


def _kill_a_worker(command: bytes) -> None:
    """Kill the process with the most CPU time of those that measure."""
    times: dict[int, int] = {}
    for path in _started_processes():
        with suppress(OSError):
            if command in (path / "cmdline").read_bytes():
                times[int(path.name)] = int(_fields(path)[11])  # user time
    if times:
        os.kill(max(times, key=lambda pid: times[pid]), signal.SIGKILL)


def figures(arguments: argparse.Namespace) -> Figures:
    """Return what the command line asks for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "log.jsonl"
        total = write_log(log, arguments.turns, arguments.bytes, arguments.corpus)
        rows, dask_rows = folder / "rows", folder / "dask-rows"
        options = {"kill": arguments.kill}
        local, worker = measure_log(log, rows, LOCAL, arguments.workers, **options)
        client = _peak()
        with cluster(arguments.workers) as address:
            dask, dask_worker = measure_log(log, dask_rows, address, arguments.workers, **options)
        dask_client = _peak()
        begin = time.monotonic()
        found = measured(rows)
        rates = time.monotonic() - begin
        same = _counts(found) == _counts(measured(dask_rows))
        return Figures(
            turns=found.turns + found.duplicates,
            bytes=total,
            workers=arguments.workers,
            local_seconds=local,
            dask_seconds=dask,
            turns_per_second_core=arguments.turns / local / arguments.workers,
            dask_turns_per_second_core=arguments.turns / dask / arguments.workers,
            client_mb=client,
            dask_client_mb=dask_client,
            worker_mb=worker,
            dask_worker_mb=dask_worker,
            rates_mb=_peak(),
            rates_seconds=rates,
            same_counts=same and found.turns + found.duplicates == arguments.turns,
            killed=arguments.kill,
        )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _counts(found: Measured) -> bytes:
    return msgspec.json.encode(found)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--bytes", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = figures(arguments)
    if arguments.json:
        print(msgspec.json.encode(found).decode())
        return
    for name, value in msgspec.structs.asdict(found).items():
        print(f"{name:28} {value:,.1f}" if isinstance(value, float) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
