"""Make the normalizer of an adapter from a driver, the code that calls a library.

A driver yields what agent code gets as tuples, which `harness.repro.drivers` lists. This module
converts them one to one to deltas, and gives the driver's client an HTTP client that answers from
the interaction. The driver and its library are imported when they are first needed.
"""

import importlib
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from inspect import iscoroutinefunction, signature
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from harness.normalizers import sdk
from harness.normalizers.sdk.asynchronous import HandOver, run_turn
from harness.normalizers.sdk.events import TEXTS, Event, deltas_of
from harness.normalizers.sdk.validation import validation_error
from harness.normalizers.timing import TimedCase
from harness.turns.deltas import Delta
from harness.turns.json_values import as_dict
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

Http = Literal[
    "botocore",
    "httpx async client",
    "httpx client",
    "httpx transport",
    "httpx2 async client",
    "httpx2 client",
    "requests client",
    "websocket",
]
_DRIVERS: Final = "harness.repro.drivers"


class Library(msgspec.Struct, frozen=True):
    """The driver of a library, and how its client gets the recorded response.

    Fields:
        driver: the module of the driver.
        http: the HTTP client or server through which the library sends requests.
        http_of: dialect and HTTP client, for the dialects that need another one than `http`.
        official: the base URL of the provider, if the library treats it in a special way.
        logger: the name of the library's logger, if it prints each problem that it finds.
        prepare: a function that puts the HTTP client into the library's client, if the library has
            no option for it.
    """

    driver: str
    http: Http
    http_of: tuple[tuple[str, Http], ...] = ()
    official: str = ""
    logger: str = ""
    prepare: Callable[[Any, Any], None] | None = None

    def normalize(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        """Yield the deltas that the library gives its user."""
        uri = interaction.request.uri
        is_official = self.official and urlsplit(uri).hostname == urlsplit(self.official).hostname
        base_url = self.official if is_official else sdk.BASE_URL
        if self.http == "websocket":
            driver = _driver(self)
            with sdk.replay_server(interaction, reads) as address:
                yield from _deltas(driver, driver.connect(address), interaction)
            return
        driver, client, play = _connect(self, interaction.dialect, base_url)
        play(interaction, reads)
        yield from _deltas(driver, client, interaction)

    def run_timed(self, case: TimedCase) -> Iterator[Delta]:
        """Send the request of a timing scenario with the library's own HTTP client."""
        driver = _driver(self)
        if self.logger:
            logging.getLogger(self.logger).setLevel(logging.CRITICAL)
        given: dict[str, Any] = {"dialect": case.interaction.dialect}
        client = driver.connect(
            case.base_url,
            timeout=case.idle_timeout,
            max_retries=case.max_retries,
            **{name: given[name] for name in given.keys() & _parameters(driver.connect)},
        )
        yield from _deltas(driver, client, case.interaction)


def _deltas(driver: Any, client: Any, interaction: Interaction) -> Iterator[Delta]:  # noqa: ANN401 - of a package that may not be installed
    try:
        events = _events(driver, client, interaction)
        yield from deltas_of(events, partial(validation_error, interaction))
    except driver.DOCUMENTED as problem:
        yield sdk.failure_delta(problem)


def _driver(library: Library) -> Any:  # noqa: ANN401 - a module
    return importlib.import_module(f"{_DRIVERS}.{library.driver}")


@cache
def _connect(library: Library, dialect: str, base_url: str) -> tuple[Any, Any, Callable[..., None]]:
    """Return the driver, its client, and a function that gives the client an interaction."""
    if library.logger:
        logging.getLogger(library.logger).setLevel(logging.CRITICAL)
    driver = _driver(library)
    given: dict[str, Any] = {"dialect": dialect}
    connect = driver.connect
    kind = dict(library.http_of).get(dialect, library.http)
    if kind == "botocore":
        client = connect(base_url)
        return driver, client, partial(sdk.replay_botocore, client)
    given["http"], answers = _http(kind)
    client = connect(base_url, **{it: given[it] for it in given.keys() & _parameters(connect)})
    if library.prepare is not None:
        library.prepare(client, given["http"])
    return driver, client, answers.use


def _http(kind: str) -> tuple[Any, sdk.Answers]:
    name: Any = kind.partition(" ")[0]
    if kind.endswith("transport"):
        return sdk.lasting_transport(name)
    is_async = "async" in kind
    return sdk.lasting_async_client(name) if is_async else sdk.lasting_client(name)


@cache
def _parameters(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(signature(function).parameters)


def _events(driver: Any, client: Any, interaction: Interaction) -> Iterable[Event]:  # noqa: ANN401 - of a package that may not be installed
    takes_request = "request" in _parameters(driver.drive)
    given = {"request": request_members(interaction)} if takes_request else {}
    if not iscoroutinefunction(driver.drive):
        events: Iterable[Event] = driver.drive(client, **given)
        return events

    async def turn(hand_over: HandOver[Event]) -> None:
        async def emit(*event: Any) -> None:  # noqa: ANN401 - as above
            if event[0] not in TEXTS or event[1]:
                await hand_over(event)

        await driver.drive(client, emit, **given)

    return run_turn(turn)


def request_members(interaction: Interaction) -> dict[str, Any]:
    """Return the parts of the recorded request that decide how a user calls the library."""
    body = as_dict(json_or_none(interaction.request.body))
    found = {key: body[key] for key in ("response_format",) if body.get(key) is not None}
    if as_dict(body.get("parameters")).get("incremental_output") is True:
        found["parameters"] = {"incremental_output": True}
    if interaction.request.uri.endswith("/generate"):  # the second endpoint of Ollama's API
        found["prompt"] = "any"
    return found
