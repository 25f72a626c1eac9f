"""The events of a driver are deltas one to one, as soon as the driver has them."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from harness.judging.replaying import replay
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.events import deltas_of
from harness.normalizers.sdk.library import Http, Library
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from tests.normalizers.sdk.sdk_streams import an_answer

ANSWER = an_answer("openai-chat", (b"one ", b"two ", b"three"))


class BusyError(Exception):
    code = "busy"


def connect(base_url: str, dialect: str, http: Any) -> tuple[str, str, Any]:  # noqa: ANN401 - of httpx
    return base_url, dialect, http


def drive(client: tuple[str, str, Any], request: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    base_url, dialect, http = client
    with http.stream("POST", base_url) as response:
        for text in response.iter_bytes():
            yield "text", text.decode()
    yield "finish", dialect, "stop"
    if request:
        raise BusyError("no more")


async def drive_async(client: tuple[str, str, Any], emit: Callable[..., Awaitable[None]]) -> None:
    async def texts(response: Any) -> AsyncIterator[str]:  # noqa: ANN401 - as above
        async for text in response.aiter_bytes():
            yield text.decode()

    base_url, dialect, http = client
    async with http.stream("POST", base_url) as response:
        async for text in texts(response):
            await emit("reasoning", "")
            await emit("text", text)
    await emit("finish", dialect, "stop")


@pytest.mark.parametrize(
    ("function", "http"), [(drive, "httpx client"), (drive_async, "httpx async client")]
)
def test_text_is_out_before_the_next_read(
    monkeypatch: pytest.MonkeyPatch, function: object, http: Http
) -> None:
    driver = SimpleNamespace(connect=connect, drive=function, DOCUMENTED=(BusyError,))
    monkeypatch.setitem(sys.modules, f"harness.repro.drivers.fake_{http.replace(' ', '_')}", driver)
    library = Library(f"fake_{http.replace(' ', '_')}", http)
    done = replay(Normalizer("fake", library.normalize), ANSWER, ANSWER.recorded_cuts())
    assert done.error == ""
    assert [(each.delta, each.bytes_read) for each in done.emissions] == [
        (TextDelta("one "), 4),
        (TextDelta("two "), 8),
        (TextDelta("three"), 13),
        (Finish(FinishReason.STOP, "openai-chat"), 13),
    ]


def test_a_documented_exception_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_client: object) -> Iterator[tuple[Any, ...]]:
        yield "text", "Well."
        raise BusyError("no more")

    driver = SimpleNamespace(connect=connect, drive=fail, DOCUMENTED=(BusyError,))
    monkeypatch.setitem(sys.modules, "harness.repro.drivers.failing", driver)
    found = list(Library("failing", "httpx client").normalize(ANSWER, iter(())))
    assert found == [TextDelta("Well."), StreamFailure("busy", "no more")]


def test_each_event_is_its_deltas() -> None:
    events = [
        ("reasoning", "Hm."),
        ("text", None),
        ("call", "a", "get", '{"n": 1}'),
        ("checked", "b", "get", {"n": 2}),
        ("rejected", 7, "get", '{"n"', ValueError("cut")),
        ("usage", 3, None),
        ("finish", "end", "stop", "tool_calls"),
    ]
    assert list(deltas_of(events, lambda name, arguments: f"{name} of {arguments}")) == [
        ReasoningDelta("Hm."),
        *(ToolCallStart(0, "a", "get"), ArgumentsDelta(0, '{"n": 1}'), ToolCallEnd(0)),
        *(ToolCallStart(1, "b", "get"), ArgumentsDelta(1, '{"n": 2}')),
        ToolCallRejected(1, ParseError("tool_use", 'get of {"n": 2}', '{"n": 2}')),
        *(ToolCallStart(2, "", "get"), ArgumentsDelta(2, '{"n"')),
        ToolCallRejected(2, ParseError("tool_use", "cut", '{"n"')),
        UsageDelta(Usage(3, None)),
        Finish(FinishReason.TOOL_CALLS, "end"),
    ]


def test_the_other_meaning_of_a_finish_needs_a_call_that_is_executed() -> None:
    finish = ("finish", "end", "stop", "tool_calls")
    *_, end = deltas_of([("call", "a", "get", "{"), finish])
    assert end == Finish(FinishReason.STOP, "end")
