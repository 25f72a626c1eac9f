"""The oracle of Responses streams: what is special to it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from harness.dialects.openai_responses.read import read
from harness.dialects.openai_responses.write import WriterOptions, write
from harness.dialects.table import oracle_reading
from harness.judging.expected import ANY_CODE, expectation_from
from harness.results.expectation import Expectation
from harness.turns.arguments import same_value
from harness.turns.deltas import FinishReason
from harness.turns.fold import fold
from harness.turns.oracle_reading import CallReading, OracleReading
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Request
from tests.dialects.openai_responses_streams import (
    OSLO,
    Json,
    added,
    completed,
    done,
    event,
    function,
    hostile,
    piece,
    sse,
    whole,
)
from tests.dialects.oracle_agreement import assert_agrees, interaction
from tests.dialects.round_trips import written_turns
from tests.dialects.scripted_turns import Script
from tests.tables import each_row


def reading_of(body: bytes, status: int = 200) -> OracleReading:
    return oracle_reading(Interaction(Request(), status, (), body, (), dialect="openai-responses"))


def reading(*events: Json | str) -> OracleReading:
    return reading_of(sse(*events))


def calls_of(found: OracleReading) -> list[tuple[str, str, str]] | None:
    if found.calls is None:
        return None
    return [(one.id, one.name, one.arguments) for one in found.calls]


ONE = [("c1", "get_weather", OSLO)]

KEPT: dict[str, tuple[Json, ...]] = {
    "RESP-NO-ARGUMENT-DELTAS": (added(function()), whole(OSLO), done(function(OSLO))),
    "RESP-ARGUMENTS-IN-ADDED": (added(function(OSLO)), done(function(OSLO))),
    "RESP-DONE-EMPTY": (added(function()), piece(OSLO), whole("")),
    "RESP-DONE-DIFFERS": (added(function()), piece(OSLO), whole('{"city": "Oslo"}')),
    "RESP-NO-ITEM-DONE": (added(function()), piece(OSLO)),
    "RESP-ITEM-ID-ABSENT": (added(function(id=None)), piece(OSLO, 0, None)),
    "RESP-ITEM-ID-CHANGES": (added(function()), piece(OSLO, 0, "x")),
    "RESP-UNKNOWN-EVENT": (
        event("response.created"),
        added(function()),
        piece(OSLO),
        event("ping"),
    ),
}


@each_row("quirk", KEPT)
def test_deviations_that_keep_the_meaning(quirk: str) -> None:
    found = reading(*KEPT[quirk], completed())
    assert calls_of(found) == ONE
    assert quirk in found.quirks


OPEN: dict[str, tuple[Json, ...]] = {
    "RESP-OUTPUT-INDEX-LOST": (added(function()), added(function(id="fc_2"))),
    "RESP-ARGUMENTS-IN-ADDED": (added(function(OSLO)), piece(OSLO)),
    "ARGS-OBJECT": (done(function({"city": "Oslo"})),),
    "RESP-INCOMPLETE": (done(function(OSLO, status="incomplete")),),
}


def _without_places(*events: Json) -> list[Json]:
    return [{k: v for k, v in each.items() if k != "output_index"} for each in events]


def test_items_without_places_are_told_apart_by_their_ids() -> None:
    """llama.cpp sends no `output_index`; each item and each of its deltas has the item's id."""
    two = (added(function()), piece(OSLO), done(function(OSLO)))
    found = reading(*_without_places(*two), completed())
    assert calls_of(found) == ONE
    assert "RESP-OUTPUT-INDEX-LOST" in found.quirks


NOWHERE = (
    *_without_places({**piece(OSLO), "item_id": None}),
    {**piece(OSLO), "output_index": "0"},
)


@each_row("delta", NOWHERE)
def test_a_delta_without_place_and_id_leaves_the_calls_open(delta: Json) -> None:
    found = reading(added(function()), delta, completed())
    assert calls_of(found) is None
    assert "RESP-OUTPUT-INDEX-LOST" in found.quirks
    assert "EVENT-GLUED" not in found.quirks


@each_row("quirk", OPEN)
def test_deviations_that_leave_the_calls_open(quirk: str) -> None:
    found = reading(*OPEN[quirk], completed())
    assert found.calls is None
    assert quirk in {one.quirk for one in found.deviations if one.ambiguous}


@pytest.mark.parametrize("last", ['{"city":"Bergen"}', "{}"])
def test_arguments_that_differ_at_the_end_are_one_of_both_or_rejected(last: str) -> None:
    found = reading(added(function()), piece(OSLO), whole(last), completed(function(last)))
    expected = expectation_from(found).readings
    assert {tuple(it.arguments_text for it in each.calls) for each in expected} == {
        (OSLO,),
        (last,),
        (),
    }
    assert all({"calls", "rejected", "finish"} <= each.judged for each in expected)


