"""Writing openai-chat streams: what each switch puts on the wire.

That all of it reads back is held by the round-trip property; here is that a switch really
writes its quirk, so that the property and the emulated cassettes show what they claim.
"""

import json
from typing import Any

import pytest

from harness.dialects.openai_chat.write import WriterOptions, write
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
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
from harness.turns.fold import fold
from tests.replay_every_way import decode_sse, read_deltas
from tests.tables import each_row

Json = dict[str, Any]

DELTAS: tuple[Delta, ...] = (
    TextDelta("hi"),
    ToolCallStart(0, "c1", "get_weather"),
    ArgumentsDelta(0, '{"city":'),
    ArgumentsDelta(0, '"Oslo"}'),
    ToolCallEnd(0),
    UsageDelta(Usage(3, 4)),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
)
OPENING = {"role": "assistant", "content": ""}


def _spelled(deltas: tuple[Delta, ...] = DELTAS, **switches: Any) -> list[Json]:  # noqa: ANN401 - any switch
    """Return the chunks, without [DONE]."""
    body = b"".join(write(deltas, WriterOptions(**switches)))
    payloads = [frame.data for frame in decode_sse(body).frames]
    return [json.loads(data) for data in payloads if data != b"[DONE]"]


def _choices(chunks: list[Json]) -> list[Json]:
    return [choice for chunk in chunks for choice in chunk.get("choices") or ()]


def _entries(chunks: list[Json]) -> list[Json]:
    return [e for c in _choices(chunks) for e in c.get("delta", {}).get("tool_calls") or ()]


def test_the_contract() -> None:
    chunks = _spelled()
    assert {tuple(chunk)[:4] for chunk in chunks} == {("id", "object", "created", "model")}
    assert _entries(chunks) == [
        {
            "index": 0,
            "id": "c1",
            "type": "function",
            "function": {"name": "get_weather", "arguments": ""},
        },
        {"index": 0, "function": {"arguments": '{"city":'}},
        {"index": 0, "function": {"arguments": '"Oslo"}'}},
    ]
    assert chunks[-1]["choices"] == []
    counts = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert chunks[-1]["usage"].items() >= counts.items()
    assert _choices(chunks)[-1] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}


@each_row(
    ("switches", "field", "values"),
    [
        ({"first_id": "absent"}, "id", [None, None, None]),
        ({"first_id": "empty"}, "id", ["", None, None]),
        ({"later_id": "empty"}, "id", ["c1", "", ""]),
        ({"later_id": "repeated"}, "id", ["c1", "c1", "c1"]),
        ({"later_id": "changed"}, "id", ["c1", "c1-3", "c1-4"]),
        ({"index": "absent"}, "index", [None, None, None]),
        ({"index": "from-one"}, "index", [1, 1, 1]),
        ({"index": "negative"}, "index", [-1, -1, -1]),
        ({"call_type": "empty"}, "type", ["", "", ""]),
        ({"call_type": "always"}, "type", ["function"] * 3),
        ({"later_name": "empty"}, "name", ["get_weather", "", ""]),
        ({"later_name": "repeated"}, "name", ["get_weather"] * 3),
        ({"name_pieces": 2}, "name", ["get_we", "ather", None, None]),
        ({"name_pieces": 99}, "name", [*"get_weather", None, None]),
        ({"arguments": "with-start"}, "arguments", ['{"city":"Oslo"}']),
        ({"arguments": "object"}, "arguments", [{"city": "Oslo"}]),
        ({"arguments": "null-first"}, "arguments", [None, '{"city":', '"Oslo"}']),
        ({"arguments": "placeholder-first"}, "arguments", ["{}", '{"city":', '"Oslo"}']),
        ({"arguments": "cumulative"}, "arguments", ["", '{"city":', '{"city":"Oslo"}']),
        (
            {"arguments": "whole-again"},
            "arguments",
            ["", '{"city":', '"Oslo"}', '{"city":"Oslo"}'],
        ),
        (
            {"arguments": "with-start", "name_pieces": 2},
            "arguments",
            ["", '{"city":"Oslo"}'],
        ),
        ({"one_chunk": True}, "arguments", ['{"city":"Oslo"}']),
    ],
)
def test_a_switch_changes_its_field(switches: Json, field: str, values: list[object]) -> None:
    entries = _entries(_spelled(**switches))
    assert [{**entry, **entry["function"]}.get(field) for entry in entries] == values


def test_absent_and_null_differ_on_the_wire() -> None:
    absent = _entries(_spelled(index="absent", later_id="absent"))
    null = _entries(_spelled(index="null", later_id="null", later_name="null", call_type="null"))
    assert all("index" not in entry for entry in absent)
    assert all("id" not in entry for entry in absent[1:])
    assert all(entry["index"] is None and entry["type"] is None for entry in null)
    assert all(entry["id"] is None and entry["function"]["name"] is None for entry in null[1:])
    first = _entries(_spelled(arguments="absent-first"))[0]
    assert first["function"] == {"name": "get_weather"}


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ("legacy", ("delta", "function_call")),
        ("additional-kwargs", ("delta", "additional_kwargs", "tool_calls")),
        ("message", ("message", "tool_calls")),
    ],
)
def test_calls_stand_where_the_switch_says(where: str, path: tuple[str, ...]) -> None:
    chunks = _spelled(where=where)
    assert _entries(chunks) == []
    found: Any = _choices(chunks)[2]
    for key in path:
        found = found[key]
    assert "get_weather" in json.dumps(found)


