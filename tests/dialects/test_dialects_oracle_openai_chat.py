"""The oracle: never raises, adds up what the contract defines, abstains elsewhere."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.oracle.events import split_events
from harness.dialects.table import oracle_reading
from harness.judging.expected import expectation_from
from harness.turns.deltas import FinishReason
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction, Read, Request
from tests.tables import each_row

Json = Any

DONE = b"data: [DONE]\n\n"


def read(body: bytes, status: int = 200) -> OracleReading:
    return oracle_reading(Interaction(Request(), status, (), body, ()))


def event(value: Json) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(finish: Json = None, **fields: Json) -> bytes:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return event({"object": "chat.completion.chunk", "choices": [choice]})


def calls(*entries: Json, finish: Json = None) -> bytes:
    return delta(finish, tool_calls=list(entries))


def call(index: Json, arguments: Json = None, **fields: Json) -> dict[str, Json]:
    """Return one entry; `index` or `arguments` None leaves it out."""
    function = {} if arguments is None else {"arguments": arguments}
    if "name" in fields:
        function["name"] = fields.pop("name")
    entry = {} if index is None else {"index": index}
    return {**entry, **fields, "function": function}


def first(index: Json, arguments: Json = "", **fields: Json) -> dict[str, Json]:
    return call(index, arguments, **{"id": "c1", "type": "function", "name": "f", **fields})


OPENING = calls(first(0))
TOOLS_END = delta("tool_calls") + DONE
STREAM = (
    delta(role="assistant", content="Let me look: 北京 \U0001f600")
    + calls(first(0, '{"a":'))
    + calls(call(0, '"é"}', id="", type=None, name=None), first(1, "{}", id="c2", name="g"))
    + TOOLS_END
)

FIELDS = [
    "choices", "delta", "message", "index", "tool_calls", "function", "id", "name", "type",
    "arguments", "content", "reasoning", "reasoning_content", "refusal", "role", "error", "code",
    "finish_reason", "function_call", "usage", "object", "data",
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10**25) | st.floats() | st.text(max_size=4)
    | st.sampled_from(["{", "{}", '{"a":1}', "stop", "tool_calls", "error", "\ud83d", "[DONE]"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


def assert_sound(reading: OracleReading, body: bytes) -> None:
    """What holds of every reading."""
    marks = reading.text_marks
    assert list(marks) == sorted(marks)
    assert all(0 < end <= len(body) and size <= len(reading.text) for end, size in marks)
    assert all(0 <= found.offset < max(len(body), 1) for found in reading.deviations)
    assert msgspec.json.encode(reading)  # no half of a surrogate pair, no NaN


@given(st.data())
def test_mutated_streams_never_raise(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(STREAM)))
    end = data.draw(st.integers(start, min(len(STREAM), start + 40)))
    body = STREAM[:start] + data.draw(st.binary(max_size=8)) + STREAM[end:]
    assert_sound(read(body), body)


@given(st.lists(VALUES, max_size=4), st.booleans())
def test_wrong_types_never_raise(values: list[Json], framed: bool) -> None:  # noqa: FBT001 - drawn
    body = b"".join(event(value) for value in values) if framed else json.dumps(values).encode()
    assert_sound(read(body), body)


@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3), VALUES)
def test_wrong_types_inside_choices_never_raise(
    entries: list[Json], deltas: list[Json], finish: Json
) -> None:
    body = calls(*entries) + b"".join(
        event({"choices": [{"delta": value, "finish_reason": finish}]}) for value in deltas
    )
    assert_sound(read(body), body)


@given(st.integers(0, len(STREAM) - 1))
def test_a_stream_cut_before_its_finish_never_ended(cut: int) -> None:
    finish = STREAM.index(b'"finish_reason": "tool_calls"')
    reading = read(STREAM[:cut])
    assert reading.ended == (cut > STREAM.index(b"\n\n", finish) + 1)
    assert reading.ended or not reading.finish


@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=4), max_size=8))
def test_text_and_marks_follow_the_events(pieces: list[str]) -> None:
    reading = read(b"".join(delta(content=piece) for piece in pieces) + delta("stop"))
    whole = "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert reading.text == whole
    assert len(reading.text_marks) <= sum(map(bool, pieces))


@given(st.sampled_from([b"\n", b"\r", b"\r\n"]), st.booleans())
def test_line_ends_and_byte_order_mark_change_nothing(line_end: bytes, bom: bool) -> None:  # noqa: FBT001 - drawn
    body = b"\xef\xbb\xbf" * bom + STREAM.replace(b"\n", line_end)
    assert read(body).calls is not None
    assert [(one.name, one.arguments) for one in read(body).calls or ()] == [
        ("f", '{"a":"é"}'),
        ("g", "{}"),
    ]
    assert read(body).text == "Let me look: 北京 \U0001f600"


def test_a_recorded_stream() -> None:
    reading = read(STREAM)
    assert [(one.id, one.name) for one in reading.calls or ()] == [("c1", "f"), ("c2", "g")]
    assert reading.finish == "tool_calls"
    assert reading.ended
    assert reading.knows("text")
    assert reading.text_marks == ((STREAM.index(b"\n\n") + 2, 17),)
    assert not any(found.ambiguous for found in reading.deviations)
    assert reading.quirks == {
        "DELTA-ID-EMPTY-LATER",
        "DELTA-NAME-NULL-STRINGIFIED",
        "DELTA-TYPE-EMPTY-OR-NULL",
    }


def test_events_by_the_algorithm() -> None:
    body = b": c\n\ndata\n\nid: 7\n\nevent: ping\ndata:  a\ndata:b\r\rdata: open\n"
    found = [(one.data, one.name, one.offset, one.end, one.complete) for one in split_events(body)]
    assert found == [
        ("", "", 5, 11, True),
        (" a\nb", "ping", 30, 47, True),
        ("open", "", 47, len(body), False),
    ]


BENIGN = {
    "DELTA-ID-NULL-LATER": OPENING + calls(call(0, "{}", id=None)),
    "DELTA-NAME-REPEATED": OPENING + calls(call(0, "{}", id="c1", name="f")),
    "DELTA-TYPE-MISSING": calls({"index": 0, "id": "c1", "function": {"name": "f"}}),
    "DELTA-FUNCTION-NULL": OPENING + calls({"index": 0, "function": None}),
    "DELTA-INDEX-SPARSE": calls(first(3)),
    "DELTA-INDEX-MISSING": calls(first(None)) + calls(call(None, "{}")),
    "DELTA-NAME-LATE": calls(call(0, "", id="c1")) + calls(call(0, "{}"), call(0, ""))
    + calls(call(0, "", name="f")),
    "DELTA-ROLE-NULL": OPENING + delta(role=None),
    "DELTA-ROLE-MISSING": OPENING + delta(role="assistant"),
    "DELTA-NULL": OPENING + event({"choices": [{"delta": None}]}),
    "DELTA-ADDITIONAL-KWARGS": OPENING + delta(additional_kwargs={"tool_calls": [first(0, "")]}),
    "CHUNK-CHOICES-EMPTY": OPENING + event({"choices": []}),
    "CHUNK-CHOICES-NULL": OPENING + event({"choices": None}),
    "CHUNK-CHOICES-ABSENT": OPENING + event({"id": "x"}),
    "CHUNK-OBJECT-OTHER": OPENING + event({"choices": [{"index": 0, "delta": {}}]}),
    "TOOLCALLS-NULL": OPENING + delta(tool_calls=None),
    "TOOLCALLS-EMPTY-ARRAY": OPENING + delta(tool_calls=[]),
    "ARGS-NULL": OPENING + calls({"index": 0, "function": {"arguments": None}}),
    "FINISH-EMPTY-STRING": OPENING + delta(""),
    "FINISH-DUPLICATE": OPENING + delta("tool_calls"),
    "FINISH-UNKNOWN": OPENING + delta("eos"),
    "LEGACY-FC-STUB": OPENING + delta(function_call={"name": "", "arguments": ""}),
    "SSE-EMPTY-DATA": OPENING + b"data:\n\n",
    "SSE-DATA-NULL": OPENING + b"data: null\n\n",
    "SSE-COMMENT-AS-DATA": OPENING + b"data: : ping\n\n",
    "SSE-AFTER-DONE": OPENING + DONE + event({"choices": [], "usage": {}}),
}  # fmt: skip
ENDED = ("FINISH-UNKNOWN", "SSE-AFTER-DONE")


@each_row("quirk", sorted(BENIGN))
def test_benign_deviations_keep_the_meaning(quirk: str) -> None:
    body = BENIGN[quirk]
    reading = read(body if quirk in ENDED else body + delta("tool_calls"))
    assert quirk in reading.quirks
    assert not [found for found in reading.deviations if found.ambiguous]
    assert [(one.id, one.name) for one in reading.calls or ()] == [("c1", "f")]


AMBIGUOUS_CALLS = {
    "index missing, two in a list": calls(first(None), first(None, id="c1")),
    "index missing, name again": calls(call(None, "{}", name="f"))
    + calls(call(None, "{}", name="f")),
    "index missing beside an index": calls(first(0)) + calls(call(None, "{}")),
    "index of another type": calls(first(0)) + calls(first("0", id="c2")),
    "two ids": OPENING + calls(call(0, "{}", id="c2")),
    "twice in a list": calls(first(0, "{}"), first(0, "[]")),
    "index missing, one id, two objects": calls(first(None, '{"a":1}'))
    + calls(first(None, '{"b":2}')),
    "index missing, name again with an id": calls(first(None, id="")) + calls(first(None)),
    "index missing, an id after arguments": calls(call(None, "null")) + calls(first(None, "{}")),
    "object": calls({"index": 0, "id": "c1", "function": {"name": "f", "arguments": {"a": 1}}}),
    "unknown type": calls(first(0, type="custom")),
    "message with calls": event({"choices": [{"message": {"tool_calls": [first(0)]}}]}),
    "bad event": OPENING + b'data: {"choices":[{"del\n\n',
    "damaged event": OPENING + b'data: {"choices":[],"x":"\xff"}\n\n',
    "not a number": OPENING + b'data: {"choices":[],"x":NaN}\n\n',
    "calls of another type": delta(tool_calls={"index": 0}),
    "call of another type": delta(tool_calls=["f"]),
    "name of another type": calls(first(0, name=["f"])),
    "function of another type": calls({"index": 0, "id": "c1", "function": "f"}),
    "delta of another type": event({"choices": [{"delta": "f"}]}),
    "choices of another type": event({"choices": {"delta": {}}}),
    "after the end": DONE + OPENING,
    "envelope": event({"output": {"choices": []}}),
    "unframed": OPENING + b'{"error": {"message": "m"}}\n\n',
    "finish of another type": OPENING + delta(7),
    "content after an error": event({"error": {"message": "m"}}) + delta(content="a"),
}  # fmt: skip


@each_row("name", sorted(AMBIGUOUS_CALLS))
def test_ambiguous_deviations_abstain(name: str) -> None:
    reading = read(AMBIGUOUS_CALLS[name])
    assert reading.calls is None
    assert [found for found in reading.deviations if found.ambiguous]


@pytest.mark.parametrize(
    "arguments",
    [["a", "a", '{"'], ["{", '"', '"', ":", "1", "1", "}"], ['{"a":"', "{", "{", '"}'], ["", "{}"]],
)
def test_ordinary_fragments_are_appended(arguments: list[str]) -> None:
    body = OPENING + b"".join(calls(call(0, fragment)) for fragment in arguments) + TOOLS_END
    assert [one.arguments for one in read(body).calls or ()] == ["".join(arguments)]


def test_interleaved_calls_and_sibling_ids() -> None:
    body = calls(first(0, "{"), first(1, "{", name="g")) + calls(call(1, "}"), call(0, " }"))
    found = [(one.id, one.name, one.arguments) for one in read(body).calls or ()]
    assert found == [("c1", "f", "{ }"), ("c1", "g", "{}")]
    assert "DELTA-ID-SHARED-BY-SIBLINGS" in read(body).quirks


UNKNOWN_TEXT = {
    "content parts": delta(content=[{"type": "text", "text": "a"}]),
    "message beside delta": event({"choices": [{"delta": {}, "message": {"content": "a"}}]}),
}


@each_row("name", sorted(UNKNOWN_TEXT))
def test_ambiguous_text_leaves_the_calls_known(name: str) -> None:
    reading = read(UNKNOWN_TEXT[name] + DONE)
    assert not reading.knows("text")
    assert reading.calls == ()


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"reasoning": "a", "reasoning_content": "b"}, False),
        ({"reasoning_details": [{"text": "a"}]}, False),
        ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}, True),
    ],
)
def test_unknown_reasoning_leaves_the_text_known(fields: Json, known: bool) -> None:  # noqa: FBT001 - table
    reading = read(delta(content="c", **fields) + DONE)
    assert (reading.knows("reasoning"), reading.knows("text")) == (known, True)


def test_a_message_that_repeats_the_deltas_leaves_the_text_known() -> None:
    body = b"".join(
        event({"choices": [{"delta": {"content": piece}, "message": {"content": so_far}}]})
        for piece, so_far in (("a", "a"), ("b", "ab"))
    )
    assert read(body + delta("stop")).knows("text")
    assert not read(body.replace(b'"ab"', b'"xy"') + delta("stop")).knows("text")


def test_reasoning_is_not_text() -> None:
    body = (
        delta(reasoning="a", reasoning_content="a") + delta(reasoning_content="b") + delta("stop")
    )
    assert (read(body).reasoning, read(body).text) == ("ab", "")


def test_a_finish_before_any_content_does_not_end_the_turn() -> None:
    reading = read(delta("stop", content="") + delta(content="text") + delta("stop"))
    assert reading.knows("text")
    assert reading.knows("end")
    early = read(delta("stop") + delta(content="text"))
    assert [early.ended, *(each.ended for each in early.alternatives)] == [True, False]


# Calls whose name and arguments are certain, and the number of those that cannot be used.
Admitted = tuple[tuple[tuple[str, str], ...], int]
F, G = ("f", "{}"), ("g", "{}")
ONE = ("f", '{"a":1}')
TWO = ("f", '{"b":2}')
ADMITTED: dict[str, tuple[bytes, set[Admitted]]] = {
    "two ids and names on one index": (
        calls(first(0, "{}")) + calls(first(0, "{}", id="c2", name="g")),
        {((F, G), 0), ((), 1), ((), 2)},
    ),
    "without an index, two ids and names": (
        calls(first(None, "{}")) + calls(first(None, "{}", id="c2", name="g")),
        {((F, G), 0), ((), 1), ((), 2)},
    ),
    "two of a list on one index": (
        calls(first(0, "{}"), first(0, "{}", id="c2", name="g")),
        {((F, G), 0), ((), 1), ((), 2)},
    ),
    "two names": (
        OPENING + calls(call(0, "{}", name="g")),
        {((("fg", "{}"),), 0), ((F,), 0), ((), 1)},
    ),
    "name again after an object": (
        calls(first(0, '{"a":1}', id="")) + calls(call(0, '{"b":2}', name="f")),
        {((ONE, TWO), 0), ((), 1)},
    ),
    "name again with an id after arguments": (
        calls(call(0, '{"a":1} ', name="f")) + calls(first(0, '{"b":2}')),
        {((("f", '{"a":1} '), TWO), 0), ((), 1)},
    ),
    "repeated": (
        calls(first(0, '{"a":')) + calls(call(0, "1}")) + calls(call(0, '{"a":1}')),
        {((ONE,), 0), ((), 1)},
    ),
    "repeated, written differently": (
        calls(first(0, '{"a": 1}')) + calls(call(0, '{"a":1}')),
        {((ONE,), 0), ((), 1)},
    ),
    "cumulative": (
        calls(first(0, '{"a"')) + calls(call(0, '{"a":1}')),
        {((ONE,), 0), ((), 1)},
    ),
    "placeholder": (
        calls(first(0, "{}")) + calls(call(0, '{"a"')) + calls(call(0, ":1}")),
        {((ONE,), 0), ((), 1)},
    ),
    "another answer": (
        calls(first(0, "{}")) + event({"choices": [{"index": 1, "delta": {"content": "b"}}]}),
        {((F,), 0)},
    ),
    "each with a finish, all on one index": (
        delta("tool_calls", tool_calls=[first(0, "{}")])
        + delta("tool_calls", tool_calls=[first(0, "{}", id="c2", name="g")]),
        {((F, G), 0), ((), 1), ((), 2)},
    ),
    "each with a finish": (
        delta("tool_calls", tool_calls=[first(0, "{}")])
        + delta("tool_calls", tool_calls=[first(1, "{}", id="c2", name="g")]),
        {((F, G), 0)},
    ),
}


@each_row("name", sorted(ADMITTED))
def test_the_admissible_readings_of_calls(name: str) -> None:
    body, admitted = ADMITTED[name]
    reading = read(body + TOOLS_END)
    expected = expectation_from(reading).readings
    found = {
        (tuple((it.name, it.arguments_text) for it in each.calls), len(each.rejected))
        for each in expected
    }
    assert found == admitted
    assert all({"calls", "rejected", "text", "finish"} <= each.judged for each in expected)


def test_a_failure_word_fails_the_turn_or_ends_it() -> None:
    expected = expectation_from(read(calls(first(0, "{}")) + delta("error"))).readings
    assert [(each.failure, len(each.calls)) for each in expected] == [("*", 0), (None, 1)]


def test_an_unfinished_event_is_used_or_dropped() -> None:
    expected = expectation_from(read(calls(first(0, "{}")) + delta("tool_calls").rstrip())).readings
    assert [(each.failure, len(each.calls)) for each in expected] == [(None, 1), ("interrupted", 0)]
    assert [each.decisions["unfinished_event"] for each in expected] == ["use", "drop"]


ERROR_CHUNK = event({"error": {"code": 502, "message": "m"}})


def test_an_error_after_the_finish_fails_the_turn_or_is_ignored() -> None:
    nothing_more = delta(content="") + event({"choices": [], "usage": {"total_tokens": 1}})
    for tail in (b"", nothing_more, nothing_more + DONE):
        expected = expectation_from(read(delta("length") + ERROR_CHUNK + tail)).readings
        assert [each.failure for each in expected] == ["*", None]
        assert all({"text", "calls", "failure"} <= each.judged for each in expected)
    assert read(ERROR_CHUNK + delta(content="a")).calls is None


def test_an_error_after_the_finish_rejects_all_calls() -> None:
    one = delta("tool_calls", tool_calls=[first(0, "{}")])
    for body in (one, one + delta("tool_calls", tool_calls=[first(0, "{}", id="c2", name="g")])):
        for each in expectation_from(read(body + ERROR_CHUNK + DONE)).readings:
            assert (each.failure, each.calls) == ("*", ())
            assert {"text", "calls", "rejected", "failure"} <= each.judged


def test_a_call_after_the_finish_is_used_or_dropped() -> None:
    expected = expectation_from(read(delta("stop") + calls(first(0, "{}")) + DONE)).readings
    assert [len(each.calls) for each in expected] == [1, 0]
    assert all({"calls", "text", "finish"} <= each.judged for each in expected)


def test_data_that_is_no_json_fails_the_turn_or_is_ignored() -> None:
    body = delta(content="a") + b"data: [DATA]\n\n" + delta("stop", content="b") + DONE
    expected = expectation_from(read(body)).readings
    assert [(each.text, each.failure) for each in expected] == [("a", "*"), ("ab", None)]
    assert not read(b'data: {"choices": [{"x\n\n').knows("text")


def test_an_unfinished_event_of_several_lines_is_used_in_part_or_dropped() -> None:
    body = delta(content="a") + delta(content="b").rstrip() + b"\n" + delta("length").rstrip()
    expected = expectation_from(read(body)).readings
    assert [(each.text, each.finish) for each in expected] == [
        ("ab", FinishReason.LENGTH),
        ("ab", None),
        ("a", None),
    ]


def test_text_after_the_finish_is_used_or_dropped() -> None:
    reading = read(delta(content="a") + delta("stop") + delta(content="b") + DONE)
    assert [reading.text, *(each.text for each in reading.alternatives)] == ["ab", "a"]


def test_a_legacy_call_is_certain_if_the_request_has_functions() -> None:
    body = delta(function_call={"name": "f", "arguments": "{"})
    body += delta(function_call={"arguments": "}"}) + delta("function_call") + DONE
    asked = Request(body=b'{"functions": [{"name": "f"}]}')
    one = Interaction(asked, 200, (), body, (Read(len(body)),))
    assert [(it.name, it.arguments) for it in oracle_reading(one).calls or ()] == [F]


def test_a_legacy_call_is_used_or_ignored_if_the_request_is_unknown() -> None:
    body = delta(function_call={"name": "f", "arguments": "{}"}) + delta("stop") + DONE
    assert [len(each.calls) for each in expectation_from(read(body)).readings] == [1, 0]


def test_more_readings_than_are_compared_leave_everything_unknown() -> None:
    ambiguous = [ADMITTED[name][0] for name in ("two names", "placeholder", "repeated")]
    body = b"".join(ambiguous) + ADMITTED["two ids and names on one index"][0]
    body += delta("stop") + delta(content="b") + delta("length")
    reading = read(body)
    assert reading.alternatives == ()
    assert {part for part, _ in reading.unknown} == {"calls", "text", "reasoning", "end"}


@each_row(
    ("tail", "ended", "known"),
    [
        (b"data: [DONE]", True, True),
        (b"data: [DO", False, True),
        (b"", False, True),
        (delta("stop") + b"data: [DO", True, True),
        (delta("stop") + b'data: {"usa', True, False),
        (delta("stop") + b'data: {"choices": [], "usage": {}}', True, True),
    ],
)
def test_unfinished_last_event(tail: bytes, ended: bool, known: bool) -> None:  # noqa: FBT001 - table
    reading = read(delta(content="a") + tail)
    assert (reading.ended, reading.knows("end"), reading.text) == (ended, known, "a")


ERRORS = [
    (event({"error": {"message": "m", "code": 400}}), ("400", "m")),
    (event({"error": {"message": "m", "code": None, "type": "t"}, "choices": []}), ("t", "m")),
    (event({"error": "m"}), ("", "m")),
    (event({"error_type": "t", "error_message": "m"}), ("t", "m")),
    (event({"object": "error", "message": "m", "code": "c"}), ("c", "m")),
    (b"event: error\n" + event({"message": "m", "code": 10**30}), (f"{10**30:x}", "m")),
    (event({"choices": [{"delta": {}, "error": {"message": "m", "code": "c"}}]}), ("c", "m")),
    (b'{"error": {"message": "m", "code": "c"}}', ("c", "m")),
]


@each_row(("body", "error"), ERRORS)
def test_errors(body: bytes, error: tuple[str, str]) -> None:
    assert read(body).error == error


def test_bodies_that_are_not_a_stream() -> None:
    message = {"content": "a", "tool_calls": [first(None, "{}"), first(None, "{}", id="c2")]}
    completion = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    reading = read(json.dumps(completion).encode())
    assert [one.id for one in reading.calls or ()] == ["c1", "c2"]
    assert (reading.text, reading.ended, reading.knows("text")) == ("a", True, True)
    assert "JSON-FOR-STREAM" in reading.quirks
    assert "HTTP-HTML-BODY" in read(b"<!doctype html>").quirks
    assert "ENVELOPE-WRAPPED" in read(b'{"data": {"choices": []}}').quirks
    assert "STREAM-NO-EVENTS" in read(b": ping\n\n").quirks
    assert "STREAM-NO-EVENTS" in read(DONE).quirks
    assert read(b"", status=503).error == ("http_503", "")
    assert not read(b"\0\0\0\x7f\0").ended


def test_finish_words_for_calls_without_calls() -> None:
    assert "FINISH-TOOLCALLS-WITHOUT-CALLS" in read(TOOLS_END).quirks
    assert "FINISH-TOOLCALLS-WITHOUT-CALLS" in read(delta("function_call")).quirks
    assert "SSE-EOF-MIDCALL" in read(OPENING).quirks
    assert "SSE-EOF-NO-FINISH-TEXT" in read(delta(content="a")).quirks


@pytest.mark.parametrize("value", [{"choices": []}, {"choices": None}, {"detail": "no"}])
def test_an_end_without_any_choice_leaves_open_how_the_turn_ended(value: Json) -> None:
    assert not read(event(value) + DONE).knows("end")
    assert read(event(value) + delta("stop") + DONE).knows("end")


def test_a_refusal_is_read() -> None:
    assert read(delta(refusal="I ca") + delta(refusal="n't") + delta("stop")).refusal == "I can't"


def test_time_grows_linearly_with_hostile_fragments() -> None:
    """Twenty thousand fragments that each look like a repetition take well under a second."""
    body = OPENING + calls(call(0, "{}")) * 20_000
    assert len(read(body).calls or ()) == 1
    assert len(read(OPENING + calls(call(0, '{"')) * 20_000).deviations) <= 4
