"""Reading openai-chat streams: each catalogued quirk, each policy, and no input that raises.

One entry of a table for each quirk of the catalogue's B group, and for those of its A group
that concern a first reader of frames; all are replayed every way.
"""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import shipped
from harness.dialects.openai_chat.policy import Policy
from harness.judging.catalogue import load_catalogue
from harness.turns.calls import ToolCall
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.replay_every_way import read_deltas

Json = dict[str, Any]
TOOLS = ("get_weather", "get_time", "get")

# Spelling a stream by hand


def chunk(delta: object = None, *, finish: object = None, **fields: object) -> Json:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"id": "r1", "choices": [choice], **fields}


def entry(arguments: object = "", *, name: object = "absent", **fields: object) -> Json:
    function: Json = {} if name == "absent" else {"name": name}
    return {"index": 0, **fields, "function": {**function, "arguments": arguments}}


def opening(arguments: object = "", **fields: object) -> Json:
    return entry(arguments, **{"id": "c1", "type": "function", "name": "get_weather", **fields})  # type: ignore[arg-type] # a fixture's fields may be of any type


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


def call(arguments: str = '{"city":"Oslo"}', call_id: str = "c1", name: str = "get_weather") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def failed(code: str, message: str, **fields: Any) -> Turn:  # noqa: ANN401 - as turn
    return Turn(failure=StreamFailure(code, message), **fields)


HALVES = (entry('{"city":'), entry('"Oslo"}'))
OSLO = '{"city":"Oslo"}'
BERGEN = '{"city":"Bergen"}'
MADE_UP = "call_3c8b7f3f4a20c3e1d3d8e6b0"  # stands for any id that the reader makes
BOTH = turn(call(), call(BERGEN, "c2"))

