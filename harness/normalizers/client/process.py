"""Run the process of a client: start it when it is needed, and kill it if it misbehaves.

If a client prints anything but one line for each message, writes too much, closes its output or
does not answer in time, only the current case fails. The process is killed, and started again for
the next case.
"""

import json
import shlex
import subprocess
from collections import deque
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread
from typing import IO, Final, cast

import msgspec

from harness.errors import NormalizerLoadError
from harness.normalizers.client.lines import (
    AnyCase,
    ClientTurn,
    Hello,
    Introduction,
    Line,
    Reply,
    Stop,
)
from harness.normalizers.client.turn import ClientError

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 2.0
_LAST_WORDS_SECONDS: Final = 0.2
_MOST_LINE_BYTES: Final = 64 * 1024 * 1024
_MOST_LINES: Final = 16  # of a client that floods, no further line is read
_KEPT_LINES: Final = 20
_MOST_STDERR_CHARS: Final = 300
_SHOWN_CHARS: Final = 200

_SURROGATE: Final = b"\\ud"
_REPLY: Final[msgspec.json.Decoder[Reply]] = msgspec.json.Decoder(Reply)


class ClientProcess:
    """One process of a client, which only one thread may use at a time.

    Args:
        command: a command line, split as by a shell; no shell is used.

    Raises:
        NormalizerLoadError: the command is not valid shell syntax.
    """

    def __init__(self, command: str) -> None:
        self._where = f"client {command!r}"
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise NormalizerLoadError(str(error), where=self._where) from None
        if not self._command:
            raise NormalizerLoadError("expected a command, found none", where=self._where)
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: Queue[bytes] = Queue(_MOST_LINES)
        self._stderr: deque[str] = deque(maxlen=_KEPT_LINES)

    @property
    def id(self) -> int | None:
        """The id of the process; None if it is not running."""
        return None if self._process is None else self._process.pid

    def start(self) -> Introduction:
        """Start the process, and return its answer to `hello`.

        Raises:
            NormalizerLoadError: the process cannot be started, or does not answer `hello`.
        """
        try:
            self._process = process = subprocess.Popen(  # noqa: S603 - the user's own command
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            hint = "Name a command that can be started here, such as 'node client.mjs'."
            raise NormalizerLoadError(str(error), where=self._where, hint=hint) from None
        self._lines, self._stderr = Queue(_MOST_LINES), deque(maxlen=_KEPT_LINES)
        output, errors = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stderr)
        Thread(target=_read_lines, args=(output, self._lines), daemon=True).start()
        self._stderr_reader = Thread(target=_read_stderr, args=(errors, self._stderr), daemon=True)
        self._stderr_reader.start()
        try:
            reply = self._ask(Hello(), _START_SECONDS)
            if isinstance(reply, Introduction):
                return reply
            raise ClientError(f"expected a hello, found a turn of case {reply.id}")  # noqa: TRY301 - handled with all others
        except ClientError as error:
            self._kill()
            hint = "See docs/how-to/test-a-client.md, or run `harness schema client-protocol`."
            raise NormalizerLoadError(str(error), where=self._where, hint=hint) from None

    def turn(self, case: AnyCase, seconds: float) -> ClientTurn:
        """Send `case` to the client, and return its turn.

        Raises:
            ClientError: the client did not answer within `seconds`, or not with a turn of this
                case.
            NormalizerLoadError: the process had stopped, and cannot be started again.
        """
        if self._process is None:
            self.start()
        try:
            reply = self._ask(case, seconds)
            if isinstance(reply, Introduction):
                raise ClientError(f"expected the turn of case {case.id}, found a hello")  # noqa: TRY301 - the process must end in any case
            if reply.id != case.id:
                raise ClientError(f"expected the turn of case {case.id}, found that of {reply.id}")  # noqa: TRY301 - as above
        except BaseException:
            # Also if the time limit of the replay ended it: a later line would answer this case.
            self._kill()
            raise
        return reply

    def close(self) -> None:
        """Ask the process to stop, and kill it if it does not."""
        process = self._process
        if process is None:
            return
        with suppress(ClientError):
            self._send(Stop())
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                cast("IO[bytes]", process.stdin).close()
            process.kill()
            process.wait()

    def _ask(self, line: Line, seconds: float) -> Reply:
        if not self._lines.empty() and (surplus := self._lines.get()):
            raise ClientError(f"a line that answers no message: {_shown(surplus)}")
        self._send(line)
        try:
            found = self._lines.get(timeout=seconds)
        except Empty:
            raise ClientError(f"no reply within {seconds:g} s{self._last_words()}") from None
        if not found:
            raise ClientError(f"the process closed its output{self._last_words()}")
        if len(found) > _MOST_LINE_BYTES:
            raise ClientError(f"expected lines of at most {_MOST_LINE_BYTES} bytes")
        try:
            return _reply(found)
        except (ValueError, RecursionError) as error:
            raise ClientError(f"{error}, in the line {_shown(found)}{self._last_words()}") from None

    def _send(self, line: Line) -> None:
        process = self._process
        if process is None:
            raise ClientError("the process has ended")
        stdin = cast("IO[bytes]", process.stdin)
        try:
            stdin.write(msgspec.json.encode(line) + b"\n")
            stdin.flush()
        except OSError:
            raise ClientError(f"the process closed its input{self._last_words()}") from None

    def _last_words(self) -> str:
        """Return the end of the client's standard error, for an error message."""
        self._stderr_reader.join(_LAST_WORDS_SECONDS)
        text = "\n".join(self._stderr)[-_MOST_STDERR_CHARS:]
        return f"; its standard error ends with: {text}" if text else ""


def _reply(line: bytes) -> Reply:
    """Return the message from the client in a line.

    Raises:
        ValueError: the line is not JSON in UTF-8, or not a message of the protocol.
    """
    if _SURROGATE not in line:
        return _REPLY.decode(line)
    # JavaScript writes half a surrogate pair as an escape, which msgspec refuses.
    reply: Reply = msgspec.convert(json.loads(line), Reply)
    return reply


def _shown(line: bytes) -> str:
    return repr(line[:_SHOWN_CHARS].decode("utf-8", "replace").rstrip())


def _read_lines(stream: IO[bytes], lines: "Queue[bytes]") -> None:
    """Put each line of `stream` into the queue, and b"" at the end or after too long a line."""
    with stream, suppress(OSError, ValueError, Full):
        while line := stream.readline(_MOST_LINE_BYTES + 1):
            lines.put_nowait(line)
            if len(line) > _MOST_LINE_BYTES:
                return
        lines.put_nowait(b"")


def _read_stderr(stream: IO[bytes], kept: "deque[str]") -> None:
    with stream, suppress(OSError, ValueError):
        while line := stream.readline(_SHOWN_CHARS):
            kept.append(line.decode("utf-8", "replace").rstrip())
