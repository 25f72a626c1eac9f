"""The page of a run in progress on 127.0.0.1, rendered again when the run file changes.

All clients share one page, and one page is rendered at a time. A run file over `MAX_BYTES` is
rejected. A request must have this server in Host, and in Origin if it has one, so that no other
site can read the page through a name that resolves to this machine (DNS rebinding).
"""

import gzip
import hashlib
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any, Final

import msgspec

from harness.errors import HarnessError, UnreadableError, UsageError
from harness.files.write import partial_path
from harness.runs.run import Run
from harness.runs.store import read_run

HOST: Final = "127.0.0.1"
MAX_BYTES: Final = 512 * 1024**2
_MOST_CONNECTIONS: Final = 32
_SECONDS: Final = 10
_NAMES: Final = (HOST, "localhost")

Render = Callable[[Run], str]


class _RenderedPage(msgspec.Struct, frozen=True):
    """A page, and the state of the file that it shows."""

    stamp: tuple[str, int, int]
    version: str
    page: bytes


class Live:
    """The newest page of the run at `path`, finished or not.

    Args:
        path: of the run when it is finished.
        render: returns the page of a run.
    """

    def __init__(self, path: Path, render: Render) -> None:
        self._path = path
        self._render = render
        self._lock = Lock()
        self._rendered: _RenderedPage | None = None

    def newest(self) -> tuple[str, bytes]:
        """Return the version and the gzipped page; the same until the file changes.

        Raises:
            UnreadableError: there is no such run, or it is too large to render repeatedly.
        """
        with self._lock:
            file, stamp = self._file()
            if self._rendered is None or self._rendered.stamp != stamp:
                page = gzip.compress(self._render(read_run(file)).encode(), 1, mtime=0)
                self._rendered = _RenderedPage(stamp, hashlib.sha256(page).hexdigest()[:16], page)
            return self._rendered.version, self._rendered.page

    def _file(self) -> tuple[Path, tuple[str, int, int]]:
        """Return the partial run file, or else the finished one, and its state."""
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


class LiveServer(ThreadingHTTPServer):
    """Answers `/` with the page, and `/version` with a text that changes with the page.

    Args:
        live: the page.
        port: 0 for any free port.

    Raises:
        UsageError: the port is not available.
    """

    daemon_threads = True

    def __init__(self, live: Live, port: int = 0) -> None:
        self._seats = BoundedSemaphore(_MOST_CONNECTIONS)
        try:
            super().__init__((HOST, port), partial(_Handler, live))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"cannot listen on {HOST}:{port}: {error}",
                hint="Choose another port, or 0 for any free port.",
            ) from None

    @property
    def address(self) -> str:
        """The address for a browser."""
        return f"http://{HOST}:{self.server_port}/"

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401 - as socketserver types it
        """Accept a connection, unless too many are open."""
        del request, client_address
        return self._seats.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Answer one connection, and allow another one."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._seats.release()


class _Handler(BaseHTTPRequestHandler):
    """One request; keeps no connection open."""

    timeout = _SECONDS

    def __init__(self, live: Live, *arguments: Any) -> None:  # noqa: ANN401 - as socketserver types it
        self._live = live
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer with the page or its version."""
        if not self._from_here():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"the request is not from this page\n")
        elif self.path not in ("/", "/version"):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")
        else:
            self._answer_newest()

    def do_HEAD(self) -> None:
        """Answer as to GET, without the body."""
        self.do_GET()

    def _answer_newest(self) -> None:
        try:
            version, page = self._live.newest()
        except HarnessError as error:
            text = f"{error}\n".encode()
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", text)
            return
        if self.path == "/":
            self._answer(HTTPStatus.OK, "text/html", page, gzipped=True)
        else:
            self._answer(HTTPStatus.OK, "text/plain", version.encode())

    def _from_here(self) -> bool:
        _, port = self.connection.getsockname()
        hosts = {f"{name}:{port}" for name in _NAMES}
        origins = {f"http://{host}" for host in hosts}
        site = self.headers.get("Sec-Fetch-Site", "none")
        return (
            self.headers.get_all("Host", []) in [[host] for host in hosts]
            and set(self.headers.get_all("Origin", [])) <= origins
            and (site in ("none", "same-origin") or self.path == "/")
        )

    def _answer(self, status: HTTPStatus, kind: str, body: bytes, *, gzipped: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if gzipped:
            self.send_header("Content-Encoding", "gzip")
        for name, value in _GUARDS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server names it
        """Print nothing, because the page sends a request every few seconds."""


_GUARDS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