B_GROUP: dict[str, tuple[bytes, Turn]] = {
    "DELTA-ID-NAME-FIRST-ONLY": (calls(opening(), *HALVES), turn(call())),
    "DELTA-ID-EMPTY-LATER": (
        calls(opening(), *({**half, "id": ""} for half in HALVES), entry("", id="", name="")),
        turn(call()),
    ),
    "DELTA-ID-NULL-LATER": (
        calls(opening(), entry(OSLO, id=None, type=None, name=None)),
        turn(call()),
    ),
    "DELTA-NAME-NULL-STRINGIFIED": (
        calls(opening(name="get"), entry(OSLO, name=None)),
        turn(call(name="get")),
    ),
    "DELTA-NAME-REPEATED": (
        calls(opening(), *(entry(h["function"]["arguments"], name="get_weather") for h in HALVES)),
        turn(call()),
    ),
    "DELTA-NAME-FRAGMENTED": (
        calls(opening(name="get"), entry(name="_wea"), entry(name="ther"), *HALVES),
        turn(call()),
    ),
    "DELTA-NAME-PREFIX-EMITTED": (
        calls(opening(name="get_wea"), *HALVES),
        turn(call(name="get_wea")),
    ),
    "DELTA-ID-NAME-NO-ARGS": (
        calls({"index": 0, "id": "c1", "function": {"name": "get_weather"}}, *HALVES),
        turn(call()),
    ),
    "DELTA-FIRST-HAS-ARGS": (calls(opening(OSLO)), turn(call())),
    "DELTA-ID-MISSING": (
        calls(entry(OSLO, name="get_weather"), entry(BERGEN, name="get_weather", index=1)),
        turn(call(call_id=MADE_UP), call(BERGEN, MADE_UP)),
    ),
    "DELTA-ID-CHANGES": (
        calls(opening(), entry('{"city":', id="c2"), entry('"Oslo"}', id="c3")),
        turn(call()),
    ),
    "DELTA-ID-SHARED-BY-SIBLINGS": (
        calls(opening(OSLO), opening(index=1), entry(BERGEN, index=1, id="c1")),
        turn(call(), call(BERGEN, "c1-1")),
    ),
    "DELTA-INDEX-ALL-ZERO": (
        calls(opening(), *HALVES, opening(id="c2"), entry(BERGEN)),
        BOTH,
    ),
    "DELTA-INDEX-MISSING": (
        calls(
            *({**each, "index": None} for each in (opening(), *HALVES, opening(id="c2"))),
            {"function": {"arguments": BERGEN}},
        ),
        BOTH,
    ),
    "DELTA-INDEX-SPARSE": (
        calls(opening(OSLO, index=-1), opening(index=7, id="c2"), entry(BERGEN, index=7)),
        BOTH,
    ),
    "DELTA-INDEX-BY-NAME": (
        calls(opening(OSLO), opening(BERGEN, id="c2"), opening("{}", index=1, id="c3", name="get")),
        turn(call(), call(BERGEN, "c2"), call("{}", "c3", "get")),
    ),
    "DELTA-INTERLEAVED": (
        calls(
            opening(),
            opening(index=1, id="c2"),
            entry('{"city":'),
            entry('{"city":', index=1),
            entry('"Oslo"}'),
            entry('"Bergen"}', index=1),
        ),
        BOTH,
    ),
    "DELTA-MULTI-IN-CHUNK": (
        sse(
            chunk({"tool_calls": [opening(), opening(BERGEN, index=1, id="c2")]}),
            chunk({"tool_calls": [entry(OSLO), entry("", index=1)]}),
            chunk(finish="tool_calls"),
        ),
        BOTH,
    ),
    "DELTA-ONLY-FIRST-CHUNK-READ": (
        calls(opening(OSLO), opening(BERGEN, index=1, id="c2")),
        BOTH,
    ),
    "DELTA-TYPE-MISSING": (calls(entry(OSLO, id="c1", name="get_weather")), turn(call())),
    "DELTA-TYPE-EMPTY-OR-NULL": (
        calls(opening(OSLO, type=""), opening(BERGEN, index=1, id="c2", type=None)),
        BOTH,
    ),
    "DELTA-FUNCTION-NULL": (
        calls({"index": 0, "id": "c1", "function": None}, opening(OSLO)),
        turn(call()),
    ),
    "DELTA-ROLE-NULL": (
        sse(chunk({"role": None, "content": "hi"}), chunk(finish="stop")),
        turn(raw="stop", text="hi"),
    ),
    "DELTA-NULL": (
        sse({"choices": [{"index": 0, "delta": None}]}, chunk({"content": "hi"}, finish="stop")),
        turn(raw="stop", text="hi"),
    ),
    "CHUNK-CHOICES-EMPTY": (
        sse(chunk(finish="stop"), {"choices": [], "usage": {"prompt_tokens": 3}}, "[DONE]"),
        turn(raw="stop", usage=Usage(3, None)),
    ),
    "CHUNK-CHOICES-NULL": (
        sse(chunk(finish="stop"), {"choices": None, "usage": {"completion_tokens": 3}}),
        turn(raw="stop", usage=Usage(None, 3)),
    ),
    "CHUNK-CHOICES-ABSENT": (
        sse(chunk(finish="stop"), {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        turn(raw="stop", usage=Usage(3, 4)),
    ),
    "TOOLCALLS-EMPTY-ARRAY": (
        sse(chunk({"content": "hi", "tool_calls": []}), chunk({"tool_calls": []}, finish="stop")),
        turn(raw="stop", text="hi"),
    ),
    "TOOLCALLS-NULL": (
        sse(chunk({"content": "hi", "tool_calls": None}), chunk(finish="stop")),
        turn(raw="stop", text="hi"),
    ),
    "ARGS-NULL": (
        calls(opening(None), entry(OSLO), opening(None, index=1, id="c2")),
        turn(call(), call("", "c2")),
    ),
    "ARGS-OBJECT": (
        calls(opening({"city": "Oslo", "n": 12345678901234567890123})),
        turn(call('{"city": "Oslo", "n": 12345678901234567890123}')),
    ),
    "ARGS-EMPTYOBJ-THEN-REAL": (calls(opening("{}"), *HALVES), turn(call())),
    "ARGS-REPEATED-AT-END": (calls(opening(), *HALVES, entry('{"city": "Oslo"}')), turn(call())),
    "ARGS-CUMULATIVE": (
        calls(opening(), entry('{"ci'), entry('{"city":'), entry(OSLO)),
        turn(call()),
    ),
    "ARGS-OVERLAP": (
        calls(opening(), entry('{"city":"Os'), entry('slo"}')),
        turn(call('{"city":"Osslo"}')),
    ),
    "ARGS-TRAILING-EMPTY": (
        sse(chunk({"tool_calls": [opening(OSLO)]}), chunk({"tool_calls": [entry()]}, finish="stop")),
        turn(call(), raw="stop"),
    ),
    "ARGS-EARLY-PARSEABLE": (
        calls(opening(), entry('{"city":"Oslo"}'), entry("\n")),
        turn(call('{"city":"Oslo"}\n')),
    ),
    "FINISH-STOP-WITH-CALLS": (calls(opening(OSLO), finish="stop"), turn(call(), raw="stop")),
    "FINISH-EMPTY-STRING": (
        sse(chunk({"content": "hi"}, finish=""), chunk(finish="stop")),
        turn(raw="stop", text="hi"),
    ),
    "FINISH-STOP-TOO-EARLY": (
        sse(
            chunk({"content": ""}, finish="stop"),
            chunk({"tool_calls": [opening(OSLO)]}),
            chunk(finish="tool_calls"),
        ),
        turn(call()),
    ),
    "FINISH-DUPLICATE": (
        sse(
            chunk({"tool_calls": [opening(OSLO)]}),
            chunk(finish="tool_calls"),
            chunk(finish="tool_calls", usage={"prompt_tokens": 1, "completion_tokens": 2}),
        ),
        turn(call(), usage=Usage(1, 2)),
    ),
    "FINISH-TOOLCALLS-THEN-STOP": (
        sse(
            chunk({"tool_calls": [opening(OSLO)]}), chunk(finish="tool_calls"), chunk(finish="stop")
        ),
        turn(call()),
    ),
    "FINISH-TOOLCALLS-WITHOUT-CALLS": (
        sse(chunk(finish="tool_calls"), "[DONE]"),
        failed(
            "calls_missing",
            "finish 'tool_calls' without a tool call",
            finish=Finish(FinishReason.TOOL_CALLS, "tool_calls"),
        ),
    ),
    "FINISH-WITH-CALL": (
        sse(chunk({"tool_calls": [opening(OSLO)]}, finish="tool_calls")),
        turn(call()),
    ),
    "FINISH-UNKNOWN": (
        sse(chunk({"content": "hi"}), chunk(finish="Eos"), "[DONE]"),
        Turn(text="hi", finish=Finish(FinishReason.OTHER, "Eos")),
    ),
    "FINISH-LENGTH-WITH-CALL": (
        calls(opening(OSLO), finish="length"),
        turn(call(), finish=Finish(FinishReason.LENGTH, "length")),
    ),
    "CONTENT-AFTER-FINISH": (
        sse(chunk({"content": "a"}, finish="stop"), chunk({"content": "b"}), "[DONE]"),
        turn(raw="stop", text="ab"),
    ),
    "CONTENT-AND-CALL-SAME-DELTA": (
        sse(chunk({"content": "hi", "tool_calls": [opening(OSLO)]}), chunk(finish="tool_calls")),
        turn(call(), text="hi"),
    ),
    "TEXT-AFTER-CALL": (
        sse(
            chunk({"tool_calls": [opening()]}),
            chunk({"content": "so"}),
            chunk({"tool_calls": [entry(OSLO)]}),
            chunk({"content": "!"}, finish="tool_calls"),
        ),
        turn(call(), text="so!"),
    ),
    "LEGACY-FUNCTION-CALL": (
        sse(
            chunk({"function_call": {"name": "get_weather", "arguments": ""}}),
            chunk({"function_call": {"arguments": OSLO}}),
            chunk(finish="function_call"),
        ),
        turn(call(call_id=MADE_UP), raw="function_call"),
    ),
    "LEGACY-FC-STUB": (
        sse(
            chunk({"function_call": {"name": "", "arguments": ""}}),
            chunk({"function_call": {"name": "", "arguments": ""}, "tool_calls": [opening(OSLO)]}),
            chunk({"function_call": {"name": "", "arguments": ""}}, finish="tool_calls"),
        ),
        turn(call()),
    ),
    "N-CHOICES": (
        sse(
            chunk({"tool_calls": [opening()]}),
            {"choices": [{"index": 1, "delta": {"tool_calls": [opening(BERGEN, id="c9")]}}]},
            chunk({"tool_calls": [entry(OSLO)]}),
            {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]},
            chunk(finish="tool_calls"),
        ),
        turn(call()),
    ),
    "REASONING-FIELD-NAMES": (
        sse(
            chunk({"reasoning_content": "a"}),
            chunk({"reasoning": "b", "content": None}),
            chunk({"content": "c"}, finish="stop"),
        ),
        turn(raw="stop", text="c", reasoning="ab"),
    ),
    "PLACEHOLDER-DELTAS": (
        sse(
            chunk({"tool_calls": [opening()]}),
            chunk({}),
            chunk({"x_progress": {"tokens": 3}}),
            chunk({"tool_calls": [entry(OSLO, x_note=[1])]}, finish="tool_calls", x_trace="t"),
        ),
        turn(call()),
    ),
    "MESSAGE-NOT-DELTA": (
        sse(
            chunk({"content": "hi"}),
            {
                "choices": [
                    {
                        "index": 0,
                        "message": {"content": "hi", "tool_calls": [opening(OSLO)]},
                        "finish_reason": "tool_calls",
                    }
                ]
            },
        ),
        turn(call(), text="hi"),
    ),
    "RESPONSE-ID-PER-CHUNK": (
        sse(
            chunk({"tool_calls": [opening()]}, id="r2"),
            chunk({"tool_calls": [entry(OSLO)]}, id="r3"),
            chunk(finish="tool_calls", id="r4"),
        ),
        turn(call()),
    ),
    "REFUSAL-DELTA": (
        sse(chunk({"refusal": "I can"}), chunk({"refusal": "not"}), chunk(finish="stop")),
        failed("refusal", "I cannot"),
    ),
    "DELTA-ADDITIONAL-KWARGS": (
        sse(
            chunk({"content": "", "additional_kwargs": {"tool_calls": [opening()]}}),
            chunk({"content": "", "additional_kwargs": {"tool_calls": [entry(OSLO)]}}),
            chunk(finish="tool_calls"),
        ),
        turn(call()),
    ),
}

A_GROUP: dict[str, tuple[bytes, Turn]] = {
    "SSE-COMMENT-AS-DATA": (sse(": ping", chunk(finish="stop")), turn(raw="stop")),
    "SSE-COMMENT-DISPATCH": (b"id: 1\n\n: x\n\n" + sse(chunk(finish="stop")), turn(raw="stop")),
    "SSE-EMPTY-DATA": (b"event: ping\ndata:  \n\n" + sse(chunk(finish="stop")), turn(raw="stop")),
    "SSE-DATA-NULL": (sse("null", "[]", "3", chunk(finish="stop")), turn(raw="stop")),
    "SSE-NO-FINAL-BLANK": (
        sse(chunk({"content": "hi"}), chunk(finish="stop")).rstrip(),
        turn(raw="stop", text="hi"),
    ),
    "SSE-DONE-MISSING": (sse(chunk(finish="stop")), turn(raw="stop")),
    "SSE-AFTER-DONE": (
        sse(chunk({"content": "hi"}, finish="stop"), "[DONE]", chunk({"content": "late"})),
        turn(raw="stop", text="hi"),
    ),
    "SSE-EOF-NO-FINISH-TEXT": (
        sse(chunk({"content": "hi"})),
        failed("interrupted", "the stream ended without a finish reason or [DONE]", text="hi"),
    ),
    "ERR-IN-200": (
        sse(chunk({"content": "hi"}), {"error": {"code": 529, "message": "busy"}}, "[DONE]"),
        failed("529", "busy", text="hi"),
    ),
    "ERR-CHOICES-EMPTY": (
        sse({"choices": [], "error": {"message": "busy", "type": "overloaded"}}),
        failed("overloaded", "busy"),
    ),
    "ERR-CODE-NOT-INT": (
        sse({"error": {"code": None, "message": "busy"}}),
        failed("error", "busy"),
    ),
    "ERR-UNFRAMED": (b'\n{"error": {"code": "x", "message": "busy"}}', failed("x", "busy")),
    "ERR-INJECTED-MID-EVENT": (
        sse('{"choices": [{"del{"error": {"code": "x", "message": "cut"}}'),
        failed("x", "cut"),
    ),
    "STREAM-NO-EVENTS": (b": ping\n\n", failed("empty_stream", "the stream held no event")),
    "JSON-FOR-STREAM": (
        json.dumps(
            {"choices": [{"message": {"tool_calls": [opening(OSLO)]}, "finish_reason": "stop"}]}
        ).encode(),
        turn(call(), raw="stop"),
    ),
}

PLAIN_BODIES = frozenset(("ERR-UNFRAMED", "JSON-FOR-STREAM"))


def _read(body: bytes, *, plain: bool = False, policy: Policy | None = None) -> Turn:
    tail = {"tail": b""} if plain else {}
    deltas = read_deltas(body, tools=TOOLS, policy=policy, **tail)
    _obeys_the_protocol(deltas)
    return fold(deltas)


def _obeys_the_protocol(deltas: Iterable[Delta]) -> None:
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


def _with_made_up_ids_marked(found: Turn, wanted: Turn) -> Turn:
    if len(found.tool_calls) != len(wanted.tool_calls):
        return found
    marked = tuple(
        msgspec.structs.replace(one, id=MADE_UP) if two.id == MADE_UP and one.id else one
        for one, two in zip(found.tool_calls, wanted.tool_calls, strict=True)
    )
    assert len({one.id for one in found.tool_calls}) == len(found.tool_calls)
    return msgspec.structs.replace(found, tool_calls=marked)


QUIRKS = A_GROUP | B_GROUP


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_quirk_is_read_to_what_was_meant(quirk: str) -> None:
    body, wanted = QUIRKS[quirk]
    found = _read(body, plain=quirk in PLAIN_BODIES)
    assert _with_made_up_ids_marked(found, wanted) == wanted


def test_every_b_group_quirk_of_the_catalogue_is_here() -> None:
    catalogue = load_catalogue(shipped.folder("catalogue") / "quirks.yaml")
    wanted = {quirk.id for quirk in catalogue.values() if quirk.group == "B"}
    assert wanted <= B_GROUP.keys()


# Failures


@pytest.mark.parametrize(
    ("event", "code", "message"),
    [
        ({"error": {"code": "c", "message": "m"}}, "c", "m"),
        ({"error": {"type": "t", "message": "m"}}, "t", "m"),
        ({"error": {"message": None, "code": 5}}, "5", "{'message': None, 'code': 5}"),
        ({"error": "words"}, "error", "words"),
        ({"error": "words", "code": 7}, "7", "words"),
        ({"error_message": "m", "error_type": "t"}, "t", "m"),
        ({"object": "error", "message": "m", "code": 400}, "400", "m"),
        ({"code": "InvalidParameter", "message": "m", "request_id": "r"}, "InvalidParameter", "m"),
        ({**chunk({"content": "hi"}), "error": {"code": "c", "message": "m"}}, "c", "m"),
        (chunk(finish="error"), "error", "the provider finished the turn with 'error'"),
        (
            {"choices": [{"delta": {}, "error": {"code": "c", "message": "m"}}]},
            "c",
            "m",
        ),
    ],
)
def test_errors_of_every_shape_end_the_turn(event: Json, code: str, message: str) -> None:
    body = sse(chunk({"tool_calls": [opening(OSLO)]}), event, chunk(finish="tool_calls"), "[DONE]")
    found = _read(body)
    assert found.failure == StreamFailure(code, message)
    assert found.finish is None
    assert found.tool_calls == ()
    assert "the turn failed" in found.parse_errors[0].error


def test_an_event_named_error_is_one() -> None:
    assert _read(b'event: error\ndata: {"message": "m"}\n\n').failure == StreamFailure("error", "m")
    assert _read(b"event: error\ndata: words\n\n").failure == StreamFailure("error", "words")


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"<html><p>Sign in", "bad_event", "byte 0: HTML, no event stream: <html><p>Sign in"),
        (b"", "empty_stream", "the stream held no event"),
        (sse("[DONE]"), "empty_stream", "the stream held no event before [DONE]"),
        (sse(chunk({"content": "x"})) + b"data: {", "interrupted", None),
        (sse('{"choices": [{"x'), "bad_event", None),
        (sse('{"choices": [{"xdata: {"choices": []}'), "bad_event", None),
    ],
)
def test_what_is_no_stream_says_what_came(body: bytes, code: str, message: str | None) -> None:
    found = _read(body, plain=not body.startswith(b"data"))
    assert found.failure is not None
    assert found.failure.code == code
    assert message in (None, found.failure.message)


