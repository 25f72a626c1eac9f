"""Hostile clients, each through `harness run`, `replay`, `fuzz` and pytest.

Whatever a client does, the command ends, and its exit code is 0 only if every planned cell
conforms. The cells of the other client are judged, what the client wrote is not on standard output,
and no process is left.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.attack.attack import Attack
from tests.attack.hostile_clients import FAILING, HARMLESS, SLOW, SLOW_AT_IMPORT, UNLOADABLE

# An attempt has slow clients last, so that the tests, which make the first attempts, are quick.
_CLIENTS: Final = HARMLESS | FAILING | UNLOADABLE | SLOW | SLOW_AT_IMPORT
_SECONDS: Final = 600
_SCENARIOS: Final = ("dashscope/split-chunks", "text/plain")
_ROOT: Final = Path(__file__).parents[2]
_TOKEN: Final = "HARNESS_ATTACK"  # noqa: S105 - the name of a variable

_TEST: Final = """
from harness.testing import conformance_suite
test_other = conformance_suite("reference", select="id:text/plain", cuts="quick")
test_client = conformance_suite("hostile:normalize", select="id:text/plain", cuts="quick")
"""


def _run(folder: Path, jobs: int) -> Iterator[str]:
    paths = [str(_ROOT / f"scenarios/{each}.yaml") for each in _SCENARIOS]
    clients = ("-n", "reference", "-n", "hostile:normalize")
    ended = _command(folder, "run", *paths, *clients, "--cuts", "quick", "-j", str(jobs))
    yield from ended
    run = folder / "reports/run.jsonl"
    if run.exists():
        rows = [json.loads(line) for line in run.read_text().splitlines()]
        judged = sum(row["type"] == "result" for row in rows)
        if judged != len(_SCENARIOS) * 2:
            yield f"{judged} cells have a result"
        right = {row["outcome"] for row in rows if row.get("normalizer") == "reference"}
        if right != {"pass"}:
            yield f"the cells of the other client are {right}"


def _replay(folder: Path) -> Iterator[str]:
    yield from _command(folder, "replay", "text/plain/hostile:normalize")


def _fuzz(folder: Path) -> Iterator[str]:
    path = str(_ROOT / "scenarios/text/plain.yaml")
    yield from _command(folder, "fuzz", path, "-n", "hostile:normalize", "--profile", "dev")


def _pytest(folder: Path) -> Iterator[str]:
    (folder / "test_conformance.py").write_text(_TEST)
    yield from _ended(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


_WAYS: Final[dict[str, Callable[[Path], Iterator[str]]]] = {
    "run -j 1": lambda folder: _run(folder, 1),
    "pytest": _pytest,
    "run -j 2": lambda folder: _run(folder, 2),
    "replay": _replay,
    "fuzz": _fuzz,
}
_ATTEMPTS: Final = [(client, way) for client in _CLIENTS for way in _WAYS]


def attempt(number: int) -> list[str]:
    """Attack once."""
    client, way = _ATTEMPTS[number]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hostile.py").write_text(_CLIENTS[client])
        found = [*_WAYS[way](folder), *_left(str(folder))]
    return [f"{client}, {way}: {each}" for each in found]


def _command(folder: Path, *arguments: str) -> Iterator[str]:
    yield from _ended(
        folder, sys.executable, "-c", "from harness.cli import main; main()", *arguments
    )


def _ended(folder: Path, *command: str) -> Iterator[str]:
    """Run a command and yield what is wrong with its end."""
    environment = {**os.environ, _TOKEN: str(folder), "PYTHONPATH": str(_ROOT)}
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield f"it did not end within {_SECONDS} s"
        return
    source = (folder / "hostile.py").read_text()
    harmless = source in HARMLESS.values()
    codes = {0} if harmless else {1, 2}
    if source == HARMLESS["leaves-a-thread"] and "fuzz" in command:
        codes = {0, 1}  # a search has more responses than a process may have threads
    if ended.returncode not in codes:
        yield f"exit code {ended.returncode}: {ended.stderr[-300:]!r}"
    if harmless and b"HOSTILE" in ended.stdout and "replay" not in command:  # it shows the output
        yield "it wrote to standard output"


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
