"""Run a command of a peer with limits of time and output, and end it with its child processes."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import IO, Final, NamedTuple

_READ_BYTES: Final = 1 << 16
_KEPT_BYTES: Final = 1 << 17
_SHOWN_CHARS: Final = 300
_DRAIN_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.2

# A library must not find the user's keys, proxies or settings: the result would depend on them.
_PASSED: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "TERM")
# A library that ignores its transport must not reach a provider. Loopback is not affected.
_NOWHERE: Final = "http://127.0.0.1:9"
_NO_NETWORK: Final = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _NOWHERE),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost,::1"),
}


class Ended(NamedTuple):
    """The result of a command that ended.

    Fields:
        code: the exit code, negative for a signal; None if the time limit ended the command.
        output: the end of what the command printed.
        seconds: how long the command took.
    """

    code: int | None
    output: str
    seconds: float

    @property
    def last_line(self) -> str:
        """The last line of the output that is not empty; "" if there is none."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1][:_SHOWN_CHARS] if lines else ""


def judging_variables(executables: Path, home: Path) -> dict[str, str]:
    """Return the environment variables of a process that judges: no user settings, no network.

    Args:
        executables: a folder of programs that are preferred to those of the user.
        home: a folder to use instead of the user's home, which may contain settings such as
            `.aws/config`.
    """
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    path = os.pathsep.join(filter(None, (str(executables), passed.get("PATH", ""))))
    return {**passed, **_NO_NETWORK, "PATH": path, "HOME": str(home)}


def run_bounded(
    command: Sequence[str | Path],
    *,
    folder: Path,
    seconds: float,
    variables: Mapping[str, str] | None = None,
    stop: Event | None = None,
) -> Ended:
    """Run `command` in `folder`, and end it and its children after `seconds`.

    Args:
        command: program and arguments.
        folder: the working folder of the command.
        seconds: the time limit.
        variables: the environment variables; None for the variables of this process.
        stop: if another thread sets this event, the command is ended as by its time limit.

    Raises:
        OSError: the command cannot be started.
    """
    start = monotonic()
    process = subprocess.Popen(  # noqa: S603 - a program of an environment that this package made
        [str(part) for part in command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that its children can be ended with it
    )
    kept = bytearray()
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    reader = Thread(target=_read, args=(process.stdout, kept), daemon=True)
    reader.start()
    try:
        code = _wait(process, start + seconds, stop or Event())
    finally:
        _end(process)
    reader.join(_DRAIN_SECONDS)
    output = bytes(kept).decode("utf-8", "replace")
    return Ended(code, output, monotonic() - start)


def _wait(process: "subprocess.Popen[bytes]", deadline: float, stop: Event) -> int | None:
    """Return the exit code; None if the deadline or `stop` comes first."""
    while not stop.is_set() and (left := deadline - monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, _POLL_SECONDS))
    return None


def _read(stream: IO[bytes], kept: bytearray) -> None:
    """Read `stream` and keep only its end, so that a large output needs little memory."""
    with stream, suppress(OSError, ValueError):
        while chunk := os.read(stream.fileno(), _READ_BYTES):
            kept += chunk
            del kept[:-_KEPT_BYTES]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process and its child processes, even if the process itself has ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