def test_a_wrapped_completion_is_no_empty_success() -> None:
    body = json.dumps({"data": {"choices": [{"message": {"content": "hi"}}]}}).encode()
    assert _read(body, plain=True).failure is not None


def test_a_call_that_the_end_cuts_is_not_run() -> None:
    found = _read(sse(chunk({"tool_calls": [opening(OSLO)]})))
    assert found.tool_calls == ()
    assert found.failure == StreamFailure(
        "interrupted", "the stream ended without a finish reason or [DONE]"
    )


# Calls that must be told apart, or be reported


def _outcome(*entries: Json, finish: str = "tool_calls") -> tuple[list[tuple[str, str]], list[str]]:
    """Return (name, arguments) of each good call, and the names of the rejected ones."""
    found = _read(calls(*entries, finish=finish))
    good = [(each.name, each.arguments) for each in found.tool_calls]
    return good, [each.name for each in found.parse_errors]


def test_no_call_takes_the_arguments_of_another() -> None:
    weather, time = entry(name="get_weather"), entry(name="get_time")
    assert _outcome(time, weather, entry(OSLO)) == ([("get_time", ""), ("get_weather", OSLO)], [])
    truncated = entry('{"zone":', name="get_time")
    assert _outcome(truncated, weather, entry(OSLO)) == ([("get_weather", OSLO)], ["get_time"])


