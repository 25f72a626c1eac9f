"""Oracle reading -> expected result: certain fields are judged, the others are not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.dialects.kit.oracle.values import read_arguments, same_object
from harness.dialects.table import oracle_reading
from harness.judging.expected import (
    apply_declarations,
    expectation_from,
    reasons_not_judged,
)
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import (
    ALL_FIELDS,
    COUNTED_FIELDS,
    UNSPECIFIED,
    Expectation,
    ExpectedCall,
    ExpectedRejection,
    Field,
)
from harness.turns.deltas import FinishReason
from harness.wire.interaction import Interaction, Request

DONE = b"data: [DONE]\n\n"


def chunk(finish: str | None = None, **delta: Any) -> bytes:  # noqa: ANN401 - any JSON
    value = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def call(arguments: str, index: int = 0, name: str = "f", call_id: str = "c1") -> bytes:
    function = {"name": name, "arguments": arguments}
    return chunk(
        tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function}]
    )


def expect(*chunks: bytes) -> Expectation:
    return expectation_from(oracle_reading(Interaction(Request(), 200, (), b"".join(chunks), ())))


def test_a_conforming_stream_is_judged_in_each_field() -> None:
    found = expect(chunk(content="a"), call('{"a":1}'), chunk("tool_calls"), DONE)
    assert found == Expectation(
        source="oracle",
        text="a",
        calls=(ExpectedCall("f", {"a": 1}, "c1", '{"a":1}'),),
        finish=FinishReason.TOOL_CALLS,
        finish_raw="tool_calls",
        judged=frozenset(
            ("text", "reasoning", "calls", "rejected", "finish", "finish_raw", "failure", "usage")
        ),
    )


@given(
    st.sampled_from(["", "interrupted"]),
    st.frozensets(st.sampled_from(sorted(ALL_FIELDS))),
    st.sampled_from(
        [call('{"a":1}') + chunk("eos") + DONE, call('{"a":'), chunk(content="<tool_call>")]
    ),
)
def test_each_field_that_is_not_judged_has_a_reason(
    failure: str, judged: frozenset[Field], body: bytes
) -> None:
    reading = oracle_reading(Interaction(Request(), 200, (), body, ()))
    expectation = replace(expectation_from(reading), judged=judged, failure=failure or None)
    reasons = reasons_not_judged(expectation, reading)
    ended = {"finish"} if failure and "failure" in judged else set()
    assert set(reasons) == set(COUNTED_FIELDS) - judged - ended
    assert all(reasons.values())
    by_author = reasons_not_judged(replace(expectation, source="scenario"), reading)
    assert by_author == dict.fromkeys(reasons, UNSPECIFIED)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a":',
        '{"a":1}}',
        "[1]",
        "null",
        '{"a":NaN}',
        '{"a":1,"a":2}',
        "{'a':1}",
        "北京",
        '{"a":"\n"}',
    ],
)
def test_unusable_arguments_are_a_rejection(arguments: str) -> None:
    found = expect(call(arguments), call("{}", 1, call_id="c2"), chunk("tool_calls"))
    assert found.rejected == (ExpectedRejection("f", arguments, "c1"),)
    assert found.calls == (ExpectedCall("f", {}, "c2", "{}"),)
    assert found.finish is FinishReason.TOOL_CALLS


@pytest.mark.parametrize("empty", ["", " \n"])
@pytest.mark.parametrize(
    ("finish", "executed"), [("tool_calls", 1), ("stop", 1), ("length", 0), ("content_filter", 0)]
)
def test_empty_arguments_are_usable_only_when_the_turn_is_complete(
    empty: str, finish: str, executed: int
) -> None:
    found = expect(call(empty), chunk(finish))
    assert (len(found.calls), len(found.rejected)) == (executed, 1 - executed)


FINISHES = [
    ("stop", "", FinishReason.STOP),
    ("stop", "{}", FinishReason.TOOL_CALLS),
    ("stop", "{", FinishReason.TOOL_CALLS),
    ("length", "{}", FinishReason.LENGTH),
    ("content_filter", "", FinishReason.CONTENT_FILTER),
    ("whatever", "", FinishReason.OTHER),
    ("whatever", "{}", FinishReason.TOOL_CALLS),
    (None, "", FinishReason.STOP),
    (None, "{}", FinishReason.TOOL_CALLS),
]


@pytest.mark.parametrize(("word", "arguments", "reason"), FINISHES)
def test_expected_finish(word: str | None, arguments: str, reason: FinishReason) -> None:
    said = call(arguments) if arguments else chunk(content="a")
    found = expect(said, chunk(word), DONE)
    assert found.finish is reason
    assert "finish" in found.judged
    assert ("finish_raw" in found.judged) == (word is not None)


@pytest.mark.parametrize(
    ("word", "reasons"),
    [
        ("max_tokens", {"other", "length", "content_filter"}),
        ("refusal", {"other", "length", "content_filter"}),
        ("eos_token", {"other", "stop"}),
        ("STOP", {"other", "stop"}),
    ],
)
def test_a_finish_value_of_another_api_has_several_meanings(word: str, reasons: set[str]) -> None:
    found = expect(chunk(content="a"), chunk(word), DONE)
    assert {each.finish for each in found.readings} == reasons
    assert all(each.judged >= {"finish", "finish_raw"} for each in found.readings)
    assert {each.finish_raw for each in found.readings} == {word}


def test_a_finish_value_that_announces_calls_in_another_api_is_not_judged() -> None:
    found = expect(chunk(content="a"), chunk("tool_use"), DONE)
    assert "finish" not in found.judged


@pytest.mark.parametrize("word", ["STOP", "LENGTH", "Tool_Calls", "Content_Filter"])
def test_a_finish_value_in_another_case_is_not_judged(word: str) -> None:
    found = expect(chunk(content="a"), call('{"a":1}'), chunk(word), DONE)
    assert found.judged >= {"text", "calls", "rejected", "finish_raw", "failure"}
    assert "finish" not in found.judged


@pytest.mark.parametrize("word", ["LENGTH", "max_tokens", "eos", "Stop"])
def test_empty_arguments_are_uncertain_with_an_unknown_finish_value(word: str) -> None:
    assert not expect(call(""), chunk(word), DONE).judged & {"calls", "rejected"}


@pytest.mark.parametrize("word", ["Tool_Calls", "tool_use"])
def test_an_unknown_finish_value_for_calls_leaves_the_failure_unjudged(word: str) -> None:
    found = expect(chunk(content="a"), chunk(word), DONE)
    assert found.judged == {"text", "reasoning", "calls", "rejected"}
    assert (found.calls, found.rejected) == ((), ())


@pytest.mark.parametrize("word", ["Error", "network_error", "abort"])
def test_finish_values_for_a_failure_admit_a_failure_and_an_end(word: str) -> None:
    found = expect(chunk(content="a"), chunk(word), DONE)
    assert [each.failure for each in found.readings] == ["*", None]
    assert all({"text", "calls", "failure"} <= each.judged for each in found.readings)


@pytest.mark.parametrize("number", ["3.14159265358979323846", "5e-400", "1.10"])
def test_numbers_are_expected_as_in_the_bytes(number: str) -> None:
    text = f'{{"x": {number}}}'
    found = expect(call(text), chunk("tool_calls"), DONE)
    assert found.calls[0].json_text == text


def test_two_finish_reasons_leave_the_raw_value_unjudged() -> None:
    found = expect(call("{}"), chunk("tool_calls"), chunk("stop"), DONE)
    assert "finish_raw" not in found.judged
    assert found.finish is FinishReason.TOOL_CALLS


def test_an_interrupted_turn_executes_nothing() -> None:
    found = expect(chunk(content="a"), call("{}"))
    assert (found.calls, found.failure, found.finish) == ((), "interrupted", None)
    assert found.rejected == (ExpectedRejection("f", "{}", "c1"),)
    assert found.judged >= {"text", "calls", "rejected", "failure", "finish"}


def test_an_error_executes_nothing_and_keeps_its_message() -> None:
    found = expect(call("{}"), b'data: {"error": {"message": "too long", "code": 400}}\n\n', DONE)
    assert (found.calls, found.failure, found.failure_says) == ((), "*", "too long")
    assert len(found.rejected) == 1
    assert "finish" not in found.judged


def test_a_refusal_executes_nothing() -> None:
    found = expect(call("{}"), chunk(refusal="no"), chunk("stop"))
    assert (found.calls, found.failure, len(found.rejected)) == ((), "refusal", 1)


@pytest.mark.parametrize(
    "body", [b"", DONE, b"<html>", chunk("tool_calls"), chunk("function_call")]
)
def test_a_body_without_an_answer_is_a_failure(body: bytes) -> None:
    found = expect(body)
    assert found.failure == "*"
    assert "failure" in found.judged
    assert "finish" not in found.judged


UNKNOWN_TYPE = chunk(tool_calls=[{"index": 0, "id": "c1", "type": "x", "function": {"name": "f"}}])


def test_ambiguous_calls_are_not_judged() -> None:
    found = expect(UNKNOWN_TYPE, chunk("tool_calls"))
    assert found.judged == {"text", "reasoning", "usage"}


def test_ambiguous_calls_of_an_interrupted_turn_are_still_not_executed() -> None:
    found = expect(UNKNOWN_TYPE)
    assert found.judged == {"text", "reasoning", "calls", "failure"}
    assert (found.calls, found.failure) == ((), "interrupted")


@pytest.mark.parametrize(
    ("policies", "admitted"),
    [
        ({}, ["auto", "append"]),
        ({"arguments": "append"}, ["append"]),
        ({"arguments": "auto"}, ["auto"]),
        ({"names": "by-tools"}, ["auto", "append"]),
    ],
)
def test_a_declared_policy_narrows_what_is_admitted(
    policies: dict[str, str], admitted: list[str]
) -> None:
    found = expect(call("{}"), call('{"a":1}', call_id="", name=""), chunk("tool_calls"), DONE)
    narrowed = apply_declarations(found, declaring(policies))
    assert [each.decisions["arguments"] for each in narrowed.readings] == admitted


def test_a_nameless_call_is_a_rejection() -> None:
    assert expect(call("{}", name=""), chunk("stop")).rejected == (
        ExpectedRejection("", "{}", "c1"),
    )


def test_ids_are_expected_only_when_they_are_unique() -> None:
    found = expect(call("{}"), call("{}", 1), call("{}", 2, call_id=""), chunk("stop"))
    assert [one.id for one in found.calls] == ["c1", None, None]


@pytest.mark.parametrize(
    "arguments", ["[" * 5000, '{"a":' + "9" * 5000 + "}", '{"a":1e999}', '{"a":"\\ud83d"}']
)
def test_limits_of_the_parser_are_not_judged(arguments: str) -> None:
    found = expect(call(arguments), chunk("tool_calls"))
    assert not found.judged & {"calls", "rejected"}


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, width=32).filter(
                lambda number: abs(number) < 1e30
            ) | st.text(),
            st.lists,
            max_leaves=5,
        ),
    )
)  # fmt: skip
def test_every_json_object_is_usable(value: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(value)).value == value
    assert same_object(json.dumps(value), json.dumps(value, indent=1))


@given(st.text())
def test_any_text_has_an_expected_result(text: str) -> None:
    found = read_arguments(text)
    assert found.empty == (not text.strip(" \t\r\n"))


def test_a_body_without_a_complete_event_may_fail_with_any_code() -> None:
    assert expect(b'data: {"choices": [{"index"').failure == "*"
    assert expect(chunk(content="a"), b"data: {").failure == "interrupted"


def test_calls_under_additional_kwargs_are_found_or_skipped() -> None:
    whole = [{"function": {"name": name, "arguments": '{"a": 1}'}} for name in ("f", "g")]
    chunks = [chunk(additional_kwargs={"tool_calls": [each]}) for each in whole]
    read, skipped = expect(*chunks, chunk("tool_calls"), DONE).readings
    assert [it.name for it in read.calls] == ["f", "g"]
    assert (skipped.calls, skipped.failure) == ((), "*")
    again = expect(*chunks, chunks[0], chunk("tool_calls"), DONE)
    assert {"calls", "failure", "finish"}.isdisjoint(again.judged)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"candidates": [{"content": {"parts": [{"text": "a"', "interrupted"),
        (b'{"candidates": [{"content": {"parts": [{"text": "a"{"error"', "*"),
    ],
)
def test_a_document_with_invalid_json_may_fail_with_any_code(body: bytes, code: str) -> None:
    asked = Interaction(
        Request(),
        200,
        (),
        b'data: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}\n\ndata: ' + body,
        (),
        dialect="gemini",
    )
    assert expectation_from(oracle_reading(asked)).failure == code


def declaring(policies: dict[str, str]) -> Normalizer:
    return Normalizer("n", lambda _, __: iter(()), policies=policies)


DROPS = {"nameless": "drop"}
NAMELESS = Expectation(
    "oracle", rejected=(ExpectedRejection(),), finish=FinishReason.TOOL_CALLS, judged=ALL_FIELDS
)
CALL = ExpectedCall("search", {})


@pytest.mark.parametrize("policies", [{}, {"nameless": "reject"}])
def test_a_normalizer_without_policies_must_report_all_rejections(policies: dict[str, str]) -> None:
    assert apply_declarations(NAMELESS, declaring(policies)) == NAMELESS


def test_declared_policies_do_not_change_a_scenario() -> None:
    authored = replace(NAMELESS, source="scenario")
    assert apply_declarations(authored, declaring(DROPS)) == authored


def test_a_turn_of_only_nameless_calls_may_end_in_any_way() -> None:
    left = apply_declarations(NAMELESS, declaring(DROPS)).judged
    assert left == ALL_FIELDS - {"rejected", "failure", "finish", "finish_raw"}
    failed = apply_declarations(replace(NAMELESS, failure="interrupted"), declaring(DROPS)).judged
    assert failed == ALL_FIELDS - {"rejected"}


def test_with_other_calls_only_the_report_is_not_judged() -> None:
    beside = replace(NAMELESS, calls=(CALL,))
    assert apply_declarations(beside, declaring(DROPS)).judged == ALL_FIELDS - {"rejected"}
    named = replace(NAMELESS, rejected=(ExpectedRejection("search"),))
    assert apply_declarations(named, declaring(DROPS)) == named
