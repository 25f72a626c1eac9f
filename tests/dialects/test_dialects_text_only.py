"""The dialects that stream text alone: openai-completions and tgi."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS, read_request
from harness.turns.deltas import (
    Finish,
    FinishReason,
    StreamFailure,
    Usage,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.interaction import Request
from tests.dialects.openai_chat_streams import assert_protocol, sse
from tests.dialects.test_dialects_openai_chat_hostile import ANYTHING
from tests.replay_every_way import has_ended, read_every_way
from tests.tables import each_row

BOTH = ("openai-completions", "tgi")
Json = dict[str, Any]


def read(dialect: str, body: bytes) -> Turn:
    said = read_every_way(lambda frames: DIALECTS[dialect].read(frames, ()), body, tail=b"")
    assert_protocol(said)
    return fold(said)


def completion(text: object = "", finish: object = None, **fields: object) -> Json:
    choice = {"text": text, "index": 0, "finish_reason": finish}
    return {"object": "text_completion", "choices": [choice], **fields}


def token(text: object, *, special: bool = False, **fields: object) -> Json:
    return {"token": {"id": 1, "text": text, "special": special}, "generated_text": None, **fields}


STOP = Finish(FinishReason.STOP, "stop")


@each_row(
    ("events", "turn"),
    [
        ([completion("a"), completion("b", "stop")], Turn("ab", finish=STOP)),
        (
            [completion("a", "length", usage={"prompt_tokens": 1, "completion_tokens": 2})],
            Turn("a", finish=Finish(FinishReason.LENGTH, "length"), usage=Usage(1, 2)),
        ),
        (
            [completion("a", "eos")],
            Turn("a", finish=Finish(FinishReason.OTHER, "eos")),
        ),
        (
            [
                {"choices": [{"text": "a", "index": 1}, {"text": "z", "index": 0}]},
                {"choices": [{"text": "y"}, {"text": "b", "index": 1, "finish_reason": "stop"}]},
            ],
            Turn("ab", finish=STOP),
        ),
        (
            [completion("a", "abort")],
            Turn(
                "a", failure=StreamFailure("abort", "the provider finished the turn with 'abort'")
            ),
        ),
        (
            [completion("a"), "[DONE]"],
            Turn(
                "a",
                failure=StreamFailure("interrupted", "the stream ended without a finish reason"),
            ),
        ),
        (
            [{"object": "error", "message": "no such model", "type": "NotFound", "code": 404}],
            Turn(failure=StreamFailure("404", "no such model")),
        ),
        ([{"error": "busy"}], Turn(failure=StreamFailure("error", "busy"))),
        ([{"choices": None}, completion("a", "stop")], Turn("a", finish=STOP)),
        (
            [{"choices": None}],
            Turn(
                failure=StreamFailure("interrupted", "the stream ended without a finish reason"),
            ),
        ),
        (
            [{"error": {"message": "busy", "type": "overloaded"}, "choices": []}],
            Turn(failure=StreamFailure("overloaded", "busy")),
        ),
    ],
)
def test_completions_are_read(events: list[Json | str], turn: Turn) -> None:
    assert read("openai-completions", sse(*events)) == turn


@each_row(
    ("events", "turn"),
    [
        (
            [token("a"), token("</s>", special=True, generated_text="a", details=None)],
            Turn("a", finish=Finish(FinishReason.STOP, "")),
        ),
        (
            [
                token("a"),
                token(
                    "b",
                    generated_text="ab",
                    details={"finish_reason": "stop_sequence", "generated_tokens": 2},
                ),
            ],
            Turn("ab", finish=Finish(FinishReason.STOP, "stop_sequence"), usage=Usage(None, 2)),
        ),
        (
            [token("a"), {"error": "out of memory", "error_type": "generation"}],
            Turn("a", failure=StreamFailure("generation", "out of memory")),
        ),
        (
            [{"error": ["too long", "no seed"]}],
            Turn(failure=StreamFailure("error", "too long; no seed")),
        ),
        (
            [{"error": {"http_status_code": 422, "message": "no inputs"}}],
            Turn(failure=StreamFailure("422", "no inputs")),
        ),
        (
            [token("a")],
            Turn(
                "a",
                failure=StreamFailure("interrupted", "the stream ended without its last token"),
            ),
        ),
    ],
)
def test_tokens_are_read(events: list[Json | str], turn: Turn) -> None:
    assert read("tgi", sse(*events)) == turn


@each_row("dialect", BOTH)
@each_row(
    ("body", "code"),
    [
        (b"", "empty_stream"),
        (b"data: [DONE]\n\n", "empty_stream"),
        (b"<html>no</html>", "bad_event"),
        (b'{"id": "x"}', "unknown_envelope"),
        (sse({"choices": [{"delta": {"content": "x"}}]}), "unknown_envelope"),
        (b'event: error\ndata: {"detail": "no"}\n\n', "error"),
        (sse({"choices": ["x"]}), "unknown_envelope"),
    ],
)
def test_what_is_no_answer_of_the_api_fails(dialect: str, body: bytes, code: str) -> None:
    failure = read(dialect, body).failure
    assert failure is not None
    assert failure.code == code


# Hostile bytes

KEYS = st.sampled_from(
    (
        *("choices", "text", "index", "finish_reason", "usage", "error", "object", "message"),
        *("token", "special", "generated_text", "details", "error_type", "generated_tokens"),
    )
)
EVENTS = st.lists(ANYTHING | st.dictionaries(KEYS, ANYTHING, max_size=4), max_size=4)


@given(events=EVENTS, done=st.booleans())
@pytest.mark.parametrize("dialect", BOTH)
def test_no_event_of_any_shape_raises_or_breaks_the_protocol(
    dialect: str, events: list[Any], *, done: bool
) -> None:
    assert has_ended(read(dialect, sse(*(json.dumps(each) for each in events), *["[DONE]"] * done)))


# Requests


@pytest.mark.parametrize(
    ("dialect", "uri", "body", "asked"),
    [
        ("openai-completions", "https://x/v1/completions", {"model": "m", "stream": True}, "m"),
        ("tgi", "https://x/models/org/m/generate_stream?a=b", {"inputs": "x"}, "org/m"),
        ("tgi", "https://x/models/org/m", {"inputs": "x", "stream": True}, "org/m"),
        ("tgi", "https://x/generate_stream", {}, ""),
    ],
)
def test_a_request_is_read(dialect: str, uri: str, body: Json, asked: str) -> None:
    request = read_request(dialect, Request(uri=uri, body=json.dumps(body).encode()))
    assert (request.model, request.stream, request.tools) == (asked, True, ())