def test_arguments_may_come_before_the_name() -> None:
    late = {"index": 0, "function": {"name": "get_weather"}}
    assert _outcome(entry(OSLO, id="c1"), late) == ([("get_weather", OSLO)], [])
    assert _outcome(entry('{"city":', id="c1"), late, entry('"Oslo"}')) == (
        [("get_weather", OSLO)],
        [],
    )


def test_a_name_that_changes_is_reported() -> None:
    assert _outcome(opening(), entry(OSLO, id="c1", name="get_time")) == ([], ["get_weather"])
    assert _outcome(opening(), entry(name="_now"), entry(OSLO)) == ([], ["get_weather"])


def test_two_ids_before_any_arguments_are_one_call_or_two() -> None:
    assert _outcome(opening(), opening(id="c2")) == ([], ["get_weather"])
    assert _outcome(opening(), opening(id="c2"), entry(OSLO)) == ([("get_weather", OSLO)], [])


def test_calls_at_one_index_are_told_apart_by_id() -> None:
    entries = (
        opening('{"city":'),
        opening('{"city":', id="c2", name="get_time"),
        entry('"Oslo"}', id="c1"),
        entry('"Bergen"}', id="c2"),
    )
    assert _outcome(*entries) == ([("get_weather", OSLO), ("get_time", BERGEN)], [])


