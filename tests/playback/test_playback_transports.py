"""Through httpx and httpx2, sync and async, a client reads what was recorded, read by read."""

import asyncio
from types import ModuleType
from typing import Any

import httpx
import httpx2
import msgspec
import pytest
from hypothesis import given

from harness.playback.delivery import CUTS
from harness.playback.playback import Playback
from harness.wire.cassette import Cassette
from tests.playback.playback_samples import (
    CASSETTES,
    NEVER_CLAIMED,
    URI,
    Watched,
    cassette,
    interaction,
    reads_of,
)

EACH_LIBRARY = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


def sync_client(library: ModuleType, playback: Playback) -> Any:  # noqa: ANN401 - a client of one of two libraries
    return library.Client(transport=playback.transport(library))


@EACH_LIBRARY
@given(played=CASSETTES)
def test_a_client_reads_each_body_read_by_read(library: ModuleType, played: Cassette) -> None:
    with sync_client(library, Playback(played)) as client:
        for answer in played.interactions:
            with client.stream("POST", URI, content=b"{}") as response:
                assert list(response.iter_raw()) == reads_of(answer)
                assert response.status_code == answer.status
                assert response.headers["x-request-id"] == "é-1"
                assert not [name for name in NEVER_CLAIMED if name in response.headers]


@EACH_LIBRARY
@given(played=CASSETTES)
def test_an_async_client_reads_each_body_read_by_read(
    library: ModuleType, played: Cassette
) -> None:
    async def read() -> None:
        async with library.AsyncClient(transport=Playback(played).transport(library)) as client:
            for answer in played.interactions:
                async with client.stream("POST", URI, content=b"{}") as response:
                    assert [read async for read in response.aiter_raw()] == reads_of(answer)
                    assert response.status_code == answer.status

    asyncio.run(read())


@EACH_LIBRARY
def test_a_read_is_pulled_when_the_client_asks_for_it(library: ModuleType) -> None:
    playback = Watched(cassette(interaction(b"abc")), cuts=CUTS["each-byte"])
    with (
        sync_client(library, playback) as client,
        client.stream("POST", URI, content=b"{}") as response,
    ):
        assert playback.pulled == 0
        for n, read in enumerate(response.iter_raw(), start=1):
            assert (playback.pulled, len(read)) == (n, 1)
    assert playback.pulled == 3


@EACH_LIBRARY
def test_the_request_is_kept_as_sent_and_a_surplus_one_is_told(library: ModuleType) -> None:
    playback = Playback(cassette(interaction(b"1")))
    with sync_client(library, playback) as client:
        assert client.post(URI, content=iter([b'{"a"', b": 1}"]), headers={"x-a": "b"}).text == "1"
        surplus = client.put(URI, content=b"2")
    assert (surplus.status_code, surplus.json()["error"]["code"]) == (410, "no_interaction_left")
    kept = [each.request for each in playback.requests]
    assert [(each.method, each.uri, each.body) for each in kept] == [
        ("POST", URI, b'{"a": 1}'),
        ("PUT", URI, b"2"),
    ]
    assert ("x-a", "b") in kept[0].headers


@EACH_LIBRARY
def test_a_response_stored_without_headers_is_sent_with_its_content_type(
    library: ModuleType,
) -> None:
    bare = msgspec.structs.replace(interaction(b"data: {}\n\n"), headers=())
    with sync_client(library, Playback(cassette(bare))) as client:
        answer = client.post(URI, content=b"{}")
    assert dict(answer.headers) == {"content-type": "text/event-stream"}
