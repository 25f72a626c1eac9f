"""The playback of a script plays one response for each request, and notes what happened."""

import http.client
import socket
from urllib.parse import urlsplit

from msgspec.structs import replace

from harness.playback.case_server import timed_server
from harness.playback.timed import (
    Comments,
    Insert,
    Pause,
    Send,
    TimedPlayback,
    TimedResponse,
)
from harness.wire.interaction import Ended
from harness.wire.reads import synthetic_interaction

BODY = b"data: 1\n\ndata: 2\n\n"
INTERACTION = synthetic_interaction(BODY, headers=(("content-type", "text/event-stream"),))


def _response(*steps: Send | Pause | Comments | Insert, ended: Ended = "complete") -> TimedResponse:
    return TimedResponse(INTERACTION, steps, ended)


def _get(base_url: str) -> tuple[int, bytes]:
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(address.netloc)
    connection.request("POST", f"{address.path}/v1/chat/completions", b"{}")
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()


def test_each_request_gets_the_next_response() -> None:
    error = replace(INTERACTION, status=503)
    playback = TimedPlayback((TimedResponse(error, (Send(3),)), _response(Send(len(BODY)))))
    with timed_server(playback) as base_url:
        assert _get(base_url) == (503, BODY[:3])
        assert _get(base_url) == (200, BODY)
        assert _get(base_url)[0] == 410
    requests = [mark.response for mark in playback.marks if mark.kind == "request"]
    assert requests == [0, 1, 2]


def test_repeated_script_begins_again() -> None:
    playback = TimedPlayback((_response(Send(4)),), repeats=True)
    with timed_server(playback) as base_url:
        assert [_get(base_url)[0] for _ in range(2)] == [200, 200]


def test_steps_are_played_in_order() -> None:
    steps = (Send(9), Pause(0.01), Comments(b": x\n\n", 0.01, 2), Insert(b"data: e\n\n"))
    playback = TimedPlayback((_response(*steps, Send(len(BODY))),))
    with timed_server(playback) as base_url:
        assert _get(base_url)[1] == b"data: 1\n\n: x\n\n: x\n\ndata: e\n\ndata: 2\n\n"
    kinds = [mark.kind for mark in playback.marks]
    assert kinds == ["request", "sent", "paused", "paused", "comment", "comment", "sent", "ended"]


def test_client_that_leaves_in_a_pause_is_noticed() -> None:
    playback = TimedPlayback((_response(Send(9), Pause(20.0), Send(len(BODY))),))
    with timed_server(playback) as base_url:
        address = urlsplit(base_url)
        with socket.create_connection((address.hostname or "", address.port or 0)) as client:
            client.sendall(
                f"POST {address.path} HTTP/1.1\r\nhost: {address.netloc}\r\n\r\n".encode()
            )
            assert client.recv(12) == b"HTTP/1.1 200"
        assert playback.wait_for(("left",), 10)
    assert playback.marks[-1].kind == "left"


def test_broken_end_reaches_the_client() -> None:
    playback = TimedPlayback((_response(Send(9), Pause(0.05), ended="truncated"),))
    with timed_server(playback) as base_url:
        try:
            body = _get(base_url)[1]
        except http.client.IncompleteRead as error:
            body = error.partial
    assert body == b"data: 1\n\n"
