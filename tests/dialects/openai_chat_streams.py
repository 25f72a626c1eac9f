"""Openai-chat streams spelled by hand, and the turns that they must fold to."""

import json
from collections.abc import Iterable
from typing import Any

from harness.dialects.openai_chat.calls import ReaderPolicy
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCall,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.replay_every_way import TAIL, read_deltas

Json = dict[str, Any]
OSLO = '{"city":"Oslo"}'
BERGEN = '{"city":"Bergen"}'
TOOLS = ("get_weather", "get_time", "get")

# Spelling a stream by hand


def chunk(delta: object = None, *, finish: object = None, **fields: object) -> Json:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"id": "r1", "object": "chat.completion.chunk", "choices": [choice], **fields}


def entry(arguments: object = "", *, name: object = "absent", **fields: object) -> Json:
    function: Json = {} if name == "absent" else {"name": name}
    return {"index": 0, **fields, "function": {**function, "arguments": arguments}}


def opening(arguments: object = "", **fields: object) -> Json:
    return entry(arguments, **{"id": "c1", "type": "function", "name": "get_weather", **fields})


def sse(*events: Json | str) -> bytes:
    payloads = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return b"".join(f"data: {payload}\n\n".encode() for payload in payloads)


def calls(*entries: Json, finish: str = "tool_calls") -> bytes:
    """Spell each entry in a chunk of its own, then the finish."""
    chunks = [chunk({"tool_calls": [each]}) for each in entries]
    return sse(*chunks, chunk(finish=finish), "[DONE]")


def turn(*found: ToolCall, raw: str = "tool_calls", **fields: Any) -> Turn:  # noqa: ANN401 - fields of a turn
    reason = FinishReason.TOOL_CALLS if found else FinishReason.STOP
    return Turn(**{"tool_calls": found, "finish": Finish(reason, raw), **fields})


def call(
    arguments: str = '{"city":"Oslo"}', call_id: str = "c1", name: str = "get_weather"
) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def failed(code: str, message: str, **fields: Any) -> Turn:  # noqa: ANN401 - as turn
    return Turn(failure=StreamFailure(code, message), **fields)


def read_turn(body: bytes, *, plain: bool = False, policy: ReaderPolicy | None = None) -> Turn:
    """Return the turn of `body`, cut every way; a plain body is no event stream."""
    tail = b"" if plain else TAIL
    deltas = read_deltas(body, tools=TOOLS, policy=policy, tail=tail)
    assert_protocol(deltas)
    return fold(deltas)


def assert_protocol(deltas: Iterable[Delta]) -> None:
    """Check what every consumer of deltas may rely on."""
    started: list[int] = []
    ended: set[int] = set()
    over = False
    for delta in deltas:
        assert not over or isinstance(delta, UsageDelta)
        match delta:
            case ToolCallStart():
                assert delta.index == len(started)
                assert delta.id
                started.append(delta.index)
            case ArgumentsDelta():
                assert delta.index in started
                assert delta.index not in ended
                assert delta.fragment
            case ToolCallEnd() | ToolCallRejected():
                assert delta.index in started
                assert delta.index not in ended
                ended.add(delta.index)
            case Finish() | StreamFailure():
                over = True
            case _:
                pass
    assert over
    assert ended == set(started)