def test_calls_keep_their_order_where_a_name_could_have_grown() -> None:
    found = _read(calls(opening(name="get"), opening(OSLO, index=1, id="c2")))
    assert [each.name for each in found.tool_calls] == ["get", "get_weather"]


@pytest.mark.parametrize("kind", ["custom", "retrieval"])
def test_a_call_that_is_no_function_is_reported(kind: str) -> None:
    custom = {"index": 0, "id": "c1", "type": kind, kind: {"name": "shell", "input": "ls"}}
    found = _read(calls(custom))
    assert found.tool_calls == ()
    assert found.parse_errors[0].name == "shell"
    assert kind in found.parse_errors[0].error


def test_a_limit_before_the_arguments_is_no_call_without_arguments() -> None:
    assert _outcome(opening(), finish="length") == ([], ["get_weather"])
    assert _outcome(opening(OSLO), opening('{"c', id="c2", index=1), finish="length") == (
        [("get_weather", OSLO)],
        ["get_weather"],
    )


def test_made_up_ids_are_stable_and_differ_between_turns() -> None:
    def made_up(response: str) -> str:
        body = sse(
            chunk({"tool_calls": [entry(OSLO, name="get_weather")]}, id=response),
            chunk(finish="tool_calls"),
        )
        return _read(body).tool_calls[0].id

    assert made_up("r1") == made_up("r1")
    assert made_up("r1") != made_up("r2")


