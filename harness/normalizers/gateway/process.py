"""Run the process of a gateway: start its command, wait until its port is open, and kill it.

The gateway is third-party code. It gets its own process group, which is killed as a whole, and
what it prints is read to its end, of which only the last lines are kept.
"""

import shlex
import socket
import subprocess
import time
from collections import deque
from contextlib import closing, suppress
from threading import Thread
from typing import IO, Final, cast

from harness.errors import NormalizerLoadError
from harness.workers import process_limits
from harness.workers.descendants import Descendants, kill_group
from harness.workers.interruption import defer_interrupts

_HOST: Final = "127.0.0.1"
_START_SECONDS: Final = 180.0
_STOP_SECONDS: Final = 3.0
_POLL_SECONDS: Final = 0.1
_CONNECT_SECONDS: Final = 1.0
_KEPT_LINES: Final = 20
_LINE_CHARS: Final = 400
_SHOWN_CHARS: Final = 600


class GatewayProcess:
    """The process of a gateway, which is started when it is needed.

    Args:
        command: a command line, split as by a shell; no shell is used. `{port}` and `{upstream}`
            are replaced.
        port: the port on which the gateway must listen.
        upstream: the port of the upstream.
    """

    def __init__(self, command: str, port: int, upstream: int) -> None:
        self._where = f"command {command!r}"
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise NormalizerLoadError(str(error), where=self._where) from None
        ports = {"{port}": str(port), "{upstream}": str(upstream)}
        self._words = [_replaced(word, ports) for word in words]
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._output: deque[str] = deque(maxlen=_KEPT_LINES)

    @property
    def id(self) -> int | None:
        """The id of the process; None if it is not running."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def ensure(self) -> bool:
        """Start the process if it does not run, and wait until it listens.

        Return whether it was started.

        Raises:
            NormalizerLoadError: it cannot be started, ends, or does not listen in time.
        """
        if self.id is not None:
            return False
        if self._process is not None:
            self.close()
        process_limits.renew(_START_SECONDS)
        try:
            with defer_interrupts():  # an interrupt must find the process that it has to end
                self._process = process = subprocess.Popen(  # noqa: S603 - the user's own command
                    self._words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except (OSError, ValueError, IndexError) as error:
            raise NormalizerLoadError(str(error), where=self._where) from None
        output = cast("IO[bytes]", process.stdout)
        Thread(target=_read_lines, args=(output, self._output), daemon=True).start()
        self._wait(process)
        return True

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            if is_listening(_HOST, self._port):
                return
            time.sleep(_POLL_SECONDS)
        code = process.poll()
        ended = f"it ended with code {code}" if code is not None else "it does not listen"
        self.close()
        raise NormalizerLoadError(
            f"{ended} (port {self._port}, {_START_SECONDS:.0f} s){self.last_words()}",
            where=self._where,
            hint="Use {port} in the command, or the port of the URL.",
        )

    def last_words(self) -> str:
        """Return the end of what the process printed, for an error message."""
        text = "\n".join(self._output)[-_SHOWN_CHARS:]
        return f"; its output ends with: {text}" if text else ""

    def close(self) -> None:
        """Ask the process to stop, and kill it and what it started."""
        process, self._process = self._process, None
        if process is None:
            return
        started = Descendants(process.pid)  # also those that have left its process group
        try:
            with suppress(OSError):
                process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
        finally:  # also at a second interrupt
            kill_group(process.pid)
            started.kill()
            process.wait()


def is_listening(host: str, port: int) -> bool:
    """Return whether a server listens at this address."""
    with suppress(OSError), socket.create_connection((host, port), _CONNECT_SECONDS):
        return True
    return False


def free_port() -> int:
    """Return a port that no server of this machine uses at the moment."""
    with closing(socket.socket()) as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _replaced(word: str, ports: dict[str, str]) -> str:
    for name, port in ports.items():
        word = word.replace(name, port)
    return word


def _read_lines(stream: IO[bytes], kept: "deque[str]") -> None:
    with stream, suppress(OSError, ValueError):
        while line := stream.readline(_LINE_CHARS):
            kept.append(line.decode("utf-8", "replace").rstrip())