@each_row(
    ("finish", "words"),
    [
        ("own-chunk", [None, None, None, None, None, "tool_calls"]),
        ("twice", [None, None, None, None, None, "tool_calls", "tool_calls"]),
        ("then-stop", [None, None, None, None, None, "tool_calls", "stop"]),
        ("stop-too-early", ["stop", None, None, None, None, "tool_calls"]),
        ("empty-until-last", ["", "", "", "", "", "tool_calls"]),
        ("absent", [None, None, None, None, None]),
        ("with-call", [None, None, None, None, "tool_calls"]),
    ],
)
def test_the_finish(finish: str, words: list[str | None]) -> None:
    deltas = tuple(delta for delta in DELTAS if not isinstance(delta, UsageDelta))
    assert [c["finish_reason"] for c in _choices(_spelled(deltas, finish=finish))] == words


@pytest.mark.parametrize(
    ("usage", "choices"), [("choices-null", [None]), ("choices-absent", []), ("own-chunk", [[]])]
)
def test_usage_in_a_chunk_of_its_own(usage: str, choices: list[object]) -> None:
    (chunk,) = [chunk for chunk in _spelled(usage=usage) if "usage" in chunk]
    assert [value for key, value in chunk.items() if key == "choices"] == choices


def test_usage_beside_what_was_said_last() -> None:
    (chunk,) = [chunk for chunk in _spelled(usage="with-finish") if "usage" in chunk]
    assert chunk["choices"]


def test_fields_that_idle_and_other_names() -> None:
    deltas = (ReasoningDelta("so"), TextDelta("hi"), Finish(FinishReason.STOP, "stop"))
    chunks = _spelled(deltas, idle="empty", reasoning_field="reasoning", choice=None)
    assert [choice["delta"] for choice in _choices(chunks)] == [
        OPENING,
        {"reasoning": "so", "content": ""},
        {"content": "hi", "tool_calls": []},
        {},
    ]
    assert all("index" not in choice for choice in _choices(chunks))
    nulls = _choices(_spelled(deltas, idle="null"))
    assert nulls[2]["delta"] == {"content": "hi", "tool_calls": None}


@each_row("start", range(len(DELTAS)))
@each_row("where", ["delta", "message", "legacy", "additional-kwargs"])
@each_row("finish", ["own-chunk", "stop-too-early", "with-call"])
def test_the_role_is_in_the_first_choice_in_each_or_in_none(
    start: int, where: str, finish: str
) -> None:
    deltas = tuple(d for d in DELTAS[start:] if not isinstance(d, ArgumentsDelta | ToolCallEnd))
    named = {
        role: ["role" in (c.get("delta") or {}) for c in _choices(_spelled(deltas, **options))]
        for role in ("first", "each", "absent")
        if (options := {"role": role, "finish": finish, "where": where})
    }
    if where != "message":  # a message always names its role
        assert named["first"] == [True] + [False] * (len(named["first"]) - 1)
        assert all(named["each"])
        assert not any(named["absent"])


def test_the_first_delta_has_the_role_with_the_call_or_before_the_text() -> None:
    assert _choices(_spelled(DELTAS[:1]))[0]["delta"] == OPENING
    delta = _choices(_spelled(DELTAS[1:]))[0]["delta"]
    assert {name: delta[name] for name in delta if name != "tool_calls"} == {
        "role": "assistant",
        "content": None,
    }
    assert delta["tool_calls"]


def test_response_ids() -> None:
    assert {chunk["id"] for chunk in _spelled()} == {"chatcmpl-1"}
    chunks = _spelled(new_response_ids=True)
    assert len({chunk["id"] for chunk in chunks}) == len(chunks)


def test_the_framing() -> None:
    spelling = WriterOptions(
        line_end="crlf", space=False, bom=True, comment=" ping", event_name="chunk"
    )
    events = write(DELTAS, spelling)
    assert events[0].startswith(b"\xef\xbb\xbf: ping\r\n\r\nevent:chunk\r\ndata:{")
    assert events[-1] == b": ping\r\n\r\nevent:chunk\r\ndata:[DONE]\r\n\r\n"
    assert not write(DELTAS, WriterOptions(done=False))[-1].startswith(b"data: [DONE]")
    assert write(DELTAS, WriterOptions(line_end="cr"))[-1] == b"data: [DONE]\r\r"


@pytest.mark.parametrize(
    "failure",
    [
        StreamFailure("overloaded", "busy"),
        StreamFailure("refusal", "I cannot"),
        StreamFailure("empty_stream", "the stream held no event"),
        StreamFailure("interrupted", "the stream ended without a finish reason or [DONE]"),
    ],
)
def test_failures_come_back(failure: StreamFailure) -> None:
    said = () if failure.code == "empty_stream" else (TextDelta("hi"),)
    turn = fold(read_deltas(b"".join(write((*said, failure)))))
    assert turn.failure == failure
    assert turn.finish is None


def test_a_rejected_call_is_written_as_it_came() -> None:
    deltas = (
        ToolCallStart(0, "c1", "get_weather"),
        ArgumentsDelta(0, "nonsense"),
        ToolCallRejected(0, ParseError("tool_use", "why")),
        Finish(FinishReason.STOP, "stop"),
    )
    (error,) = fold(read_deltas(b"".join(write(deltas)))).parse_errors
    assert (error.name, error.snippet) == ("get_weather", "nonsense")


def test_half_a_pair_of_surrogates_can_be_written() -> None:
    deltas = (TextDelta("\ud83d"), TextDelta("\ude00"), Finish(FinishReason.STOP, "stop"))
    assert fold(read_deltas(b"".join(write(deltas)))).text == "\U0001f600"


def test_every_event_is_one_frame_and_nothing_written_is_nothing() -> None:
    assert write(()) == (b"data: [DONE]\n\n",)
    events = write(DELTAS, WriterOptions(comment="x"))
    assert all(len(decode_sse(event).frames) == 1 for event in events)