# Policies


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("by-tools", ["get_weather", "get_time"]),
        ("append", ["get_weather", "get_timeget_time"]),
        ("first", ["get", "get_time"]),
    ],
)
def test_policy_names(policy: Any, wanted: list[str]) -> None:  # noqa: ANN401 - one of the literals
    body = calls(
        opening(name="get"),
        entry(OSLO, name="_weather"),
        opening("", name="get_time", index=1, id="c2"),
        entry("{}", name="get_time", index=1),
    )
    deltas = read_deltas(body, tools=("get", "get_weather"), policy=Policy(names=policy))
    assert [delta.name for delta in deltas if isinstance(delta, ToolCallStart)] == wanted


def test_policy_names_by_tools_knows_a_doubled_name() -> None:
    body = calls(opening(name="ha"), entry("{}", name="ha"))
    deltas = read_deltas(body, tools=("haha",))
    assert [each.name for each in fold(deltas).tool_calls] == ["haha"]


def test_policy_arguments() -> None:
    body = calls(opening(), entry('{"ci'), entry(OSLO))
    assert _read(body).tool_calls == (call(),)
    appended = _read(body, policy=Policy(arguments="append"))
    assert appended.tool_calls == ()
    assert appended.parse_errors[0].snippet == '{"ci{"city":"Oslo"}'


