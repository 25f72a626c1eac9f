"""Serve the page of a run in progress on 127.0.0.1, and render it again when the file changes.

All clients get the same page, and only one page is rendered at a time. A run file over `MAX_BYTES`
is rejected. Web pages of other sites may link to the page, but cannot read it.
"""

import gzip
import hashlib
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, Final

import msgspec

from harness.errors import HarnessError, UnreadableError
from harness.files.write import partial_path
from harness.playback.handler import LoopbackHandler
from harness.playback.server import LoopbackServer
from harness.playback.transports import RawHeaders
from harness.results.run import Run
from harness.results.store import read_run
from harness.wire.interaction import Request

MAX_BYTES: Final = 512 * 1024**2

Render = Callable[[Run], str]


class _RenderedPage(msgspec.Struct, frozen=True):
    """A rendered page with its version, and the state of the run file at that time."""

    stamp: tuple[str, int, int]
    version: str
    page: bytes


class Live:
    """Renders the page of the run at `path`, which may be in progress.

    Args:
        path: the path of the run when it is finished.
        render: returns the page of a run.
    """

    def __init__(self, path: Path, render: Render) -> None:
        self._path = path
        self._render = render
        self._lock = Lock()
        self._rendered: _RenderedPage | None = None

    def newest(self) -> tuple[str, bytes]:
        """Return a text that identifies the version of the page, and the gzipped page.

        Both stay the same until the run file changes.

        Raises:
            UnreadableError: the run file does not exist, or is too large to render repeatedly.
        """
        with self._lock:
            file, stamp = self._file()
            if self._rendered is None or self._rendered.stamp != stamp:
                page = gzip.compress(self._render(read_run(file)).encode(), 1, mtime=0)
                self._rendered = _RenderedPage(stamp, hashlib.sha256(page).hexdigest()[:16], page)
            return self._rendered.version, self._rendered.page

    def _file(self) -> tuple[Path, tuple[str, int, int]]:
        """Return the file of the run in progress, or else the finished run, and its state."""
        for file in (partial_path(self._path), self._path):
            try:
                found = file.stat()
            except FileNotFoundError:
                continue
            if found.st_size > MAX_BYTES:
                raise UnreadableError(
                    f"larger than {MAX_BYTES} bytes",
                    where=str(file),
                    hint="Wait until the run ends, then use `harness report`.",
                )
            if found.st_size:  # 0 until the header is written
                return file, (file.name, found.st_size, found.st_mtime_ns)
        raise UnreadableError(
            "no such run", where=str(self._path), hint="Write one with `harness run`."
        )


class LiveServer(LoopbackServer):
    """Serves the page at `/`, and at `/version` a text that changes with the page.

    Args:
        live: renders the page.
        port: 0 for any free port.

    Raises:
        UsageError: the port is not available when the block begins.
    """

    def __init__(self, live: Live, port: int = 0) -> None:
        super().__init__(partial(_Handler, live), port)

    @property
    def address(self) -> str:
        """The URL to open in a browser."""
        return f"{self.base_url}/"


class _Handler(LoopbackHandler):
    """Answers requests for the page and its version."""

    linked = frozenset({"/"})

    def __init__(self, live: Live, *connection: Any) -> None:  # noqa: ANN401 - the arguments of socketserver
        self._live = live
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Answer with the page or its version."""
        target = self.head.target if self.head else ""
        if request.method not in ("GET", "HEAD"):
            self._answer(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", b"expected GET\n")
        elif target not in ("/", "/version"):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")
        else:
            self._answer_newest(target)

    def _answer_newest(self, target: str) -> None:
        try:
            version, page = self._live.newest()
        except HarnessError as error:
            text = f"{error}\n".encode()
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", text)
            return
        if target == "/":
            self._answer(HTTPStatus.OK, "text/html", page, _GZIPPED)
        else:
            self._answer(HTTPStatus.OK, "text/plain", version.encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes, headers: RawHeaders = ()) -> None:
        content = (b"content-type", f"{kind}; charset=utf-8".encode())
        self.send(status, (content, *headers, *_GUARDS), iter([body]))


_GZIPPED: Final = ((b"content-encoding", b"gzip"),)
_GUARDS: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
