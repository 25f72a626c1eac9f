"""One Ctrl-C ends every command within five seconds, whatever the client under test does.

On a busy machine, the command gets more time: as many times more as the start of Python takes
longer than on an idle one.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.attack.attack import Attack
from tests.attack.hostile_clients import FAILING, SLOW, SLOW_AT_IMPORT

_SECONDS: Final = 5.0
# The start of Python on an idle machine; a busy one shares its processors.
_IDLE_START: Final = 0.05
_ROOT: Final = Path(__file__).parents[2]
# Those that run for long; the others end before the signal comes.
_STUCK: Final = ("loops", "loops-and-catches-all", "sleeps", "gives-deltas-without-end")
_CLIENTS: Final = {name: FAILING[name] for name in _STUCK} | SLOW | SLOW_AT_IMPORT
# Tells that the client runs; the signal comes then.
_TELL: Final = """
def _tell():
    import pathlib
    pathlib.Path(__file__).with_name('runs').touch()
"""
_TEST: Final = """
from harness.testing import conformance_suite
test_client = conformance_suite("hostile:normalize", select="id:text/plain", cuts="quick")
"""
_MAIN: Final = (sys.executable, "-c", "from harness.cli import main; main()")
_CLIENT: Final = ("-n", "hostile:normalize")
_PATH: Final = str(_ROOT / "scenarios/text/plain.yaml")
_COMMANDS: Final[dict[str, Sequence[str]]] = {
    "run -j 1": (*_MAIN, "run", _PATH, *_CLIENT, "-j", "1"),
    "run -j 2": (*_MAIN, "run", _PATH, *_CLIENT, "-j", "2"),
    "replay": (*_MAIN, "replay", "text/plain/hostile:normalize"),
    "repro": (*_MAIN, "repro", "text/plain/hostile:normalize"),
    "fuzz": (*_MAIN, "fuzz", _PATH, *_CLIENT, "--profile", "dev"),
    "cost": (*_MAIN, "cost", *_CLIENT),
    "pytest": (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
}
_ATTEMPTS: Final = [(client, way) for client in _CLIENTS for way in _COMMANDS]


def attempt(number: int) -> list[str]:
    """Attack once."""
    client, way = _ATTEMPTS[number]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hostile.py").write_text(_TELL + _telling(_CLIENTS[client]))
        (folder / "test_conformance.py").write_text(_TEST)
        before = _seconds_to_start()
        seconds = _seconds_to_end(_COMMANDS[way], folder)
    busy = max(1.0, before / _IDLE_START, _seconds_to_start() / _IDLE_START)
    if seconds > _SECONDS * busy:
        return [
            f"{client}, {way}: it ended {seconds:.1f} s after the Ctrl-C, {busy:.1f} times busy"
        ]
    return []


def _telling(source: str) -> str:
    """Return a client that tells when it runs, or is imported."""
    start = "def normalize(interaction, reads):\n"
    if start in source:
        return source.replace(start, f"{start}    _tell()\n")
    return source.replace("\ntime.sleep", "\n_tell()\ntime.sleep")


def _seconds_to_start() -> float:
    """Return how long Python takes to start."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-S", "-E", "-c", ""], check=True)
    return time.monotonic() - started


def _seconds_to_end(command: Sequence[str], folder: Path) -> float:
    """Interrupt a command while the client runs, and return how long it then took."""
    ours = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, ours)
    try:
        while process.poll() is None and not (folder / "runs").exists():
            time.sleep(0.05)
        started = time.monotonic()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.wait(60)
        return time.monotonic() - started
    except subprocess.TimeoutExpired:
        return float("inf")
    finally:
        process.kill()
        process.wait()


ATTACK = Attack(attempt, full=len(_ATTEMPTS), part=4)
