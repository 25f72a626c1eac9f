"""Bodies of the Responses API that are written by hand, where its writer has no words for them.

Each event is given its number where the body is put together, by `body`.
"""

import json

from harness.dialects.openai_responses import output as written
from harness.turns.deltas import Usage
from scripts.recipes.asking import Json

OSLO = '{"city": "Oslo"}'


def event(type: str, **fields: object) -> bytes:  # noqa: A002 - the name of the field
    """Return one event with these fields."""
    payload = json.dumps({"type": type, **fields}, ensure_ascii=False)
    return f"event: {type}\ndata: {payload}\n\n".encode()


def body(*events: bytes) -> tuple[bytes, ...]:
    """Return the events of one stream, each with the number that it has there."""
    values = [json.loads(one.partition(b"data: ")[2]) for one in events]
    numbered = (
        {"type": value["type"], "sequence_number": number, **value}
        for number, value in enumerate(values)
    )
    return tuple(event(**fields) for fields in numbered)


def response(status: str, *output: Json, **fields: object) -> Json:
    """Return a response object."""
    usage = Usage(231, 41) if status == "completed" else None
    plain = written.response("resp_1", "gpt-5-mini", status, {"output": list(output)}, usage)
    return plain | fields


def realtime(status: str, **fields: object) -> Json:
    """Return a response object of the Realtime API."""
    return written.as_realtime(response(status)) | fields


def created(**fields: object) -> bytes:
    """Return the event that begins a response."""
    return event("response.created", response=response("in_progress", **fields))


def completed(*output: Json, **fields: object) -> bytes:
    """Return the event that ends a response well."""
    return event("response.completed", response=response("completed", *output, **fields))


def item(index: int, before: Json, after: Json, *between: bytes) -> tuple[bytes, ...]:
    """Return the events of one item."""
    return (
        event("response.output_item.added", output_index=index, item=before),
        *between,
        event("response.output_item.done", output_index=index, item=after),
    )


def message(words: str, index: int = 0) -> Json:
    """Return a message as an item."""
    return {
        "type": "message",
        "id": f"msg_{index + 1}",
        "status": "completed",
        "role": "assistant",
        "content": [written.part("text", words)],
    }


def answer(words: str, index: int) -> tuple[bytes, ...]:
    """Return the events of a message."""
    whole = message(words, index)
    begun = {**whole, "status": "in_progress", "content": []}
    place = {"item_id": whole["id"], "output_index": index, "content_index": 0}
    return item(
        index,
        begun,
        whole,
        event("response.content_part.added", **place, part=written.part("text", "")),
        event("response.output_text.delta", **place, delta=words, logprobs=[]),
        event("response.output_text.done", **place, text=words, logprobs=[]),
        event("response.content_part.done", **place, part=written.part("text", words)),
    )


SEARCHED: Json = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "weather Oslo"},
}
_SEARCH_PLACE: Json = {"item_id": "ws_1", "output_index": 0}
SEARCHING = body(
    created(),
    *item(
        0,
        {**SEARCHED, "status": "in_progress"},
        SEARCHED,
        event("response.web_search_call.in_progress", **_SEARCH_PLACE),
        event("response.web_search_call.searching", **_SEARCH_PLACE),
        event("response.web_search_call.completed", **_SEARCH_PLACE),
    ),
    *answer("It is raining in Oslo.", 1),
    completed(SEARCHED, message("It is raining in Oslo.", 1)),
)

PATCH = "*** Begin Patch"
CUSTOM: Json = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "status": "completed",
    "call_id": "call_a",
    "name": "apply_patch",
    "input": f"{PATCH}\n",
}
CUSTOM_PLACE = {"item_id": "ctc_1", "output_index": 0}
_PATCHING: Json = {"tools": [{"type": "custom", "name": "apply_patch"}]}
CUSTOM_CALL = body(
    created(**_PATCHING),
    *item(
        0,
        {**CUSTOM, "status": "in_progress", "input": ""},
        CUSTOM,
        event("response.custom_tool_call_input.delta", **CUSTOM_PLACE, delta=PATCH),
        event("response.custom_tool_call_input.delta", **CUSTOM_PLACE, delta="\n"),
        event("response.custom_tool_call_input.done", **CUSTOM_PLACE, input=f"{PATCH}\n"),
    ),
    completed(CUSTOM, **_PATCHING),
)
X_SEARCH: Json = {
    **CUSTOM,
    "call_id": "xs_call_1",
    "name": "x_keyword_search",
    "input": '{"query": "weather Oslo"}',
}
SEARCHING_X = body(
    created(tools=[{"type": "x_search"}]),
    *item(0, {**X_SEARCH, "status": "in_progress", "input": ""}, X_SEARCH),
    *answer("People in Oslo complain about rain.", 1),
    completed(X_SEARCH, message("People in Oslo complain about rain.", 1)),
)
SHELL: Json = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "status": "completed",
    "call_id": "call_a",
    "action": {"type": "exec", "command": ["date"], "env": {}},
}

DOCUMENT = response(
    "completed",
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "The user wants the weather."}],
    },
    message("Let me look.", 1),
    {
        "type": "function_call",
        "id": "fc_3",
        "status": "completed",
        "call_id": "call_a",
        "name": "get_weather",
        "arguments": OSLO,
    },
)

REALTIME = (
    event("session.created", event_id="event_a", session={"type": "realtime"}),
    event("conversation.item.added", event_id="event_b", item={"type": "message", "role": "user"}),
)
TOO_FAST: Json = {"code": "rate_limit_exceeded", "message": "Please slow down.", "param": None}
FAILED = event("response.failed", response=response("failed", error=TOO_FAST))
