"""Relay one WebSocket connection between a client and an upstream, and keep its messages.

Each message is appended to a journal before it is forwarded, without secrets, so that a kill loses
no message that was forwarded. When the connection ends, the journal becomes a cassette next to that
of the recorder: `NAME.session-1.yaml`.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final

import msgspec

from harness.errors import HarnessError, UnscrubbedError
from harness.files.write import LineFile, partial_path
from harness.playback.websocket import ABNORMAL, WebSocketConnection
from harness.recording.secrets.scrubber import Scrubber
from harness.recording.sessions import (
    clean_session,
    detected_session,
    found_session,
    session_cassette,
)
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Request
from harness.wire.session import Opcode, Session, SessionFrame, Side, close_data

try:
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect
except ImportError:  # the extra `websocket` is not installed
    connect = None  # type: ignore[assignment]

_BY: Final = "harness record"
_MS: Final = 1000
_CHOOSING: Final = Lock()  # of the name of a new journal
# The opening handshake generates these; the others are the client's.
_OWN_HEADERS: Final = re.compile(r"(?i)sec-websocket-|connection$|upgrade$|host$|accept-encoding$")


class SessionJournal:
    """The journal of one session; several threads add frames.

    Args:
        cassette: the path of the recorder's cassette.
        request: the opening request, as it was sent to the upstream.
        scrubber: removes secrets.
    """

    def __init__(self, cassette: Path, request: Request, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        scrubber.learn(request)
        self._request = scrubber.request(msgspec.structs.replace(request, body=b""))
        with _CHOOSING:
            self.path, self._file = _new_journal(cassette)
        self._file.append(msgspec.json.encode(self._request) + b"\n")
        self._start = monotonic()
        self._lock = Lock()

    def add(self, side: Side, data: bytes, opcode: Opcode) -> None:
        """Append a frame without secrets.

        Raises:
            UnscrubbedError: a secret cannot be replaced.
            OSError: the journal cannot be written.
        """
        with self._lock:
            at_ms = round((monotonic() - self._start) * _MS)
            frame = SessionFrame(side, data, at_ms, opcode)
            session = Session(self._request, (frame,))
            (clean,) = clean_session(session, self._scrubber, str(self.path)).frames
            self._file.append(msgspec.json.encode(clean) + b"\n")

    def close(self) -> None:
        """Release the journal, and leave its lines to the next recorder."""
        self._file.close()

    def finish(self) -> bool:
        """Write the cassette and remove the journal; return whether a response was found."""
        data = self._file.read()
        written = write_session(self.path, data)
        self.close()
        if written:
            partial_path(self.path).unlink()
        return written


def _new_journal(cassette: Path) -> tuple[Path, LineFile]:
    """Return the path of a new cassette next to `cassette`, and its journal."""
    names = (cassette.with_name(f"{cassette.stem}.session-{n}.yaml") for n in count(1))
    path = next(it for it in names if not it.exists() and not partial_path(it).exists())
    return path, LineFile(partial_path(path))


def write_session(path: Path, data: bytes) -> bool:
    """Write the cassette of the journal in `data`; return False if it has no response.

    A last line that was incomplete at a kill is left out.
    """
    first, *lines = data.split(b"\n")
    frames = []
    for line in lines:
        with suppress(msgspec.MsgspecError):
            frames.append(msgspec.json.decode(line, type=SessionFrame))
    request = msgspec.json.decode(first, type=Request)
    closed = any(frame.opcode == "close" for frame in frames)
    session = Session(request, tuple(frames), ended="complete" if closed else "reset")
    dialect = detected_session(session).dialect
    found = found_session(session, dialect)
    if not found.turns:
        return False
    origin = Origin("recorded", by=_BY, source=request.uri.partition("?")[0])
    save_cassette(session_cassette(Cassette(path.stem, (), origin), found, dialect), path)
    return True


def recover_sessions(cassette: Path) -> Iterator[Path]:
    """Write the cassettes of the journals that killed recorders left, and yield their paths."""
    for journal in sorted(cassette.parent.glob(f"{cassette.stem}.session-*.yaml.partial")):
        path = journal.with_name(journal.name.removesuffix(".partial"))
        with suppress(BlockingIOError, HarnessError, msgspec.MsgspecError):
            file = LineFile(journal)
            written = write_session(path, file.read())
            file.close()
            if written:
                journal.unlink()
                yield path


def relay_session(client: WebSocketConnection, request: Request, journal: SessionJournal) -> None:
    """Relay the messages of both sides until one of them closes; then write the cassette.

    Args:
        client: the connection of the client.
        request: the opening request for the upstream, with an address of http or https.
        journal: keeps the messages.
    """
    address = re.sub(r"^http", "ws", request.uri)
    headers = [pair for pair in request.headers if not _OWN_HEADERS.match(pair[0])]
    wanted = client.subprotocol
    options: dict[str, Any] = {"subprotocols": [wanted]} if wanted else {}
    try:
        upstream = connect(
            address, additional_headers=headers, max_size=None, compression=None, **options
        )
    except (OSError, WebSocketException) as error:
        client.close(_NO_UPSTREAM, str(error)[:_MOST_REASON])
        return
    with upstream:
        thread = Thread(target=_from_upstream, args=(upstream, client, journal), daemon=True)
        thread.start()
        with suppress(WebSocketException, OSError, UnscrubbedError):
            for data, opcode in client.messages():
                journal.add("client", data, opcode)
                upstream.send(data if opcode == "binary" else data.decode("utf-8", "replace"))
        upstream.close()
        thread.join()
    journal.finish()


_NO_UPSTREAM: Final = 1014  # RFC 6455 registry: bad gateway
_MOST_REASON: Final = 100


def _from_upstream(upstream: Any, client: WebSocketConnection, journal: SessionJournal) -> None:  # noqa: ANN401 - a type of the optional library
    """Forward the messages of the upstream, and then the way in which it closed."""
    with suppress(WebSocketException, OSError, UnscrubbedError):
        for message in upstream:
            opcode: Opcode = "text" if isinstance(message, str) else "binary"
            data = message.encode() if isinstance(message, str) else message
            journal.add("server", data, opcode)
            client.send_message(data, opcode)
    code = upstream.close_code or ABNORMAL
    with suppress(OSError, UnscrubbedError):
        if code != ABNORMAL:
            journal.add("server", close_data(code), "close")
            client.close(code)
        client.shut_down()