def test_policy_nameless() -> None:
    body = calls({"index": 0, "id": "c1", "function": {"arguments": OSLO}}, opening(OSLO, index=1, id="c2"))
    assert [each.id for each in _read(body).parse_errors] == ["c1"]
    dropped = _read(body, policy=Policy(nameless="drop"))
    assert dropped.parse_errors == ()
    assert dropped.tool_calls == (call(call_id="c2"),)


def test_policy_unfinished_event() -> None:
    body = sse(chunk({"content": "hi"}), chunk(finish="stop")).rstrip()
    assert _read(body).finish is not None
    dropped = _read(body, policy=Policy(unfinished_event="drop"))
    assert dropped.failure is not None
    assert dropped.failure.code == "interrupted"


def test_policy_done_without_finish() -> None:
    body = sse(chunk({"tool_calls": [opening(OSLO)]}), "[DONE]")
    assert _read(body).tool_calls == (call(),)
    interrupted = _read(body, policy=Policy(done_without_finish="interrupted"))
    assert interrupted.tool_calls == ()
    assert interrupted.failure is not None


# Nothing raises

KEYS = st.sampled_from(
    (
        *("id", "choices", "index", "delta", "message", "content", "text", "role", "refusal"),
        *("tool_calls", "function_call", "function", "name", "arguments", "type", "custom"),
        *("reasoning", "reasoning_content", "additional_kwargs", "finish_reason", "usage"),
        *("error", "code", "error_message", "prompt_tokens", "completion_tokens", "object"),
    )
)
WORDS = st.sampled_from(
    ("", "get", "_weather", "{}", '{"a":', '{"a":1}', "1}", "stop", "length", "custom", "\ud83d", "-1", "--1")
)
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | WORDS | st.just(1e999) | st.text(max_size=3)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def _some(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Draw an object of some of `fields`, each of them sometimes anything else."""
    return ANYTHING | st.fixed_dictionaries(
        {}, optional={name: field | ANYTHING for name, field in fields.items()}
    )


def _listed(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3)


FUNCTIONS = _some({"name": WORDS, "arguments": WORDS})
ENTRIES = _some({"index": st.integers(-1, 2), "id": WORDS, "type": WORDS, "function": FUNCTIONS})
SAID = _some(
    {
        "content": WORDS,
        "tool_calls": _listed(ENTRIES),
        "function_call": FUNCTIONS,
        "refusal": WORDS,
        "reasoning": WORDS,
        "additional_kwargs": _some({"tool_calls": _listed(ENTRIES)}),
    }
)
CHOICES = _some({"index": st.integers(0, 1), "delta": SAID, "message": SAID, "finish_reason": WORDS})
CHUNKS = _some({"id": WORDS, "choices": _listed(CHOICES), "usage": ANYTHING, "error": ANYTHING})


@given(st.lists(CHUNKS, max_size=5), st.booleans())
def test_no_chunk_of_any_shape_raises_or_breaks_the_protocol(chunks: list[Any], done: bool) -> None:  # noqa: FBT001 - drawn
    _read(sse(*(json.dumps(each) for each in chunks), *["[DONE]"] * done))


@given(st.lists(ENTRIES, max_size=8))
def test_no_entries_of_any_shape_raise_or_break_the_protocol(entries: list[Any]) -> None:
    _read(calls(*entries))


@given(st.binary(max_size=60) | st.lists(st.binary(max_size=20), max_size=3).map(lambda d: b"data: " + b"\n\ndata: ".join(d) + b"\n\n"))
def test_no_bytes_raise_or_break_the_protocol(body: bytes) -> None:
    _read(body, plain=True)


@pytest.mark.parametrize("depth", [200, 250, 300, 100_000])
@pytest.mark.parametrize(
    "where",
    [
        "%s",
        '{"choices": %s}',
        '{"id": %s, "choices": []}',
        '{"error": %s}',
        '{"choices": [{"index": %s}]}',
        '{"choices": [{"delta": {"content": %s}}]}',
        '{"choices": [{"delta": {"tool_calls": [{"id": %s, "type": %s}]}}]}',
        '{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": %s}}]}}]}',
    ],
)
def test_no_depth_raises(where: str, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    body = sse(where.replace("%s", deep)) * 2
    _obeys_the_protocol(read_deltas(body, tail=b"")) if depth < 1000 else None
