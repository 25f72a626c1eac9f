"""Record hostile answers of a server between good ones: these stay readable, whatever they are.

Some recorders are killed, and a line of their journal is damaged, also its head. The next recorder
says what it dropped, and has all exchanges of the other lines.
"""

import gzip
import socket
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final

from harness.errors import HarnessError
from harness.files.write import partial_path
from harness.recording.recorder import Recorder
from harness.recording.upstream import upstream_response
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request
from tests.attack.attack import Attack

_MOST: Final = 8
_SECONDS: Final = 20
_OK: Final = b"HTTP/1.1 200 OK\r\n"
_CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"
_BOMB_BYTES: Final = 100_000_000


def _sized(body: bytes, head: bytes = b"") -> bytes:
    return b"%bContent-Length: %d\r\n%b\r\n%b" % (_OK, len(body), head, body)


@cache
def _bomb() -> bytes:
    return _sized(gzip.compress(bytes(_BOMB_BYTES), 9), b"Content-Encoding: gzip\r\n")


def _cut(body: bytes, random: Random) -> bytes:
    return body[: random.randrange(len(body))]


def _squeezed(random: Random) -> bytes:
    return zlib.compress(_good(random.randrange(_MOST)))


def _good(number: int) -> bytes:
    return b'data: {"number": %d}\n\ndata: [DONE]\n\n' % number


_HOSTILE: Final[dict[str, Callable[[Random], bytes]]] = {
    "nothing": lambda _: b"",
    "noise": lambda random: random.randbytes(200),
    "half a head": lambda random: _cut(_OK + b"Content-Type: text/plain\r\n\r\n", random),
    "half a body": lambda random: _cut(_sized(_good(1)), random),
    "interim responses only": lambda _: b"HTTP/1.1 102 Processing\r\n\r\n" * 2_000,
    "two lengths": lambda _: _OK + b"Content-Length: 5\r\nContent-Length: 9\r\n\r\nhello",
    "a length and chunks": lambda _: (
        _OK + _CHUNKED + b"Content-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    ),
    "a negative length": lambda _: _OK + b"Content-Length: -5\r\n\r\nhello",
    "a huge length": lambda _: _OK + b"Content-Length: %d\r\n\r\nhello" % 10**30,
    "a bare carriage return": lambda _: _OK + b"X: a\rContent-Length: 3\r\n\r\nabc",
    "endless trailers": lambda _: (
        _OK + _CHUNKED + b"\r\n5\r\nhello\r\n0\r\n" + b"X: y\r\n" * 50_000
    ),
    "endless headers": lambda _: _OK + b"X: y\r\n" * 50_000,
    "a long header": lambda _: _OK + b"X: " + b"y" * 1_000_000 + b"\r\n\r\n",
    "odd chunks": lambda random: _OK + _CHUNKED + b"\r\n" + random.choice((b"-1", b"1_0", b"x")),
    "a gzip bomb": lambda _: _bomb(),
    "half a gzip body": lambda random: _sized(
        _cut(gzip.compress(_good(1)), random), b"Content-Encoding: gzip\r\n"
    ),
    "an unknown encoding": lambda _: _sized(b"hello", b"Content-Encoding: harness\r\n"),
    "deflate as gzip": lambda random: _sized(_squeezed(random), b"Content-Encoding: gzip\r\n"),
    "control characters": lambda random: _sized(random.randbytes(500)),
}


def _send(recorder: Recorder, path: str, response: bytes) -> None:
    """Record one exchange with a server that sends these bytes and then closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError), server.accept()[0] as connection:
                connection.recv(65_536)
                connection.sendall(response)

        thread = Thread(target=answer, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/{path}"
        request = Request("POST", address, (), b"{}")
        with upstream_response(recorder, request, timeout=_SECONDS) as found:
            for _ in found.reads():
                pass
        thread.join(_SECONDS)


def _attempt(folder: Path, random: Random) -> Iterator[str]:
    path = folder / "c.yaml"
    recorder = Recorder(path, mode="all", allow_in_ci=True)
    kinds = [random.choice([None, *_HOSTILE]) for _ in range(random.randint(1, _MOST))]
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"
    for number, kind in enumerate(kinds):
        if kind is None:
            answer = interim * random.randrange(3) + _sized(_good(number))
            _send(recorder, f"good-{number}", answer)
            continue
        with suppress(HarnessError):  # an error that names what is wrong is right
            _send(recorder, f"hostile-{number}", _HOSTILE[kind](random))
    wanted = {number for number, kind in enumerate(kinds) if kind is None}
    if random.random() < 0.5:
        with suppress(HarnessError):  # which answers cannot be written; the others are
            recorder.save()
    else:
        yield from _killed(recorder, wanted, random)
    found: dict[str, tuple[int, bytes]] = {}
    for file in folder.glob("*.yaml"):
        for it in load_cassette(file).interactions:
            found[it.request.uri.rpartition("/")[2]] = (it.status, it.body)
    for number in wanted:
        if found.get(f"good-{number}") != (200, _good(number)):
            yield f"good answer {number} among {kinds} is {found.get(f'good-{number}')}"


def _killed(recorder: Recorder, wanted: set[int], random: Random) -> Iterator[str]:
    """Damage a line of the journal, start the next recorder, and forget what was in the line."""
    recorder._journal.close()  # as a kill does
    journal = partial_path(recorder.path)
    lines = journal.read_bytes().splitlines(keepends=True) if journal.exists() else []
    place = random.randrange(len(lines)) if lines else 0
    if lines and random.random() < 0.7:
        line = lines[place]
        lost = {number for number in wanted if b"/good-%d" % number in line}
        wanted -= lost
        lines[place] = random.choice((b"\xff" * (len(line) - 1), _cut(line[:-1], random))) + b"\n"
        journal.write_bytes(b"".join(lines))
        again = Recorder(recorder.path, mode="new_episodes", allow_in_ci=True)
        if lost and "damaged line" not in again.damaged:
            yield f"nothing says that {lost} is lost"
    else:
        Recorder(recorder.path, mode="new_episodes", allow_in_ci=True)


def attempt(number: int) -> list[str]:
    """Record once; return which good answers are lost without a word."""
    with TemporaryDirectory(prefix="answers-") as place:
        try:
            return list(_attempt(Path(place), Random(number)))  # noqa: S311 - the same every time
        except HarnessError as error:
            return [str(error)]


ATTACK = Attack(attempt, full=1_000, part=6, block=3)
