"""Create clients of HTTP packages that get their responses from an interaction, read by read.

The client gets a read only when it asks for data. If the recorded connection broke, the client
raises the error of its package after the last read. A package is imported only when it is used.
"""

import importlib
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

from harness.normalizers.sdk.aiohttp_session import make_aiohttp_session
from harness.normalizers.sdk.answers import Answers
from harness.normalizers.sdk.requests_session import make_requests_session
from harness.playback.transports import CassetteTransport, with_bases
from harness.wire.interaction import Interaction

Httpx: TypeAlias = Literal["httpx", "httpx2"]
SyncHttp: TypeAlias = Httpx | Literal["requests"]
AsyncHttp: TypeAlias = Httpx | Literal["aiohttp"]

# A library needs an address, but no name is ever resolved.
BASE_URL: Final = "http://replay.invalid/v1"


def client_options(http: Any) -> dict[str, Any]:  # noqa: ANN401 - as `replay_client` returns it
    """Return the options of a library's client that sends its requests through `http`.

    They are the options of the packages openai, anthropic and groq: `api_key`, `base_url`,
    `max_retries` and `http_client`.
    """
    return {"api_key": "none", "base_url": BASE_URL, "max_retries": 0, "http_client": http}


def replay_client(library: SyncHttp, interaction: Interaction, reads: Iterable[bytes]) -> Any:  # noqa: ANN401 - of packages that may not be installed
    """Return a client that answers every request with `reads`.

    Args:
        library: the package: `httpx` or `httpx2` for a `Client`, `requests` for a `Session`.
        interaction: provides status and headers, and how the body ended.
        reads: the body, read by read.

    Raises:
        ImportError: the package is not installed.
    """
    client, answers = lasting_client(library)
    answers.use(interaction, reads)
    return client


def async_replay_client(
    library: AsyncHttp, interaction: Interaction, reads: Iterable[bytes]
) -> Any:  # noqa: ANN401 - as above
    """Return an async client that answers every request with `reads`.

    Args:
        library: the package: `httpx` or `httpx2` for an `AsyncClient`, `aiohttp` for a
            `ClientSession`, which must be created in a coroutine.
        interaction: provides status and headers, and how the body ended.
        reads: the body, read by read.

    Raises:
        ImportError: the package is not installed.
        RuntimeError: no event loop runs, which aiohttp needs.
    """
    client, answers = lasting_async_client(library)
    answers.use(interaction, reads)
    return client


def lasting_client(library: SyncHttp) -> tuple[Any, Answers]:
    """Return a client that an adapter can keep for many turns, and the object that answers it.

    Most libraries take longer to build their client than to read a stream, so an adapter may keep
    one in each process.

    Args:
        library: the package: `httpx` or `httpx2` for a `Client`, `requests` for a `Session`.
    """
    if library == "requests":
        answers = Answers()
        return make_requests_session(answers), answers
    transport, answers = lasting_transport(library)
    return importlib.import_module(library).Client(transport=transport), answers


def lasting_async_client(library: AsyncHttp) -> tuple[Any, Answers]:
    """Return an async client that can be kept for many turns, and the object that answers it.

    Args:
        library: the package: `httpx` or `httpx2` for an `AsyncClient`, `aiohttp` for a
            `ClientSession`.
    """
    if library == "aiohttp":
        answers = Answers()
        return make_aiohttp_session(answers), answers
    transport, answers = lasting_transport(library)
    return importlib.import_module(library).AsyncClient(transport=transport), answers


def lasting_transport(library: Httpx) -> tuple[Any, Answers]:
    """Return a transport for clients of httpx or httpx2, and the object that answers requests.

    It is for libraries that create their client themselves, but accept a transport.

    Args:
        library: the package.
    """
    http: Any = importlib.import_module(library)
    answers = Answers()
    return with_bases(http, CassetteTransport, "BaseTransport")(http, answers), answers
