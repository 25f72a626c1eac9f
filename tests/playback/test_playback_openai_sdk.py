"""The openai SDK replays shipped cassettes, through each transport and over the server.

It must see what it sees where the whole body comes from httpx2's own mock: the same chunks,
then the same end or the same error.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.playback.playback import Playback
from harness.playback.server import PlaybackServer
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction
from tests.playback.playback_samples import NEVER_CLAIMED, load_shipped, shipped_in

openai = pytest.importorskip("openai")
httpx = pytest.importorskip("httpx")

BASE = "https://api.example.com/v1"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": True}
SHIPPED = [path for path in shipped_in("openai-chat") if "dashscope" in path.parts]
IDS = [path.stem for path in SHIPPED]


def seen(client: Any, count: int) -> list[list[str]]:  # noqa: ANN401 - a client of the SDK
    """Return what the SDK makes of `count` answers: chunks, and how each ends."""
    return [list(_seen(client)) for _ in range(count)]


def _seen(client: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    try:
        for chunk in client.chat.completions.create(**ASKED):
            yield chunk.model_dump_json(warnings=False)
    except Exception as error:  # noqa: BLE001 - whatever the SDK raises is what it makes of it
        yield f"{type(error).__name__}: {error}"


@contextmanager
def sdk(http_client: Any, base_url: str = BASE) -> Iterator[Any]:  # noqa: ANN401 - as above
    with (
        http_client,
        openai.OpenAI(
            api_key="none", base_url=base_url, http_client=http_client, max_retries=0
        ) as client,
    ):
        yield client


def unplayed_mock(played: Cassette) -> httpx2.MockTransport:
    """Return a transport that hands each body over whole, without anything of ours."""
    answers = iter(played.interactions)

    def answer(request: httpx2.Request) -> httpx2.Response:
        del request
        return _whole(next(answers))

    return httpx2.MockTransport(answer)


def _whole(answer: Interaction) -> httpx2.Response:
    kept = [header for header in answer.headers if header[0].lower() not in NEVER_CLAIMED]
    return httpx2.Response(answer.status, headers=kept, content=answer.body)


@pytest.mark.parametrize("path", SHIPPED, ids=IDS)
def test_the_sdk_sees_the_same_in_every_way(path: Path) -> None:
    played = load_shipped(path)
    count = len(played.interactions)
    with sdk(httpx2.Client(transport=unplayed_mock(played))) as client:
        wanted = seen(client, count)
    clients = (
        httpx2.Client(transport=Playback(played).transport(httpx2)),
        httpx.Client(transport=Playback(played).transport(httpx)),
    )
    for http_client in clients:
        with sdk(http_client) as client:
            assert seen(client, count) == wanted
    with (
        PlaybackServer(Playback(played)) as server,
        sdk(httpx2.Client(trust_env=False), f"{server.base_url}/v1") as client,
    ):
        assert seen(client, count) == wanted
    assert (server.playback.unplayed(), server.playback.surplus_count) == ((), 0)


def test_an_async_client_sees_the_same() -> None:
    played = load_shipped(next(path for path in SHIPPED if path.stem == "multi-round"))
    with sdk(httpx2.Client(transport=unplayed_mock(played))) as client:
        wanted = seen(client, len(played.interactions))

    async def ask() -> list[list[str]]:
        transport = Playback(played).transport(httpx2)
        http_client = httpx2.AsyncClient(transport=transport)
        async with openai.AsyncOpenAI(
            api_key="none", base_url=BASE, http_client=http_client
        ) as client:
            return [
                [
                    chunk.model_dump_json(warnings=False)
                    async for chunk in await client.chat.completions.create(**ASKED)
                ]
                for _ in played.interactions
            ]

    assert asyncio.run(ask()) == wanted


def test_a_surplus_request_is_not_sent_again() -> None:
    playback = Playback(Cassette("a", (), load_shipped(SHIPPED[0]).origin))
    http_client = httpx2.Client(transport=playback.transport(httpx2))
    with (
        openai.OpenAI(api_key="none", base_url=BASE, http_client=http_client) as client,
        pytest.raises(openai.APIStatusError, match="surplus request"),
    ):
        client.chat.completions.create(**ASKED)
    assert playback.surplus_count == 1
