"""Responses with an unclear meaning or without an end are errors, and cost no other exchange."""

import gzip
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from harness.errors import RecordingError, UnreadableError
from harness.recording.recorder import Recorder, parts
from harness.recording.recorder.options import RecordMode
from harness.recording.upstream import UpstreamError, upstream_response
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request

_BODY = b'data: {"a":1}\n\ndata: [DONE]\n\n'
_GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@contextmanager
def _server(response: bytes) -> Iterator[str]:
    """Yield the address of a server that sends these bytes once."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                try:
                    connection.sendall(response)
                except OSError:
                    return

        thread = Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        thread.join(10)


def _record(recorder: Recorder, response: bytes) -> int:
    """Record one exchange, and return the status."""
    with (
        _server(response) as address,
        upstream_response(recorder, Request("POST", address, (), b"{}"), timeout=10) as answer,
    ):
        for _ in answer.reads():
            pass
        return answer.head.status


@pytest.fixture(name="recorder")
def _recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "c.yaml", mode=RecordMode.ALL, allow_in_ci=True)


@pytest.mark.parametrize("interim", [b"100 Continue", b"102 Processing", b"103 Early Hints"])
def test_an_interim_response_is_not_the_answer(interim: bytes, tmp_path: Path) -> None:
    with Recorder(tmp_path / f"{interim[:3]!r}.yaml", mode="all", allow_in_ci=True) as recorder:
        head = b"HTTP/1.1 %b\r\nLink: <x>\r\n\r\n" % interim
        assert _record(recorder, head * 3 + _GOOD) == 200
    (interaction,) = load_cassette(recorder.path).interactions
    assert (interaction.status, interaction.body) == (200, _BODY)


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"HTTP/1.1 102 Processing\r\n\r\n" * 1_000, "too many interim"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nhello",
            "contradictory",
        ),
        (_CHUNKED + b"Content-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "contradictory"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "not a number"),
        (b"HTTP/1.1 200 OK\r\nX: a\rContent-Length: 3\r\n\r\nabc", "carriage return"),
    ],
)
def test_an_unclear_head_is_an_error(response: bytes, problem: str, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", mode=RecordMode.ALL, allow_in_ci=True)
    with pytest.raises(UpstreamError, match=problem):
        _record(recorder, response)
    recorder.save()


def test_endless_trailers_end_the_response(recorder: Recorder) -> None:
    _record(recorder, _CHUNKED + b"\r\n5\r\nhello\r\n0\r\n" + b"X: y\r\n" * 100_000)
    assert recorder.cassette().interactions[0].ended == "aborted"
    recorder.save()


def test_a_compressed_bomb_costs_no_other_exchange(recorder: Recorder) -> None:
    bomb = gzip.compress(bytes(100_000_000), 9)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    for response in (_GOOD, head + bomb, _GOOD):
        _record(recorder, response)
    with pytest.raises((RecordingError, UnreadableError), match="expected at most"):
        recorder.save()
    assert [it.body for it in load_cassette(recorder.path).interactions] == [_BODY, _BODY]


def test_a_second_file_begins_before_the_limit_of_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_MOST_FILE_BYTES", 1_000)
    (tmp_path / "c-2.yaml").write_text("mine")
    with Recorder(tmp_path / "c.yaml", mode=RecordMode.ALL, allow_in_ci=True) as recorder:
        for _ in range(8):
            _record(recorder, _GOOD)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[:3] == ["c-2.yaml", "c-3.yaml", "c-4.yaml"]
    files = [load_cassette(tmp_path / name) for name in names if name != "c-2.yaml"]
    assert sum(len(each.interactions) for each in files) == 8
    assert (tmp_path / "c-2.yaml").read_text() == "mine"


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_a_damaged_line_of_a_journal_costs_no_other_and_is_kept(
    damaged: int, tmp_path: Path
) -> None:
    path = tmp_path / f"{damaged}.yaml"
    killed = Recorder(path, mode=RecordMode.ALL, allow_in_ci=True)
    for _ in range(3):
        _record(killed, _GOOD)
    journal = path.with_name(f"{path.name}.partial")
    lines = journal.read_bytes().splitlines(keepends=True)
    killed._journal.close()
    lines[damaged] = b"\xff" * (len(lines[damaged]) - 1) + b"\n"
    journal.write_bytes(b"".join(lines))
    found = Recorder(path, mode=RecordMode.NEW_EPISODES, allow_in_ci=True)
    assert found.recovered == (2 if damaged else 3)
    assert "1 damaged line kept in" in found.damaged
    assert journal.with_name(f"{journal.name}.damaged-1").read_bytes() == b"".join(lines)
