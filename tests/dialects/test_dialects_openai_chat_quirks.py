"""Each catalogued quirk of an openai-chat stream, read to what was meant, cut every way.

One entry for each quirk of the catalogue's B group, and for those of its A group that
concern a reader of frames.
"""

import json

import msgspec

from harness import shipped
from harness.results.catalogue import load_catalogue
from harness.turns.deltas import Finish, FinishReason, ParseError, ToolCall, Usage
from harness.turns.turn import Turn
from harness.turns.verdicts import OWNERLESS
from tests.dialects.openai_chat_streams import (
    BERGEN,
    OSLO,
    call,
    calls,
    chunk,
    entry,
    failed,
    opening,
    read_turn,
    sse,
    turn,
)
from tests.tables import each_row

HALVES = (entry('{"city":'), entry('"Oslo"}'))
MADE_UP = "call_3c8b7f3f4a20c3e1d3d8e6b0"  # stands for any id that the reader makes
BOTH = turn(call(), call(BERGEN, "c2"))

B_GROUP: dict[str, tuple[bytes, Turn]] = {
    "CALL-IN-UNKNOWN-MEMBER": (
        sse(
            '{"choices": [{"index": 0, "delta": {"content": "Hi", "tool_call": {"name": "f"}},'
            ' "finish_reason": "stop"}]}'
        ),
        turn(text="Hi", raw="stop"),
    ),
    "USAGE-ELSEWHERE": (
        sse(
            '{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}],'
            ' "x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}}'
        ),
        turn(text="Hi", raw="stop", usage=Usage(1, 2)),
    ),
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
    "DELTA-INDEX-CHANGES": (
        calls(opening(), entry(OSLO, index=1, id="c3"), opening(BERGEN, index=2, id="c2")),
        turn(
            call(BERGEN, "c2"),
            parse_errors=(
                ParseError("tool_use", OWNERLESS, "", "c1", "get_weather"),
                ParseError("tool_use", "the call has no name", OSLO, "c3"),
            ),
        ),
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
    "DELTA-ROLE-MISSING": (
        sse(chunk({"content": "hi"}), chunk({"tool_calls": [opening(OSLO)]}, finish="tool_calls")),
        turn(call(), text="hi"),
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
    "CHUNK-OBJECT-OTHER": (
        sse(chunk({"content": "hi"}, object="chat.completion.done"), chunk(finish="stop")),
        turn(raw="stop", text="hi"),
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
        sse(
            chunk({"tool_calls": [opening(OSLO)]}), chunk({"tool_calls": [entry()]}, finish="stop")
        ),
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
    "FINISH-BEFORE-FRAGMENTS": (
        sse(
            chunk({"tool_calls": [opening('{"city":"Os')]}),
            chunk(finish="tool_calls"),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'lo"}'}}]}),
            "[DONE]",
        ),
        turn(call()),
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
        sse({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}),
        turn(raw="stop", text="hi"),
    ),
    "MESSAGE-WITH-CALL": (
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
    "REFUSAL-BESIDE-CALL": (
        sse(chunk({"tool_calls": [opening()]}), chunk({"refusal": "no"}), chunk(finish="stop")),
        failed(
            "refusal",
            "no",
            parse_errors=(
                ParseError("tool_use", "the turn failed (refusal): no", "", "c1", "get_weather"),
            ),
        ),
    ),
    "FINISH-MISSING-BEFORE-DONE": (
        sse(chunk({"tool_calls": [opening(OSLO)]}), "[DONE]"),
        turn(call(), raw=""),
    ),
    "DELTA-ADDITIONAL-KWARGS": (
        sse(
            chunk({"content": "", "additional_kwargs": {"tool_calls": [opening()]}}),
            chunk({"content": "", "additional_kwargs": {"tool_calls": [entry(OSLO)]}}),
            chunk(finish="tool_calls"),
        ),
        turn(call()),
    ),
    "DELTA-NAME-LATE": (
        sse(
            chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"arguments": OSLO}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"name": "get_weather"}}]}),
            chunk(finish="tool_calls"),
        ),
        turn(call()),
    ),
    "CUSTOM-CALL-UNTYPED": (
        calls(
            {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "run_sql", "input": "a"}},
            {"index": 0, "custom": {"input": " {"}},
        ),
        turn(ToolCall("c1", "run_sql", "a {", kind="custom")),
    ),
    "DELTA-ID-LATE": (
        sse(
            chunk({"tool_calls": [{"index": 0, "function": {"name": "get_weather"}}]}),
            chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"arguments": OSLO}}]}),
            chunk(finish="tool_calls"),
        ),
        turn(call()),
    ),
}

A_GROUP: dict[str, tuple[bytes, Turn]] = {
    "SSE-COMMENT-AS-DATA": (sse(": ping", chunk(finish="stop")), turn(raw="stop")),
    "SSE-COMMENT-DISPATCH": (b"id: 1\n\n: x\n\n" + sse(chunk(finish="stop")), turn(raw="stop")),
    "SSE-EVENT-NAMED": (
        b"event: answer\n" + sse(chunk(finish="stop")),
        turn(raw="stop"),
    ),
    "SSE-OTHER-FIELDS": (b"retry: 3000\nx: y\n\n" + sse(chunk(finish="stop")), turn(raw="stop")),
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


@each_row("quirk", QUIRKS)
def test_a_quirk_is_read_to_what_was_meant(quirk: str) -> None:
    body, wanted = QUIRKS[quirk]
    found = read_turn(body, plain=quirk in PLAIN_BODIES)
    assert _with_made_up_ids_marked(found, wanted) == wanted


def test_every_b_group_quirk_of_the_catalogue_is_here() -> None:
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    wanted = {quirk.id for quirk in catalogue.values() if quirk.group == "B"}
    assert wanted <= B_GROUP.keys()
