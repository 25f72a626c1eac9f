"""Texts, ends, failures, documents and sessions of the Responses API, as the reader has them."""

from typing import Any

import pytest

from harness.dialects.openai_responses.read import read
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    Usage,
)
from harness.turns.fold import fold
from harness.wire.framing import iter_frames
from tests.dialects.openai_responses_streams import (
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
    read_document,
    read_turn,
    sse,
    turn,
)
from tests.tables import each_row

MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant"}


def said(words: str, kind: str = "output_text") -> Json:
    field = "refusal" if kind == "refusal" else "text"
    return {**MESSAGE, "content": [{"type": kind, field: words}]}


def words(delta: str, kind: str = "output_text", item_id: str = "msg_1") -> Json:
    return event(f"response.{kind}.delta", output_index=0, item_id=item_id, delta=delta)


def incomplete(reason: object, *output: Json) -> Json:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return event("response.incomplete", response={**response, "output": list(output)})


# Texts


TEXTS: dict[str, tuple[Json, ...]] = {
    "deltas, and all repeats": (
        added(MESSAGE),
        words("It "),
        words("rains."),
        event("response.output_text.done", output_index=0, item_id="msg_1", text="It rains."),
        done(said("It rains.")),
        completed(said("It rains.")),
    ),
    "only the part": (
        event("response.output_text.done", output_index=0, item_id="msg_1", text="It rains."),
        completed(),
    ),
    "only the item": (done(said("It rains.")), completed(said("It rains."))),
    "only the terminal event": (completed(said("It rains.")),),
    "a tail that no delta said": (words("It "), done(said("It rains.")), completed()),
    "other ids at the end": (
        added(MESSAGE),
        words("It rains."),
        completed({**said("It rains."), "id": "msg_9"}),
    ),
    "another place and id at the end": (
        words("It rains."),
        completed({"type": "reasoning", "summary": []}, {**said("It rains."), "id": "msg_9"}),
    ),
    "two messages in the terminal event": (completed(said("It "), {**said("rains."), "id": "m"}),),
}


@each_row("events", TEXTS.values())
def test_text_is_said_once(events: tuple[Json, ...]) -> None:
    assert read_turn(*events) == turn(text="It rains.")


@pytest.mark.parametrize("kind", ["reasoning_summary_text", "reasoning_text", "reasoning"])
def test_reasoning_stays_apart_from_text(kind: str) -> None:
    found = read_turn(words("Hm.", kind, "rs_1"), words("Yes."), completed())
    assert (found.reasoning, found.text) == ("Hm.", "Yes.")


@pytest.mark.parametrize(
    "events",
    [(words("No.", "refusal"), completed()), (done(said("No.", "refusal")), completed())],
)
def test_a_refusal_fails_the_turn(events: tuple[Json, ...]) -> None:
    assert read_turn(*events).failure == StreamFailure("refusal", "No.")


def test_a_piece_of_text_is_handed_on_at_once() -> None:
    assert TextDelta("It ") in read_deltas(sse(words("It ")))


# Ends


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_output_tokens", Finish(FinishReason.LENGTH, "max_output_tokens")),
        ("content_filter", Finish(FinishReason.CONTENT_FILTER, "content_filter")),
        (None, Finish(FinishReason.LENGTH, "incomplete")),
        ("moonlight", Finish(FinishReason.OTHER, "moonlight")),
    ],
)
def test_why_a_response_is_incomplete(reason: object, finish: Finish) -> None:
    assert read_turn(words("It"), incomplete(reason)).finish == finish


def test_a_call_that_the_limit_cut_does_not_run() -> None:
    found = read_turn(added(function()), piece('{"city":'), incomplete("max_output_tokens"))
    assert found.tool_calls == ()
    assert [error.snippet for error in found.parse_errors] == ['{"city":']


def test_the_status_outranks_the_event() -> None:
    found = read_turn(completed(status="incomplete", incomplete_details={"reason": "x"}))
    assert found.finish == Finish(FinishReason.OTHER, "x")


