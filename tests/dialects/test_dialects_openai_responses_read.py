"""The calls that the reader makes of Responses streams, by contract and beside it."""

import pytest

from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
)
from tests.dialects.openai_responses_streams import (
    BERGEN,
    OSLO,
    Json,
    added,
    call,
    completed,
    done,
    event,
    function,
    piece,
    read_deltas,
    read_turn,
    sse,
    turn,
    whole,
)
from tests.tables import each_row

SECOND = {"id": "fc_2", "call_id": "c2"}
ONE = turn(call())
TWO = turn(call(), call(BERGEN, "c2"))


def test_a_call_by_contract_is_said_as_it_comes() -> None:
    body = sse(
        added(function()),
        piece('{"city":'),
        piece('"Oslo"}'),
        whole(OSLO),
        done(function(OSLO)),
        completed(function(OSLO)),
    )
    assert read_deltas(body) == [
        ToolCallStart(0, "c1", "get_weather"),
        ArgumentsDelta(0, '{"city":'),
        ArgumentsDelta(0, '"Oslo"}'),
        ToolCallEnd(0),
        Finish(FinishReason.TOOL_CALLS, "completed"),
    ]


CALLS: dict[str, tuple[Json, ...]] = {
    "only the end of the arguments": (added(function()), whole(OSLO), completed()),
    "only the end of the item": (done(function(OSLO)), completed()),
    "only the terminal event": (completed(function(OSLO)),),
    "no end of the item": (added(function()), piece(OSLO), completed()),
    "deltas, then an empty end": (added(function()), piece(OSLO), whole(""), completed()),
    "deltas, then an end without arguments": (
        added(function()),
        piece(OSLO),
        whole(None),
        completed(),
    ),
    "deltas, then an empty object": (
        added(function()),
        piece(OSLO),
        whole(OSLO),
        done(function("{}")),
        completed(),
    ),
    "the same value in another spelling": (
        added(function()),
        piece(OSLO),
        done(function('{ "city": "Oslo" }')),
        completed(),
    ),
    "early arguments that deltas repeat": (added(function(OSLO)), piece(OSLO), completed()),
    "early arguments that deltas continue": (
        added(function('{"city":')),
        piece('"Oslo"}'),
        completed(),
    ),
    "early arguments alone": (added(function(OSLO)), completed()),
    "a delta before its item": (piece(OSLO), added(function()), completed()),
    "deltas without id and place": (
        added(function()),
        event("response.function_call_arguments.delta", delta=OSLO),
        completed(),
    ),
    "another item id in each event": (
        added(function(id="x1")),
        piece(OSLO, item_id="x2"),
        done(function(OSLO, id="x3")),
        completed(function(OSLO, id="x4")),
    ),
    "another call_id at the end": (
        added(function()),
        done(function(OSLO)),
        completed(function(OSLO, call_id="c9")),
    ),
    "two other ids at the end": (
        added(function()),
        done(function(OSLO)),
        completed(function(OSLO, id="fc_9", call_id="c9")),
    ),
    "the name comes with the arguments": (
        added(function(name="")),
        whole(OSLO, name="get_weather"),
        completed(),
    ),
    "the call_id comes with the end": (
        added(function(call_id=None)),
        done(function(OSLO)),
        completed(),
    ),
    "output null": (
        done(function(OSLO)),
        event("response.completed", response={"output": None}),
    ),
    "no response at all": (done(function(OSLO)), event("response.completed")),
}


@each_row("events", CALLS.values())
def test_one_call(events: tuple[Json, ...]) -> None:
    assert read_turn(*events) == ONE


PAIRS: dict[str, tuple[Json, ...]] = {
    "interleaved": (
        added(function()),
        added(function(**SECOND), 1),
        piece('{"city":'),
        piece(BERGEN, 1, "fc_2"),
        piece('"Oslo"}'),
        completed(),
    ),
    "all at place 0": (
        added(function()),
        piece(OSLO),
        done(function(OSLO)),
        added(function(**SECOND)),
        piece(BERGEN, 0, "fc_2"),
        done(function(BERGEN, **SECOND)),
        completed(function(OSLO), function(BERGEN, **SECOND)),
    ),
    "ends alone, all at place 0": (
        done(function(OSLO)),
        done(function(BERGEN, **SECOND)),
        completed(),
    ),
    "one id for both items": (
        added(function()),
        added(function(call_id="c2"), 1),
        piece(OSLO),
        piece(BERGEN, 1),
        completed(),
    ),
    "a sibling that only the terminal event has": (
        added(function()),
        done(function(OSLO)),
        completed(function(OSLO), function(BERGEN, **SECOND)),
    ),
    "without ids of items": (
        added(function(id=None)),
        piece(OSLO, 0, None),
        added(function(id=None, call_id="c2"), 1),
        piece(BERGEN, 1, None),
        completed(),
    ),
}


