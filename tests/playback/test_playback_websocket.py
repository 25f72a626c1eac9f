"""Sessions over WebSocket: fragments, order, many connections, the close of a connection."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import shipped
from harness.playback.playback import Playback
from harness.playback.server import PlaybackServer
from harness.playback.websocket import fragments
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette
from harness.wire.cuts import each_byte
from harness.wire.interaction import Interaction
from harness.wire.reads import synthetic_interaction
from tests.tables import each_row

client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

_CREATE = '{"type": "response.create", "model": "gpt-5.4", "input": "hi"}'


def _cassette(name: str) -> Cassette:
    return load_cassette(Path(shipped.bundled_folder("cassettes")) / f"{name}.yaml")


def _lines(interaction: Interaction) -> list[str]:
    return interaction.body.decode().splitlines()


@contextmanager
def _connected(cassette: Cassette, path: str = "/v1/responses") -> Iterator[Any]:
    """Yield a client's connection to a server that plays the cassette."""
    with PlaybackServer(Playback(cassette)) as server:
        address = f"{server.base_url.replace('http', 'ws')}{path}"
        with client.connect(address) as connection:
            yield connection


def _played(server: PlaybackServer, cassette: Cassette) -> list[list[str]]:
    """Return the messages of each response that a client gets on one connection."""
    address = f"{server.base_url.replace('http', 'ws')}/v1/responses"
    with client.connect(address, max_size=None) as connection:
        found = []
        for interaction in cassette.interactions:
            connection.send(_CREATE)
            found.append([connection.recv() for _ in _lines(interaction)])
    return found


@each_row(
    ("reads", "expected"),
    [
        ((b"ab\ncd\n",), [(b"ab", True), (b"cd", True)]),
        ((b"a", b"b\nc", b"d\n"), [(b"a", False), (b"b", True), (b"c", False), (b"d", True)]),
        ((b"ab", b"\n", b"\n"), [(b"ab", False), (b"", True)]),
        ((b"ab",), [(b"ab", False), (b"", True)]),
        ((), []),
    ],
)
def test_reads_are_fragments_of_messages(
    reads: tuple[bytes, ...], expected: list[tuple[bytes, bool]]
) -> None:
    assert list(fragments(reads)) == expected


@each_row("cuts", [Interaction.recorded_cuts, lambda it: each_byte(it.body), lambda _: ()])
def test_a_session_is_played_byte_by_byte_in_its_order(cuts: object) -> None:
    for name in ("openai/gpt-5.4/ws-three-rounds", "openai/gpt-5.4/ws-unicode"):
        cassette = _cassette(name)
        with PlaybackServer(Playback(cassette, cuts=cuts)) as server:  # type: ignore[arg-type]
            assert _played(server, cassette) == [*map(_lines, cassette.interactions)]


def test_a_message_without_a_response_gets_an_error_event() -> None:
    cassette = _cassette("openai/gpt-5.4/ws-call")
    with PlaybackServer(Playback(cassette)) as server:
        address = f"{server.base_url.replace('http', 'ws')}/v1/responses"
        with client.connect(address) as connection:
            connection.send(_CREATE)
            for _ in _lines(cassette.interactions[0]):
                connection.recv()
            connection.send(_CREATE)
            error = json.loads(connection.recv())
    assert (error["type"], error["error"]["code"]) == ("error", "no_interaction_left")


def test_a_client_of_live_gets_the_reply_to_its_setup() -> None:
    cassette = _cassette("google-gemini/gemini-live-2.5-flash/call")
    with _connected(cassette, "") as connection:
        connection.send('{"setup": {"model": "models/m"}}')
        assert connection.recv() == '{"setupComplete": {}}'
        connection.send('{"clientContent": {"turnComplete": true}}')
        expected = _lines(cassette.interactions[0])
        assert [connection.recv() for _ in expected] == expected


@each_row(
    ("name", "code"),
    [("openai/gpt-5.4/ws-close-1011", 1011), ("openai/gpt-5.4/ws-close-1006", None)],
)
def test_the_connection_ends_as_recorded(name: str, code: int | None) -> None:
    cassette = _cassette(name)
    with _connected(cassette) as connection:
        connection.send(_CREATE)
        for _ in _lines(cassette.interactions[0]):
            connection.recv()
        with pytest.raises(exceptions.ConnectionClosedError) as caught:
            connection.recv()
    received = caught.value.rcvd
    assert (received.code if received else None) == code


def test_a_hundred_sessions_at_once_get_all_bytes_in_their_order() -> None:
    pattern = _cassette("openai/gpt-5.4/ws-call").interactions[0]
    bodies = [pattern.body.replace(b"resp_1", b"resp_%d" % n) for n in range(100)]
    made = [synthetic_interaction(body, pattern.request, status=101) for body in bodies]
    cassette = Cassette("many", tuple(made), Origin("emulated"))
    cut = lambda it: each_byte(it.body)[::97]  # noqa: E731 - one expression
    with PlaybackServer(Playback(cassette, cuts=cut)) as server, ThreadPoolExecutor(100) as pool:
        address = f"{server.base_url.replace('http', 'ws')}/v1/responses"
        size = len(_lines(pattern))

        def play(_: int) -> bytes:
            with client.connect(address) as connection:
                connection.send(_CREATE)
                return "".join(f"{connection.recv()}\n" for _ in range(size)).encode()

        assert sorted(pool.map(play, range(100))) == sorted(bodies)