COMMAND = {"command": ["ls", "\u00e5"], "timeout_ms": None}
# Item -> name and arguments of the action.
ACTIONS: dict[str, tuple[Json, str, Any]] = {
    "local_shell_call": ({"call_id": "c1", "action": COMMAND}, "local_shell", COMMAND),
    "shell_call": ({"call_id": "c1", "action": COMMAND}, "shell", COMMAND),
    "computer_call": ({"call_id": "c1", "actions": [{"x": 9}]}, "computer", [{"x": 9}]),
    "apply_patch_call": ({"call_id": "c1", "operation": {"diff": "+a"}}, "apply_patch", None),
    "tool_search_call": (
        {"call_id": "c1", "execution": "client", "arguments": {"goal": "x"}},
        "tool_search",
        {"goal": "x"},
    ),
    "mcp_approval_request": ({"name": "buy", "arguments": OSLO}, "buy", json.loads(OSLO)),
}


@pytest.mark.parametrize("content", [{"action": {"x": 9.5}}, {"action": {}, "actions": []}])
def test_an_action_with_a_float_or_two_contents_is_not_judged(content: Json) -> None:
    item = {"type": "computer_call", "id": "c1", "call_id": "c1", **content}
    assert "calls" not in expectation_from(reading(added(item), done(item), completed(item))).judged


@each_row("kind", sorted(ACTIONS))
def test_an_action_may_be_rejected_or_typed_and_is_no_call_of_a_function(kind: str) -> None:
    fields, name, arguments = ACTIONS[kind]
    item = {"type": kind, "id": "c1", **fields}
    events = added(item), done(item), completed(item)
    found = reading(*events)
    assert found.quirks >= {"RESP-CLIENT-ITEM"}
    assert not any(one.ambiguous for one in found.deviations)
    typed, rejected = expectation_from(found).readings
    assert [(each.name, each.id) for each in rejected.rejected] == [(name, "c1")]
    assert (rejected.calls, typed.rejected) == ((), ())
    (call,) = typed.calls
    assert (call.kind, call.name, call.id) == ("action", name, "c1")
    assert json.loads(call.arguments_text) == arguments or fields["operation"]
    turn = fold(read(iter_frames([sse(*events)])))
    ((found_id, found_name, content, found_kind, _, _),) = map(astuple, turn.tool_calls)
    assert (found_id, found_name, found_kind) == ("c1", name, "action")
    assert same_value(content, call.arguments_text)
    assert turn.parse_errors == ()


def test_the_contract() -> None:
    found = reading(
        event("response.created", response={"id": "resp_1"}),
        added(function()),
        piece(OSLO),
        whole(OSLO),
        done(function(OSLO)),
        completed(function(OSLO)),
    )
    assert calls_of(found) == ONE
    assert (found.finish, found.ended, found.meaning) == ("completed", True, FinishReason.STOP)
    assert found.quirks == {"RESP-NO-EVENT-LINE"}


def test_a_custom_call_has_its_kind_and_is_open_if_nothing_declares_its_tool() -> None:
    item = {"type": "custom_tool_call", "id": "x", "call_id": "c1", "name": "sql", "input": "a"}
    declared = [{"type": "custom", "name": "sql"}]
    of_client = (CallReading("c1", "sql", "a", 0, "custom"),)
    ended = completed(item, tools=declared)
    created = event("response.created", response={"id": "resp_1", "tools": declared})
    assert calls_of(reading(created, done(item), ended)) == [("c1", "sql", "a")]
    asked = Request(body=json.dumps({"tools": declared}).encode())
    one = interaction("openai-responses", sse(done(item), completed(item)))
    assert oracle_reading(msgspec.structs.replace(one, request=asked)).calls == of_client
    unknown = reading(done(item), completed(item))
    assert unknown.calls is None
    assert not [each for each in unknown.deviations if each.ambiguous]


def test_a_delta_before_its_item_belongs_to_it() -> None:
    found = reading(piece(OSLO), added(function()), done(function(OSLO)), completed(function(OSLO)))
    assert calls_of(found) == ONE
    assert "RESP-DELTA-BEFORE-ITEM" in found.quirks
    assert not [each for each in found.deviations if each.ambiguous]


