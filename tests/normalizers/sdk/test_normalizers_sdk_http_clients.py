"""Each HTTP package gets the bytes of an interaction as from a network: in order, read by read."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.normalizers import sdk
from harness.wire.interaction import Ended, Interaction, Request

READS = st.lists(st.binary(min_size=1, max_size=9), max_size=6)
ENDS = st.sampled_from(("complete", "reset", "truncated"))
HEADERS = (
    ("Content-Type", "text/event-stream"),
    ("X-Request-Id", "é-1"),
    ("Transfer-Encoding", "chunked"),
    ("Content-Length", "1"),
    ("Content-Encoding", "gzip"),
)
URL = f"{sdk.BASE_URL}/chat/completions"
CONTEXT: ContextVar[int] = ContextVar("CONTEXT", default=0)

# Each reads one answer at a URL with a client: first it yields the status and the headers.
Items = Iterator[Any]


class Pulled:
    """The reads of a body, and how many of them were taken."""

    def __init__(self, reads: Sequence[bytes]) -> None:
        self._reads = reads
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        for read in self._reads:
            self.count += 1
            yield read


def read_httpx(client: Any, url: str) -> Items:  # noqa: ANN401 - clients of packages that may not be installed
    with client, client.stream("POST", url, content=b"{}") as response:
        yield response.status_code, response.headers
        yield from response.iter_raw()


def read_requests(client: Any, url: str) -> Items:  # noqa: ANN401 - as above
    with client, client.post(url, data=b"{}", stream=True) as response:
        yield response.status_code, response.headers
        yield from response.iter_content(None)


def read_botocore(client: Any, _url: str) -> Items:  # noqa: ANN401 - as above
    answer = client.invoke_model(modelId="replay", body=b"{}")
    facts = answer["ResponseMetadata"]
    yield facts["HTTPStatusCode"], facts["HTTPHeaders"]
    yield from answer["body"]._raw_stream.stream()


def read_async_httpx(client: Any, url: str) -> Items:  # noqa: ANN401 - as above
    async def read() -> AsyncIterator[Any]:
        async with client, client.stream("POST", url, content=b"{}") as response:
            yield response.status_code, response.headers
            async for piece in response.aiter_raw():
                yield piece

    return sdk.iterate(read())


def read_aiohttp(make: Callable[[], Any], url: str) -> Items:
    async def read() -> AsyncIterator[Any]:
        async with make() as client, client.post(url, data=b"{}") as response:
            yield response.status, response.headers
            async for piece in response.content.iter_any():
                yield piece

    return sdk.iterate(read())


def replayed(name: str, interaction: Interaction, reads: Any) -> Items:  # noqa: ANN401 - an iterable of a test
    """Read `reads` with a client that answers in this process."""
    if name == "botocore":
        client = botocore_client(sdk.BASE_URL)
        sdk.replay_botocore(client, interaction, reads)
        return read_botocore(client, URL)
    if name == "requests":
        return read_requests(sdk.replay_client("requests", interaction, reads), URL)
    if name == "aiohttp":
        return read_aiohttp(lambda: sdk.async_replay_client("aiohttp", interaction, reads), URL)
    library: Any = name.removeprefix("async ")
    if library != name:
        return read_async_httpx(sdk.async_replay_client(library, interaction, reads), URL)
    return read_httpx(sdk.replay_client(library, interaction, reads), URL)


def received(name: str, base_url: str) -> Items:
    """Read the answer of a server with a client that the package makes itself."""
    if name == "botocore":
        return read_botocore(botocore_client(base_url), base_url)
    package = importlib.import_module(name.removeprefix("async "))
    if name == "requests":
        return read_requests(package.Session(), base_url)
    if name == "aiohttp":
        return read_aiohttp(package.ClientSession, base_url)
    if name.startswith("async "):
        return read_async_httpx(package.AsyncClient(trust_env=False), base_url)
    return read_httpx(package.Client(trust_env=False), base_url)


def botocore_client(url: str) -> Any:  # noqa: ANN401 - as above
    session: Any = importlib.import_module("botocore.session").Session()
    config: Any = importlib.import_module("botocore.config")
    return session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - nothing is sent to AWS
        config=config.Config(retries={"total_max_attempts": 1}),
    )


PACKAGES = ("httpx", "httpx2", "async httpx", "async httpx2", "requests", "aiohttp", "botocore")
EACH_PACKAGE = pytest.mark.parametrize("name", PACKAGES)


def skip_unless_installed(name: str) -> None:
    package = name.removeprefix("async ")
    pytest.importorskip(package, reason=f"the package {package} is not installed")


def an_interaction(ended: Ended, status: int = 200) -> Interaction:
    return Interaction(Request(), status, HEADERS, b"", (), ended=ended)


def outcome(items: Items) -> tuple[list[Any], type | None]:
    """Return the items, and the class of the exception that ended them."""
    seen: list[Any] = []
    try:
        seen.extend(items)
    except Exception as problem:  # noqa: BLE001 - the test compares it
        return seen, type(problem)
    return seen, None


@EACH_PACKAGE
@given(reads=READS, ended=ENDS, status=st.sampled_from((200, 429)))
def test_a_client_gets_the_head_and_each_read_before_the_next_is_taken(
    name: str, reads: list[bytes], ended: Ended, status: int
) -> None:
    skip_unless_installed(name)
    if name == "botocore":
        status = 200  # it reads the whole body of an error itself
    pulled = Pulled(reads)
    items = replayed(name, an_interaction(ended, status), pulled)
    code, headers = next(items)
    assert (code, pulled.count) == (status, 0)
    sent = {key.lower(): value for key, value in headers.items()}
    assert sent["content-type"] == "text/event-stream"
    assert {"content-length", "content-encoding"}.isdisjoint(sent)
    for place, read in enumerate(reads, 1):
        assert (next(items), pulled.count) == (read, place)
    rest, error = outcome(items)
    assert rest == []
    assert (error is None) == (ended == "complete")


@EACH_PACKAGE
@pytest.mark.parametrize("ended", ["complete", "reset", "truncated"])
def test_a_body_ends_as_on_the_network(name: str, ended: Ended) -> None:
    skip_unless_installed(name)
    reads, interaction = [b"data: 1\n\n", b"data: 2\n\n"], an_interaction(ended)
    here, error = outcome(replayed(name, interaction, reads))
    with sdk.replay_server(interaction, reads) as base_url:
        there, expected = outcome(received(name, base_url))
    assert error is expected
    assert (here[0][0], b"".join(here[1:])) == (200, b"".join(reads))
    # A reset may come before the client has read what was sent.
    assert b"".join(here[1:]).startswith(b"".join(there[1:]))


@EACH_PACKAGE
def test_one_client_answers_with_the_reads_of_each_turn(name: str) -> None:
    skip_unless_installed(name)
    for body in (b"first", b"second"):
        found, _ = outcome(replayed(name, an_interaction("complete"), [body]))
        assert found[1:] == [body]


@pytest.mark.parametrize("name", ["async httpx", "async httpx2", "aiohttp"])
@given(reads=READS)
def test_an_async_client_has_one_context_from_its_first_read_to_its_end(
    name: str, reads: list[bytes]
) -> None:
    skip_unless_installed(name)
    places: list[int] = []

    async def read() -> AsyncIterator[Any]:
        token = CONTEXT.set(1)
        client: Any = sdk.async_replay_client(
            name.removeprefix("async "),  # type: ignore[arg-type]
            an_interaction("complete"),
            reads,
        )
        async with client:
            if name == "aiohttp":
                async with client.post(URL) as response:
                    async for piece in response.content.iter_any():
                        CONTEXT.set(CONTEXT.get() + 1)
                        yield piece
            else:
                async with client.stream("POST", URL) as response:
                    async for piece in response.aiter_raw():
                        CONTEXT.set(CONTEXT.get() + 1)
                        yield piece
        places.append(CONTEXT.get())
        CONTEXT.reset(token)  # fails in another context

    assert list(sdk.iterate(read())) == reads
    assert places == [len(reads) + 1]
    assert CONTEXT.get() == 0


def test_requests_reads_lines_as_they_arrive() -> None:
    pytest.importorskip("requests", reason="the package requests is not installed")
    pulled = Pulled([b"one\ntw", b"o\nthree"])
    session = sdk.replay_client("requests", an_interaction("complete"), pulled)
    lines = session.post(URL, stream=True).iter_lines(chunk_size=None)
    assert (next(lines), pulled.count) == (b"one", 1)
    assert list(lines) == [b"two", b"three"]
    raw = sdk.replay_client("requests", an_interaction("complete"), [b"ab", b"c"])
    assert raw.post(URL, stream=True).raw.read() == b"abc"


def test_aiohttp_needs_a_running_loop() -> None:
    pytest.importorskip("aiohttp", reason="the package aiohttp is not installed")
    with pytest.raises(RuntimeError):
        sdk.async_replay_client("aiohttp", an_interaction("complete"), [])

    async def read() -> bytes:
        client = sdk.async_replay_client("aiohttp", an_interaction("complete"), [b"a", b"b"])
        async with client, client.get(URL) as response:
            body: bytes = await response.read()
        return body

    assert asyncio.run(read()) == b"ab"


def test_a_client_of_botocore_answers_with_the_last_reads_that_it_was_given() -> None:
    pytest.importorskip("botocore", reason="the package botocore is not installed")
    client = botocore_client(sdk.BASE_URL)
    for body in (b"first", b"second"):
        sdk.replay_botocore(client, an_interaction("complete"), [body])
        assert client.invoke_model(modelId="replay", body=b"{}")["body"].read() == body
