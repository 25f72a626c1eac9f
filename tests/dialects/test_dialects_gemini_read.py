"""Generate-content streams as their servers send them, and what they mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.gemini.parse_request import parse_request
from harness.dialects.gemini.partial_args import format_path, parse_path
from harness.turns.deltas import Finish, FinishReason, StreamFailure, Usage
from harness.turns.turn import Turn
from tests.dialects.google_streams import Json, read_turn, sse, words
from tests.tables import each_row

STOP: Json = {"candidates": [{"finishReason": "STOP"}]}


def parts(*found: Json, **candidate: object) -> Json:
    return {"candidates": [{"content": {"parts": list(found)}, **candidate}]}


def call(**fields: object) -> Json:
    return {"functionCall": fields}


def partial(*pieces: Json, more: bool = True, **fields: object) -> Json:
    tail = {"willContinue": True} if more else {}
    return parts(call(**fields, **({"partialArgs": list(pieces)} if pieces else {}), **tail))


def piece(path: str, value: object, *, kind: str = "stringValue", more: bool = False) -> Json:
    return {"jsonPath": path, kind: value, **({"willContinue": True} if more else {})}


def read(*events: Json | str) -> Turn:
    return read_turn("gemini", sse(*events))


def arguments(*events: Json | str) -> list[str]:
    return [found.arguments for found in read(*events, STOP).tool_calls]


def why(*events: Json | str) -> list[str]:
    found = read(*events, STOP)
    assert not found.tool_calls
    return [error.error for error in found.parse_errors]


OPEN = partial(name="f")
END = parts(call())


def test_digits_and_spelling_of_arguments_stay() -> None:
    event = '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":%s}}]}}]}'
    exact = '{"a": 1.10, "b": 12345678901234567890123, "c": 1e2}'
    assert arguments(event % exact) == [exact]


def test_arguments_keep_their_spelling_next_to_a_call_in_parts() -> None:
    event = (
        '{"candidates":[{"content":{"parts":['
        '{"functionCall":{"name":"f","args":{"a":1.10}}},'
        '{"functionCall":{"name":"g","partialArgs":[{"jsonPath":"$.b","numberValue":2.50}]}}]}}]}'
    )
    assert arguments(event) == ['{"a":1.10}', '{"b": 2.50}']


def test_an_argument_that_is_given_twice_is_rejected() -> None:
    event = '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":%s}}]}}]}'
    (error,) = why(event % '{"a": 1, "a": 2}')
    assert "the key 'a' twice" in error


def test_partial_arguments_are_put_where_their_paths_say() -> None:
    values = (
        piece("$.a.b[1]", value=2.50, kind="numberValue"),
        piece("$.a.b[0]", "x", more=True),
        piece("$.a.b[0]", "y"),
        piece("$['it''s']".replace("''", "\\'"), value=True, kind="boolValue"),
        piece('$["c d"]', value=None, kind="nullValue"),
    )
    written = '{"a": {"b": ["xy", 2.5]}, "it\'s": true, "c d": null}'
    assert arguments(OPEN, *(partial(each) for each in values), END) == [written]


def test_the_last_value_may_end_a_call() -> None:
    assert arguments(partial(piece("$.a", "x"), name="f", more=False)) == ['{"a": "x"}']
    assert arguments(OPEN, END) == [""]
    assert arguments(OPEN, parts(call(args={"a": 1}))) == ['{"a": 1}']


@each_row(
    ("pieces", "reason"),
    [
        ([piece("$.a", "x", more=True)], "the string at '$.a' never ended"),
        ([piece("$.a", "x"), piece("$.a", "y")], "two values contradict each other at '$.a'"),
        ([piece("$.a", "x"), piece("$.a.b", "y")], "two values contradict each other at '$.a.b'"),
        ([piece("$.a[0]", "x"), piece("$.a.b", "y")], "two values contradict each other"),
        ([piece("$.a[1]", "x")], "an array of partial arguments has a gap"),
        ([piece("$..a", "x")], "a partial argument has no usable path: '$..a'"),
        ([piece("$[*]", "x")], "no usable path"),
        ([piece("$", "x")], "no usable path"),
        ([piece("a", "x")], "no usable path"),
        ([piece("$" + ".a" * 200, "x")], "no usable path"),
        ([{"jsonPath": "$.a"}], "the partial argument at '$.a' has no value"),
        ([{"stringValue": "x"}], "no usable path"),
        ([5], "a partial argument is not an object"),
    ],
)
def test_partial_arguments_that_do_not_fit_are_rejected(pieces: list[Any], reason: str) -> None:
    (error,) = why(OPEN, partial(*pieces), END)
    assert reason in error


def test_a_call_that_was_to_be_continued_is_rejected() -> None:
    assert why(OPEN) == ["its arguments were still to be continued"]
    found = read(OPEN, partial(piece("$.a", "x")), parts(call(name="g")), STOP)
    assert [each.name for each in found.tool_calls] == ["g"]
    assert [(error.name, error.snippet) for error in found.parse_errors] == [("f", '{"a": "x"}')]


def test_arguments_that_come_whole_and_in_parts_are_rejected() -> None:
    assert why(partial(piece("$.a", "x"), name="f", args={"b": 1}, more=False)) == [
        "its arguments came whole and in parts"
    ]
    assert why(partial(name="f", args={"b": 1}), parts(call(args={"b": 2}))) == [
        "its arguments came twice"
    ]


def test_a_call_without_a_name_is_rejected() -> None:
    assert why(parts(call(args={"a": 1}))) == ["the call has no name"]
    assert why(parts(call())) == ["the call has no name"]
    assert why(parts({"functionCall": "f"})) == ["its functionCall is not an object"]


def test_equal_ids_are_one_call_where_all_is_equal_and_two_where_it_is_not() -> None:
    one, other = call(name="f", id="1", args={"a": 1}), call(name="f", id="1", args={"a": 2})
    assert arguments(parts(one), parts(one)) == ['{"a": 1}']
    found = read(parts(one), parts(other), STOP).tool_calls
    assert [each.arguments for each in found] == ['{"a": 1}', '{"a": 2}']
    assert len({each.id for each in found}) == len(found)


def test_equal_calls_without_ids_are_two() -> None:
    roll = parts(call(name="roll", args={}))
    assert arguments(roll, roll) == ["{}", "{}"]


@each_row(
    ("word", "reason"),
    [
        ("STOP", FinishReason.STOP),
        ("stop", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("RECITATION", FinishReason.CONTENT_FILTER),
        ("MODEL_ARMOR", FinishReason.CONTENT_FILTER),
        ("OTHER", FinishReason.OTHER),
        ("NEW", FinishReason.OTHER),
        (2, FinishReason.LENGTH),
        (99, FinishReason.OTHER),
    ],
)
def test_finish_words_keep_their_spelling(word: object, reason: FinishReason) -> None:
    found = read(parts({"text": "x"}, finishReason=word))
    assert found.finish == Finish(reason, str(word))


@pytest.mark.parametrize(
    "word", ["MALFORMED_FUNCTION_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", 10]
)
def test_words_for_unusable_output_fail_the_turn(word: object) -> None:
    found = read(parts({"text": "x"}), parts(finishReason=word, finishMessage="why"))
    code = word if isinstance(word, str) else "MALFORMED_FUNCTION_CALL"
    assert found.failure == StreamFailure(code, "why")


@each_row("word", ["", "FINISH_REASON_UNSPECIFIED", 0, None, [], {}])
def test_no_finish_word_is_no_end(word: object) -> None:
    failure = read(parts({"text": "x"}, finishReason=word)).failure
    assert failure is not None
    assert failure.code == "interrupted"


def test_more_after_a_finish_reason_needs_another_one() -> None:
    found = read(parts({"text": "a"}, finishReason="STOP"), parts({"text": "b"}))
    assert found.failure is not None
    assert found.text == "ab"


def test_usage_is_a_running_total_with_the_thoughts() -> None:
    first = {**parts({"text": "x"}), "usageMetadata": {"promptTokenCount": 3}}
    last = {
        **STOP,
        "usageMetadata": {
            "promptTokenCount": 4,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 6,
        },
    }
    assert read(first, last).usage == Usage(4, 11)
    assert read(first, STOP).usage == Usage(3, None)


def test_a_blocked_prompt_ends_by_the_filter_unless_an_answer_came() -> None:
    blocked: Json = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert read(blocked).finish == Finish(FinishReason.CONTENT_FILTER, "SAFETY")
    rated: Json = {"promptFeedback": {"safetyRatings": []}}
    assert read(rated, parts({"text": "x"}), STOP).finish == Finish(FinishReason.STOP, "STOP")


@each_row(
    ("body", "code", "message"),
    [
        (b'{"error": {"code": 400, "message": "bad", "status": "X"}}', "X", "bad"),
        (b'[{"error": {"code": 400, "message": "bad"}}]', "400", "bad"),
        (b'{"error": "bad"}', "error", "bad"),
        (b'{"choices": []}', "unknown_envelope", ""),
        (b"<html>", "bad_event", ""),
        (b"", "empty_stream", ""),
        (b"[]", "empty_stream", ""),
        (b'[{"candidates": [{"content"', "interrupted", ""),
    ],
)
def test_what_is_no_answer_fails(body: bytes, code: str, message: str) -> None:
    failure = read_turn("gemini", body).failure
    assert failure is not None
    assert failure.code == code
    assert message in failure.message


@given(st.lists(words | st.integers(0, 10**9 - 1), min_size=1, max_size=5))
def test_a_path_leads_back_to_its_steps(steps: list[str | int]) -> None:
    assert parse_path(format_path(tuple(steps))) == tuple(steps)


@pytest.mark.parametrize(
    ("uri", "model", "stream"),
    [
        ("https://x/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "gemini-3", True),
        ("https://x/v1/publishers/google/models/g:generateContent", "g", False),
        ("https://x/v1internal:streamGenerateContent", "inner", True),
        ("", "inner", False),
    ],
)
def test_a_request_names_its_model_in_the_address(uri: str, model: str, *, stream: bool) -> None:
    found = parse_request(uri, {"model": "models/inner"})
    assert (found.model, found.stream) == (model, stream)


@pytest.mark.parametrize("member", ["functionDeclarations", "function_declarations"])
def test_a_request_declares_its_functions(member: str) -> None:
    body: Json = {
        "tools": [{"googleSearch": {}}, {member: [{"name": "f"}]}],
        "system_instruction": {"parts": [{"text": "Be"}, {"text": " kind"}]},
    }
    found = parse_request("", {"request": body})
    assert [tool.name for tool in found.tools] == ["f"]
    assert found.system == "Be kind"