FAILURES: dict[str, tuple[tuple[Any, ...], StreamFailure]] = {
    "failed": (
        (event("response.failed", response={"error": {"code": "oops", "message": "Gone."}}),),
        StreamFailure("oops", "Gone."),
    ),
    "cancelled": ((event("response.cancelled", response={}),), StreamFailure("cancelled")),
    "an error whose fields are flat": (
        (event("error", code="oops", message="Gone."),),
        StreamFailure("oops", "Gone."),
    ),
    "an error inside of an error": (
        (event("error", error={"type": "oops", "message": "Gone."}),),
        StreamFailure("oops", "Gone."),
    ),
    "an error without a type": (({"error": {"code": 502}},), StreamFailure("502")),
    "an error that is text": (
        ({"error": "Gone.", "code": "oops"},),
        StreamFailure("oops", "Gone."),
    ),
    "no terminal event": (
        (added(function(OSLO)),),
        StreamFailure(
            "interrupted", "the stream ended without a terminal event of its response"
        ),
    ),
    "[DONE] and no terminal event": (
        (added(function(OSLO)), "[DONE]"),
        StreamFailure(
            "interrupted", "the stream ended without a terminal event of its response"
        ),
    ),
    "only [DONE]": (("[DONE]",), StreamFailure("empty_stream", "the stream held no event")),
}  # fmt: skip


@each_row(("events", "failure"), FAILURES.values())
def test_failures(events: tuple[Json | str, ...], failure: StreamFailure) -> None:
    found = read_turn(*events)
    assert found.failure == failure
    assert found.tool_calls == ()


def test_usage() -> None:
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    assert read_turn(completed(usage=usage)).usage == Usage(3, 4)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n": 1}, '{"n": 1}'),
        ([1], "[1]"),
    ],
)
def test_arguments_that_are_no_text_are_spelt_as_they_came(arguments: object, text: str) -> None:
    found = read_turn(done(function(arguments)), completed())
    spelt = [one.arguments for one in found.tool_calls] + [e.snippet for e in found.parse_errors]
    assert spelt == [text]


def test_digits_and_repeated_keys_of_an_object_stay() -> None:
    spelt = '{"n": 12345678901234567890.10, "n": 1}'
    body = sse(done(function("HERE")), completed()).replace(b'"HERE"', spelt.encode())
    assert ArgumentsDelta(0, spelt) in read_deltas(body)


# Documents


def test_a_whole_response_is_the_turn_of_its_stream() -> None:
    document = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": [said("Look."), function(OSLO)],
    }
    assert read_document(document) == turn(call(), text="Look.")


@pytest.mark.parametrize(
    ("document", "failure"),
    [
        ({"error": {"code": "oops", "message": "Gone."}}, StreamFailure("oops", "Gone.")),
        ({"detail": "Not allowed."}, StreamFailure("error", "Not allowed.")),
        (
            {"object": "response", "status": "queued", "output": []},
            StreamFailure("interrupted", "the response came while it was 'queued'"),
        ),
    ],
)
def test_a_document_that_is_no_answer(document: Json, failure: StreamFailure) -> None:
    assert read_document(document).failure == failure


# Realtime


@pytest.mark.parametrize("name", ["response.created", "response.completed"])
def test_an_error_behind_the_name_of_a_frame_that_broke_off_is_one(name: str) -> None:
    broken = f'event: {name}\ndata: {{"error": {{"code": "oops", "message": "No."}}}}\n\n'
    deltas = list(read(iter_frames([broken.encode()]), ()))
    assert fold(deltas).failure == StreamFailure("oops", "No.")


def test_an_error_does_not_end_a_session() -> None:
    error = event("error", event_id="e1", error={"code": "oops", "message": "Wrong event."})
    over = event("response.done", event_id="e2", response={"status": "completed"})
    assert read_turn(error, words("Hi."), over) == turn(text="Hi.")
    assert read_turn(error, words("Hi.")).failure == StreamFailure("oops", "Wrong event.")


def test_what_is_spoken_is_read_from_its_transcript() -> None:
    spoken = words("Hi.", "output_audio_transcript")
    item = {"type": "message", "content": [{"type": "output_audio", "transcript": "Hi."}]}
    over = event("response.done", response={"status": "completed", "output": [item]})
    assert read_turn(spoken, over) == turn(text="Hi.")
    assert read_turn(over) == turn(text="Hi.")


def test_a_translation_ends_when_it_is_closed() -> None:
    found = read_turn(
        event("session.output_transcript.delta", delta="Ja."), event("session.closed")
    )
    assert found == turn(text="Ja.", finish=Finish(FinishReason.STOP, "session.closed"))
