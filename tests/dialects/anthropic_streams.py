"""Messages streams spelled by hand, and the turns that they must fold to."""

import json
from typing import Any

from harness.dialects.table import DIALECTS
from harness.turns.deltas import Delta, Finish, FinishReason, StreamFailure, ToolCall
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import TAIL, read_every_way

Json = dict[str, Any]
OSLO = '{"city": "Oslo"}'
STARTED: Json = {"type": "message_start", "message": {"id": "m1", "content": []}}
STOPPED: Json = {"type": "message_stop"}

# Spelling a stream by hand


def start(index: object, block: object) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def called(index: object = 0, call_id: str = "t1", **fields: object) -> Json:
    use = {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {}}
    return start(index, {**use, **fields})


def delta(index: object, kind: str, **fields: object) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def partial(fragment: object, index: object = 0) -> Json:
    return delta(index, "input_json_delta", partial_json=fragment)


def said(piece: object, index: object = 0) -> Json:
    return delta(index, "text_delta", text=piece)


def stop(index: object = 0) -> Json:
    return {"type": "content_block_stop", "index": index}


def ended(reason: object, **fields: object) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, **fields}


def sse(*events: Json | str, names: bool = True) -> bytes:
    """Frame the events; text is a payload that is no JSON."""
    body = b""
    for event in events:
        payload = event if isinstance(event, str) else json.dumps(event)
        if names and isinstance(event, dict):
            body += f"event: {event.get('type')}\n".encode()
        body += f"data: {payload}\n\n".encode()
    return body


def message(*events: Json | str, reason: object = "tool_use") -> bytes:
    """Frame a message that ends as it should."""
    return sse(STARTED, *events, ended(reason), STOPPED)


# The turns


def call(arguments: str = OSLO, call_id: str = "t1", name: str = "get_weather") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def turn(*found: ToolCall, raw: str = "tool_use", **fields: Any) -> Turn:  # noqa: ANN401 - fields of a turn
    reason = FinishReason.TOOL_CALLS if found else FinishReason.STOP
    return Turn(**{"tool_calls": found, "finish": Finish(reason, raw), **fields})


def failed(code: str, words: str, **fields: Any) -> Turn:  # noqa: ANN401 - as turn
    return Turn(failure=StreamFailure(code, words), **fields)


def read_deltas(body: bytes, *, tail: bytes = TAIL) -> tuple[Delta, ...]:
    """Return the deltas of `body`, cut every way."""
    return read_every_way(lambda frames: DIALECTS["anthropic"].read(frames, ()), body, tail=tail)


def read_turn(body: bytes, *, tail: bytes = TAIL) -> Turn:
    """Return the turn of `body`, cut every way."""
    deltas = read_deltas(body, tail=tail)
    assert_protocol(deltas)
    return fold(deltas)
