"""Responses streams spelled by hand, how they are read, and hostile ones of the same words."""

import json
from typing import Any

from hypothesis import strategies as st

from harness.dialects.openai_responses.read import read
from harness.turns.deltas import Delta, Finish, FinishReason, ToolCall
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import TAIL, read_every_way

Json = dict[str, Any]
OSLO = '{"city":"Oslo"}'
BERGEN = '{"city":"Bergen"}'


def event(kind: str, **fields: object) -> Json:
    return {"type": kind, **fields}


def function(arguments: object = "", **fields: object) -> Json:
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_weather"}
    return {**item, "arguments": arguments, **fields}


def added(item: Json, index: object = 0) -> Json:
    return event("response.output_item.added", output_index=index, item=item)


def done(item: Json, index: object = 0) -> Json:
    return event("response.output_item.done", output_index=index, item=item)


def piece(delta: object, index: object = 0, item_id: object = "fc_1") -> Json:
    kind = "response.function_call_arguments.delta"
    return event(kind, output_index=index, item_id=item_id, delta=delta)


def whole(arguments: object, index: object = 0, item_id: object = "fc_1", **more: object) -> Json:
    kind = "response.function_call_arguments.done"
    return event(kind, output_index=index, item_id=item_id, arguments=arguments, **more)


def completed(*output: Json, **fields: object) -> Json:
    response = {"id": "resp_1", "status": "completed", "output": list(output), **fields}
    return event("response.completed", response=response)


def sse(*events: Json | str) -> bytes:
    payloads = [one if isinstance(one, str) else json.dumps(one) for one in events]
    return b"".join(f"data: {payload}\n\n".encode() for payload in payloads)


def read_deltas(body: bytes, *, tools: tuple[str, ...] = (), plain: bool = False) -> list[Delta]:
    """Return the deltas of `body`, cut every way; a plain body is no event stream."""
    tail = b"" if plain else TAIL
    deltas = list(read_every_way(lambda frames: read(frames, tools), body, tail=tail))
    assert_protocol(deltas)
    return deltas


def read_turn(*events: Json | str, tools: tuple[str, ...] = ()) -> Turn:
    return fold(read_deltas(sse(*events), tools=tools))


def read_document(document: object) -> Turn:
    return fold(read_deltas(json.dumps(document).encode(), plain=True))


def call(arguments: str = OSLO, call_id: str = "c1", name: str = "get_weather") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def turn(*calls: ToolCall, **fields: Any) -> Turn:  # noqa: ANN401 - fields of a turn
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    return Turn(**{"tool_calls": calls, "finish": Finish(reason, "completed"), **fields})


# Hostile streams: the words of the API, with wrong types everywhere

_leaf: st.SearchStrategy[Any] = st.sampled_from(
    (None, True, -1, 0, 1, "", "fc_1", "fc_2", "c1", "c2", "{}", "{", OSLO, "a", [], {}, 1.5)
)
_TYPES = (
    "function_call",
    "custom_tool_call",
    "message",
    "reasoning",
    "shell_call",
    "tool_search_call",
    "mcp_approval_request",
    None,
    3,
)
_parts = st.lists(
    st.fixed_dictionaries(
        {}, optional={"type": st.sampled_from(("output_text", "refusal", 1)), "text": _leaf}
    )
    | _leaf,
    max_size=2,
)
_items = st.fixed_dictionaries(
    {"type": st.sampled_from(_TYPES)},
    optional={
        "id": _leaf,
        "call_id": _leaf,
        "name": _leaf,
        "arguments": _leaf,
        "input": _leaf,
        "status": st.sampled_from(("completed", "incomplete", None, 2)),
        "content": _parts | _leaf,
        "summary": _parts | _leaf,
        "environment": _leaf,
        "execution": st.sampled_from(("client", "server")),
    },
)
_responses = st.fixed_dictionaries(
    {},
    optional={
        "id": _leaf,
        "status": st.sampled_from(("completed", "incomplete", "failed", "queued", None, 1)),
        "output": st.lists(_items | _leaf, max_size=3) | _leaf,
        "tools": st.lists(_items | _leaf, max_size=2) | _leaf,
        "usage": st.fixed_dictionaries({}, optional={"input_tokens": _leaf}) | _leaf,
        "error": _leaf,
        "incomplete_details": st.fixed_dictionaries({}, optional={"reason": _leaf}) | _leaf,
    },
)
_EVENTS = (
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.done",
    "session.closed",
    "error",
    "ping",
    None,
    7,
)
_hostile_events = st.fixed_dictionaries(
    {"type": st.sampled_from(_EVENTS)},
    optional={
        "output_index": _leaf,
        "item_id": _leaf,
        "delta": _leaf,
        "text": _leaf,
        "arguments": _leaf,
        "input": _leaf,
        "name": _leaf,
        "item": _items | _leaf,
        "response": _responses | _leaf,
        "error": _leaf,
        "code": _leaf,
        "message": _leaf,
        "event_id": _leaf,
    },
)
hostile: st.SearchStrategy[bytes] = st.lists(_hostile_events | _responses, max_size=8).map(
    lambda events: sse(*events)
)