@pytest.mark.parametrize("start", range(1, 6))
def test_a_stream_that_resumes_anywhere_has_its_calls_and_no_deviation(start: int) -> None:
    item = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi you"}]}
    words = [
        event("response.output_text.delta", item_id="m", output_index=0, delta=each)
        for each in ("Hi", " you")
    ]
    events = [
        event("response.created", response={"id": "resp_1"}),
        added({**item, "content": []}),
        *words,
        done(item),
        added(function(), 1),
        piece('{"city":', 1),
        piece('"Oslo"}', 1),
        done(function(OSLO), 1),
        completed(item, function(OSLO)),
    ]
    numbered = [each | {"sequence_number": at} for at, each in enumerate(events)]
    body = sse(*numbered[start:])
    found = assert_agrees(interaction("openai-responses", body))
    assert calls_of(found) == ONE
    assert found.quirks <= {"RESP-NO-EVENT-LINE"}
    texts = {each.text for each in expectation_from(found).readings}
    assert all("Hi you".endswith(text) for text in texts)
    assert "Hi you" in texts or not found.knows("text")


@pytest.mark.parametrize(
    ("response", "finish", "meaning"),
    [
        ({"reason": "max_output_tokens"}, "max_output_tokens", FinishReason.LENGTH),
        ({"reason": "content_filter"}, "content_filter", FinishReason.CONTENT_FILTER),
        ({"reason": "moonlight"}, "moonlight", None),
    ],
)
def test_the_reason_of_an_incomplete_response(
    response: Json, finish: str, meaning: FinishReason | None
) -> None:
    details = {"status": "incomplete", "incomplete_details": response, "output": []}
    found = reading(event("response.incomplete", response=details))
    assert (found.finish, found.meaning) == (finish, meaning)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (sse(event("error", code="oops", message="Gone.")), ("oops", "Gone.")),
        (sse(event("response.failed", response={"error": {"code": "a"}})), ("a", "")),
        (b'{"error": {"code": "oops", "message": "Gone."}}', ("oops", "Gone.")),
    ],
)
def test_errors(body: bytes, error: tuple[str, str]) -> None:
    assert reading_of(body).error == error


def test_events_after_the_end_are_ambiguous() -> None:
    found = reading(completed(), added(function(OSLO)))
    assert (found.calls, found.knows("end")) == (None, False)


# It agrees with the reader, wherever both say something


def turn_of(body: bytes) -> Turn:
    return fold(read(iter_frames([body]), ()))


def assert_agree(body: bytes) -> None:
    """The reader gives what one of the oracle's readings has, in all that this reading knows."""
    turn, wanted = turn_of(body), expectation_from(reading_of(body))
    wrong = [_differing(turn, each) for each in wanted.readings]
    assert [] in wrong, (wrong, turn, wanted)


def _differing(turn: Turn, wanted: Expectation) -> list[str]:
    return [field for field in wanted.judged & _CHECKS.keys() if not _CHECKS[field](turn, wanted)]


def _same_calls(turn: Turn, wanted: Expectation) -> bool:
    told = [(call.name, call.arguments) for call in turn.tool_calls]
    texts = [
        (call.name, call.arguments_text or json.dumps(call.arguments)) for call in wanted.calls
    ]
    return len(told) == len(texts) and all(
        mine[0] == other[0] and (mine[1] == other[1] or same_value(mine[1] or "{}", other[1]))
        for mine, other in zip(told, texts, strict=True)
    )


def _same_failure(turn: Turn, wanted: Expectation) -> bool:
    code = turn.failure.code if turn.failure else None
    return code == wanted.failure or (wanted.failure == ANY_CODE and code is not None)


_CHECKS: dict[str, Any] = {
    "text": lambda turn, wanted: turn.text == wanted.text,
    "reasoning": lambda turn, wanted: turn.reasoning == wanted.reasoning,
    "calls": _same_calls,
    "rejected": lambda turn, wanted: len(turn.parse_errors) == len(wanted.rejected),
    "failure": _same_failure,
    "finish": lambda turn, wanted: (turn.finish and turn.finish.reason) == wanted.finish,
}


@given(written_turns("openai-responses"), st.data())
def test_oracle_agrees_on_streams_with_missing_and_moved_events(
    written: tuple[Script, WriterOptions], data: st.DataObject
) -> None:
    script, options = written
    events = list(write(script.deltas(), options))
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(events) - 1))
        match data.draw(st.sampled_from(("lost", "twice", "moved"))):
            case "lost" if len(events) > 1:
                del events[at]
            case "twice":
                events.insert(at, events[at])
            case _:
                events.insert(data.draw(st.integers(0, len(events) - 1)), events.pop(at))
    assert_agree(b"".join(events))


@given(hostile)
def test_oracle_agrees_on_hostile_streams(body: bytes) -> None:
    assert_agree(body)


@given(hostile)
def test_oracle_never_raises_on_hostile_streams(body: bytes) -> None:
    for end in range(0, len(body), 37):
        assert reading_of(body[:end]) is not None
