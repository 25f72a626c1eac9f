"""Hostile clients, each through `harness run`, `replay`, `fuzz` and pytest.

Whatever a client does, the command ends, and its exit code is 0 only if every planned cell
conforms. The cells of the other client are judged, what the client wrote is not on standard output,
and no process is left.

A client can end the command, as any process of the same user can (`ENDING`). Then its exit code is
not 0, each line of the run file is complete, and no process is left.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.attack import hostile_clients, hostile_interpreters, hostile_processes, hostile_values
from tests.attack.attack import Attack

_SOURCES: Final = (hostile_clients, hostile_processes, hostile_interpreters, hostile_values)
# Sets of clients and their exit codes. The slow ones are last, because the tests make the first
# attempts.
_CODES: Final = {
    "HARMLESS": {0},
    "FAILING": {1, 2},
    "UNLOADABLE": {1, 2},
    "EITHER": {0, 1, 2},
    "FORGING": {0, 1, 2},
    "ENDING": {*range(-64, 0), *range(1, 256)},
    "SLOW": {1, 2},
    "SLOW_AT_IMPORT": {1, 2},
}


class _Client(NamedTuple):
    source: str
    kind: str


_CLIENTS: Final = {
    name: _Client(text, kind)
    for kind in _CODES
    for module in _SOURCES
    for name, text in getattr(module, kind, {}).items()
}
# Through these ways, the client has more replays than a process may have threads.
_TOO_MANY: Final = frozenset({("leaves-a-thread", "fuzz"), ("has-hooks-that-hang", "fuzz")})
_SECONDS: Final = 600
_SCENARIOS: Final = ("dashscope/split-chunks", "text/plain")
_ROOT: Final = Path(__file__).parents[2]
_TOKEN: Final = "HARNESS_ATTACK"  # noqa: S105 - the name of a variable

_TEST: Final = """
from harness.testing import conformance_suite
test_other = conformance_suite("reference", select="id:text/plain", cuts="quick")
test_client = conformance_suite("hostile:normalize", select="id:text/plain", cuts="quick")
"""


def _run(folder: Path, client: _Client, jobs: int) -> Iterator[str]:
    paths = [str(_ROOT / f"scenarios/{each}.yaml") for each in _SCENARIOS]
    clients = ("-n", "reference", "-n", "hostile:normalize")
    command = _command("run", *paths, *clients, "--cuts", "quick", "-j", str(jobs))
    code = yield from _ended(folder, client, command)
    run = folder / "reports/run.jsonl"
    if run.exists():
        yield from _wrong_rows(run.read_bytes(), client, passed=code == 0)
    elif code == 0:
        yield "it passed without a run file"


def _wrong_rows(data: bytes, client: _Client, *, passed: bool) -> Iterator[str]:
    *lines, rest = data.split(b"\n")
    if rest:
        yield f"the run file ends with half a line: {rest[-80:]!r}"
    rows = [row for row in map(json.loads, lines) if row["type"] == "result"]
    if passed and (failed := [row for row in rows if row["outcome"] != "pass"]):
        yield f"it passed, and {len(failed)} cells did not"
    if client.kind == "ENDING" and not passed:
        return
    if len(rows) != len(_SCENARIOS) * 2:
        yield f"{len(rows)} cells have a result"
    right = {row["outcome"] for row in rows if row["normalizer"] == "reference"}
    if right != {"pass"}:
        yield f"the cells of the other client are {right}"


def _replay(folder: Path, client: _Client) -> Iterator[str]:
    yield from _ended(folder, client, _command("replay", "text/plain/hostile:normalize"))


def _fuzz(folder: Path, client: _Client) -> Iterator[str]:
    path = str(_ROOT / "scenarios/text/plain.yaml")
    command = _command("fuzz", path, "-n", "hostile:normalize", "--profile", "dev")
    yield from _ended(folder, client, command)


def _pytest(folder: Path, client: _Client) -> Iterator[str]:
    (folder / "test_conformance.py").write_text(_TEST)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    yield from _ended(folder, client, command)


_WAYS: Final[dict[str, Callable[[Path, _Client], Iterator[str]]]] = {
    "run -j 1": partial(_run, jobs=1),
    "pytest": _pytest,
    "run -j 2": partial(_run, jobs=2),
    "replay": _replay,
    "fuzz": _fuzz,
}
_ATTEMPTS: Final = [(name, way) for name in _CLIENTS for way in _WAYS]


def attempt(number: int) -> list[str]:
    """Attack once."""
    name, way = _ATTEMPTS[number]
    client = _CLIENTS[name]
    if (name, way) in _TOO_MANY:
        client = client._replace(kind="EITHER")
    with tempfile.TemporaryDirectory(prefix="attack-") as path:
        folder = Path(path)
        (folder / "temporary").mkdir()
        (folder / "hostile.py").write_text(client.source)
        found = [*_WAYS[way](folder, client), *_left(path)]
    return [f"{name}, {way}: {each}" for each in found]


def _command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", "from harness.cli import main; main()", *arguments)


def _ended(
    folder: Path, client: _Client, command: tuple[str, ...]
) -> Generator[str, None, int | None]:
    """Run a command, yield what is wrong with its end, and return its exit code."""
    temporary = str(folder / "temporary")
    environment = {
        **os.environ,
        _TOKEN: str(folder),
        "PYTHONPATH": str(_ROOT),
        "TMPDIR": temporary,
    }
    try:
        with _default_signals():
            ended = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # the client may send a signal to all of its group
                timeout=_SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired:
        yield f"it did not end within {_SECONDS} s"
        return None
    if ended.returncode not in _CODES[client.kind]:
        yield f"exit code {ended.returncode}: {ended.stderr[-300:]!r}"
    if client.kind == "HARMLESS" and b"HOSTILE" in ended.stdout and "replay" not in command:
        yield "it wrote to standard output"  # `replay` shows what a client wrote
    return ended.returncode


@contextmanager
def _default_signals() -> Iterator[None]:
    """Let processes handle the signals that a shell's background job, or `nohup`, ignores."""
    before = {each: signal.signal(each, signal.SIG_DFL) for each in (signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _left(token: str) -> Iterator[str]:
    """Yield the processes of an attempt that still run, after a moment."""
    for _ in range(20):
        found = list(_processes_with(token))
        if not found:
            return
        time.sleep(0.1)
    for process in found:
        yield f"the process {process} is left: {Path(f'/proc/{process}/cmdline').read_bytes()!r}"
        os.kill(process, 9)


def _processes_with(token: str) -> Iterator[int]:
    wanted = f"{_TOKEN}={token}\0".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes():
                yield int(path.parent.name)
        except OSError:
            continue


ATTACK = Attack(attempt, full=len(_ATTEMPTS), part=4)