@each_row("events", PAIRS.values())
def test_two_calls(events: tuple[Json, ...]) -> None:
    assert read_turn(*events) == TWO


def test_two_calls_of_one_call_id_get_ids_of_their_own() -> None:
    found = read_turn(
        added(function()), added(function(id="fc_2"), 1), piece(OSLO), piece(BERGEN, 1, "fc_2"),
        completed(),
    )  # fmt: skip
    assert [one.arguments for one in found.tool_calls] == [OSLO, BERGEN]
    assert found.tool_calls[0].id != found.tool_calls[1].id


REJECTED: dict[str, tuple[tuple[Json, ...], str]] = {
    "other arguments at the end": (
        (added(function()), piece(OSLO), done(function(BERGEN)), completed()),
        "its arguments came twice and differ",
    ),
    "other arguments in the terminal event": (
        (added(function()), done(function(OSLO)), completed(function(BERGEN))),
        "its arguments came twice and differ",
    ),
    "another name": (
        (added(function()), done(function(OSLO, name="get_time")), completed()),
        "its name was 'get_weather' and then 'get_time'",
    ),
    "no name": ((added(function(name="")), piece(OSLO), completed()), "the call has no name"),
    "marked as incomplete": (
        (done(function(OSLO, status="incomplete")), completed()),
        "the provider marks it as incomplete",
    ),
    "an action that is marked as incomplete": (
        (done({"type": "shell_call", "id": "c1", "status": "incomplete"}), completed()),
        "the provider marks it as incomplete",
    ),
    "an approval of arguments that are not JSON": (
        (
            done({"type": "mcp_approval_request", "id": "m_1", "name": "buy", "arguments": "Oslo"}),
            completed(),
        ),
        "expected one JSON object, found prose instead of JSON at offset 0: 'Oslo'",
    ),
}


@each_row(("events", "why"), REJECTED.values())
def test_rejected(events: tuple[Json, ...], why: str) -> None:
    found = read_turn(*events)
    assert found.tool_calls == ()
    assert [error.error for error in found.parse_errors] == [why]


NO_CALLS: dict[str, Json] = {
    "web search": {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    "MCP": {"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": OSLO},
    "a shell in a container": {
        "type": "shell_call",
        "id": "sh_1",
        "call_id": "c1",
        "environment": {"type": "container_reference"},
    },
    "a search for tools by the server": {"type": "tool_search_call", "execution": "server"},
    "a program": {"type": "program", "id": "cm_1", "call_id": "c1", "code": "1"},
}


@each_row("item", NO_CALLS.values())
def test_what_the_provider_runs_is_no_call(item: Json) -> None:
    assert read_turn(added(item), done(item), completed(item)) == turn()


def custom(text: str) -> Json:
    return {"type": "custom_tool_call", "id": "fc_1", "call_id": "c1", "name": "sql", "input": text}


def custom_piece(delta: str) -> Json:
    kind = "response.custom_tool_call_input.delta"
    return event(kind, output_index=0, item_id="fc_1", delta=delta)


CUSTOM = ToolCall("c1", "sql", "SELECT {}", "custom")


@pytest.mark.parametrize(
    "events",
    [
        (added(custom("")), custom_piece("SELECT "), custom_piece("{}")),
        (custom_piece("SELECT {}"), added(custom(""))),
        (done(custom("SELECT {}")),),
        (added(custom("SELECT ")), custom_piece("{}")),
        (added(custom("SELECT ")), custom_piece("SELECT "), custom_piece("{}")),
    ],
)
def test_a_custom_tool_takes_free_text(events: tuple[Json, ...]) -> None:
    assert read_turn(*events, completed()) == turn(CUSTOM)


def created(*tools: Json) -> Json:
    return event("response.created", response={"id": "resp_1", "tools": list(tools)})


def test_a_custom_call_to_no_tool_of_the_client_is_the_providers() -> None:
    events = (created({"type": "x_search"}), added(custom("")), custom_piece("SELECT {}"))
    assert read_turn(*events, done(custom("SELECT {}")), completed()) == turn()


def test_a_custom_tool_that_the_request_declares_is_the_clients() -> None:
    events = (created({"type": "x_search"}), added(custom("")), custom_piece("SELECT {}"))
    assert read_turn(*events, completed(), tools=("sql",)) == turn(CUSTOM)
