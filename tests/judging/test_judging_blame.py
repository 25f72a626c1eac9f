"""Blame and turn facts: which party is responsible, and the digest of a question."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.openai_chat.oracle import OpenAIChatOracle
from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_bytes, request_digest
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.scenario import Scenario
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import Expectation, ExpectedCall
from harness.results.outcome import Blame
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.turn import Tool
from harness.wire.interaction import Due, Interaction, Request
from tests.judging.judging_samples import (
    DONE,
    WRITING,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
)

bodies = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4)


def _asked(body: dict[str, Any]) -> str:
    return request_digest(Request(body=json.dumps(body).encode()))


@given(bodies)
def test_request_digest_ignores_the_model_and_the_order_of_keys(body: dict[str, Any]) -> None:
    turned = dict(reversed(list(body.items())))
    assert _asked({**turned, "model": "x"}) == _asked({**body, "model": "y"})


@given(bodies, bodies)
def test_request_digest_differs_for_other_questions(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    one.pop("model", None)
    other.pop("model", None)
    assert (_asked(one) == _asked(other)) is (one == other)


def test_request_digest_of_invalid_json_depends_on_its_bytes() -> None:
    deep = b"[" * 100_000
    assert len({request_digest(Request(body=body)) for body in (b"{", b"\xff", deep)}) == 3
    assert request_digest(Request()) == ""


TOOLS = (
    Tool("now"),
    Tool("f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),
    Tool("needy", parameters={"type": "object", "required": ["a"]}),
)
STREAM_END = b"data: [DONE]\n\n"


def chunk_bytes(finish: str | None = None, **delta: object) -> bytes:
    value = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def error_object(**fields: object) -> bytes:
    return json.dumps({"error": {"message": "m", **fields}}).encode()


def malformed_chunk(finish: str) -> bytes:
    """Return OpenRouter's last chunk after a malformed call of Gemini."""
    choice = {
        "delta": {},
        "finish_reason": finish,
        "native_finish_reason": "MALFORMED_FUNCTION_CALL",
    }
    return b"data: " + json.dumps({"choices": [choice], "error": {"code": 502}}).encode() + b"\n\n"


def cut_chunk(native: str, **delta: object) -> bytes:
    """Return OpenRouter's chunk of a turn that was cut, whose own finish reason does not say so."""
    choice = {"delta": delta, "finish_reason": "tool_calls", "native_finish_reason": native}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def call_chunk(arguments: str, name: str = "f", call_id: str = "c1") -> bytes:
    function = {"name": name, "arguments": arguments}
    return chunk_bytes(
        tool_calls=[{"index": 0, "id": call_id, "type": "function", "function": function}]
    )


END = chunk_bytes("tool_calls") + STREAM_END
CASES: list[tuple[bytes, Blame]] = [
    (chunk_bytes(content="a") + chunk_bytes("stop"), ""),
    (call_chunk('{"a":1}') + END, ""),
    (call_chunk("", "now") + END, ""),
    (call_chunk('{"a":1}') + chunk_bytes(role=None) + chunk_bytes("stop"), ""),
    (call_chunk('{"a":') + END, "model or provider"),
    (call_chunk('{"a":}') + END, "model or provider"),
    (call_chunk('"a":1}') + END, "provider"),
    (call_chunk("null") + END, "provider"),
    (call_chunk("", "needy") + END, "provider"),
    (call_chunk("{}", "needy") + END, "model"),
    (call_chunk('{"a":') + chunk_bytes("length"), "model"),
    (b"data: {\n\n" + chunk_bytes(content="a") + chunk_bytes("length"), "model"),
    (error_object(code="invalid_api_key"), "request"),
    (error_object(type="invalid_request_error"), "request"),
    (error_object(code=404), "request"),
    (error_object(code="INVALID_ARGUMENT"), "request"),
    (error_object(code=503), "provider"),
    (error_object(code="overloaded_error"), "provider"),
    (b'data: {"result": {"answer": "a"}}\n\n' + STREAM_END, "harness"),
    (call_chunk('{"a":"one"}') + END, "model"),
    (call_chunk("{}", "unknown") + END, "model"),
    (chunk_bytes(content="a") + chunk_bytes("length"), "model"),
    (chunk_bytes(content="a") + chunk_bytes("content_filter"), "model"),
    (chunk_bytes(content="a") + chunk_bytes("max_tokens"), "model"),
    (chunk_bytes(content="a") + chunk_bytes("MAX_TOKENS"), "model"),
    (chunk_bytes(content="a") + chunk_bytes("Content_Filter"), "model"),
    (chunk_bytes(content="a") + chunk_bytes("sensitive"), "model"),
    (call_chunk("", "now") + chunk_bytes("eos"), "model"),
    (chunk_bytes(refusal="no") + chunk_bytes("stop"), "model"),
    (chunk_bytes(content="a") + b"data: " + error_object(failed_generation="") + b"\n\n", "model"),
    (error_object(code="tool_use_failed", failed_generation="{"), "model"),
    (error_object(code="tool_use_failed"), "model"),
    (call_chunk('{"a":1}') + malformed_chunk("stop"), "model"),
    (call_chunk('{"a":') + cut_chunk("max_output_tokens"), "model"),
    (call_chunk("", "needy") + cut_chunk("MAX_TOKENS"), "model"),
    (call_chunk('{"a":') + cut_chunk("tool_calls"), "model or provider"),
    (call_chunk('{"a":1}') + cut_chunk("length"), ""),
    (
        chunk_bytes(reasoning="Hm") + chunk_bytes("length") + b"data: " + error_object(code=400),
        "model",
    ),
    (error_object(code="rate_limit_exceeded"), "request"),
    (error_object(code="ThrottlingException"), "request"),
    (call_chunk('{"a":'), "provider"),
    (call_chunk("{}", ""), "provider"),
    (call_chunk("{}", "") + END, "provider"),
    (call_chunk("{}") + call_chunk("{}", call_id="c2") + END, "provider"),
    (b'data: {"error": {"message": "m"}}\n\n' + STREAM_END, "provider"),
    (b"<html>", "provider"),
    (STREAM_END, "provider"),
    (END, "provider"),
    (b"data: {\n\n" + chunk_bytes(content="a") + chunk_bytes("stop"), "provider"),
]


@pytest.mark.parametrize(("body", "blame"), CASES)
def test_blame_of_bytes(body: bytes, blame: Blame) -> None:
    reading = OpenAIChatOracle().read(Interaction(Request(), 200, (), body, ()))
    assert blame_of_bytes(reading, TOOLS) == blame


@pytest.mark.parametrize(
    ("body", "due", "blame"),
    [
        (chunk_bytes(content="a") + chunk_bytes("stop"), "call", "model"),
        (chunk_bytes(content="a") + chunk_bytes("stop"), "answer", ""),
        (call_chunk('{"a":1}') + END, "call", ""),
        (call_chunk('{"a":1}') + END, "answer", "model"),
        (b"<html>", "call", "provider"),
    ],
)
def test_blame_is_the_models_when_the_kind_of_answer_is_wrong(
    body: bytes, due: Due, blame: Blame
) -> None:
    reading = OpenAIChatOracle().read(Interaction(Request(), 200, (), body, ()))
    assert blame_of_bytes(reading, TOOLS, due) == blame


@pytest.mark.parametrize(
    ("status", "blame"),
    [
        *((400, "request"), (401, "request"), (404, "request"), (429, "request")),
        *((408, "provider"), (424, "provider"), (500, "provider")),
    ],
)
def test_a_client_error_is_blamed_on_the_request(status: int, blame: Blame) -> None:
    one = Interaction(Request(), status, (), error_object(code="x"), (), dialect="openai-chat")
    assert blame_of_bytes(oracle_reading(one), TOOLS, status=status) == blame
    model = Interaction(Request(), status, (), error_object(failed_generation="{"), ())
    assert blame_of_bytes(OpenAIChatOracle().read(model), TOOLS, status=status) == "model"


def test_blame_is_empty_when_the_tools_are_not_known() -> None:
    reading = OpenAIChatOracle().read(
        Interaction(Request(), 200, (), call_chunk("{}", "unknown") + END, ())
    )
    assert blame_of_bytes(reading, None) == ""
    assert blame_of_bytes(reading, ()) == "model"


REFERENCE = load_normalizer("reference")
ENDED = chunk(None, "tool_calls") + DONE
GOOD = call('{"path":"a"}', id="c1", name="writing") + ENDED
HALLUCINATED = call('{"path":"a"}', id="c1", name="reading") + ENDED
INVALID = call('{"path":1}', id="c1", name="writing") + ENDED
EXPECTED = {
    GOOD: ExpectedCall("writing", {"path": "a"}, "c1"),
    HALLUCINATED: ExpectedCall("reading", {"path": "a"}, "c1"),
    INVALID: ExpectedCall("writing", {"path": 1}, "c1"),
}


def scenario(body: bytes) -> Scenario:
    wanted = Expectation(
        "scenario",
        calls=(EXPECTED[body],),
        finish=FinishReason.TOOL_CALLS,
        judged=frozenset(("calls", "finish", "failure", "rejected")),
    )
    return Scenario("s", "t", "x/y", (wanted,))


def blamed(
    body: bytes, normalizer: Normalizer = REFERENCE, *, labelled: bool = False
) -> tuple[bool, Blame]:
    cassette = a_cassette(an_interaction(body, tools=(WRITING,)))
    subject = LoadedSubject(cassette, scenario(body) if labelled else None)
    (facts,) = judge_subject(subject, normalizer, cuts="quick")[0].turns
    return facts.success, facts.blame


def nothing(reads: Iterable[bytes]) -> Iterator[Delta]:
    for _ in reads:
        pass
    yield Finish(FinishReason.LENGTH, "length")


def crash(reads: Iterable[bytes]) -> Iterator[Delta]:
    yield from nothing(reads)
    raise ValueError("no")


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("body", [HALLUCINATED, INVALID])
def test_blame_is_the_models_for_a_call_that_the_request_does_not_allow(
    body: bytes,
    labelled: bool,  # noqa: FBT001 - drawn
) -> None:
    assert blamed(body, labelled=labelled) == (False, "model")


@pytest.mark.parametrize("word", ["max_tokens", "MAX_TOKENS", "LENGTH", "sensitive"])
def test_blame_is_the_models_for_a_truncated_turn_with_any_finish_value(word: str) -> None:
    assert blamed(chunk({"content": "a"}) + chunk(None, word) + DONE) == (False, "model")


@pytest.mark.parametrize("labelled", [True, False])
def test_blame_is_the_normalizers_for_a_usable_turn_without_success(labelled: bool) -> None:  # noqa: FBT001 - drawn
    assert blamed(GOOD, labelled=labelled) == (True, "")
    assert blamed(GOOD, a_normalizer(nothing), labelled=labelled) == (False, "normalizer")


def test_blame_is_the_normalizers_for_a_crash_on_any_bytes() -> None:
    assert blamed(HALLUCINATED, a_normalizer(crash), labelled=True) == (False, "normalizer")


def _turn(*chunks: bytes, text: str = "") -> tuple[bool, str, Blame]:
    """Return success, reason and blame of a finished turn without calls for these chunks."""

    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        yield TextDelta(text)
        yield Finish(FinishReason.STOP, "stop")

    interaction = an_interaction(b"".join(chunks) + chunk(None, "stop") + DONE)
    subject = LoadedSubject(a_cassette(interaction))
    (turn,) = judge_subject(subject, a_normalizer(normalize), cuts="whole")[0].turns
    return turn.success, turn.why, turn.blame


EMPTY = "an empty turn: neither text nor a call"


def test_an_empty_turn_is_not_a_success_and_the_stream_decides_the_blame() -> None:
    role = chunk({"role": "assistant", "content": ""})
    assert _turn(role) == (False, EMPTY, "model or provider")
    assert _turn(role, chunk({"content": " \n"}), text=" \n") == (False, EMPTY, "model or provider")
    assert _turn(role, chunk({"tool_calls": []})) == (False, EMPTY, "provider")
    assert _turn(b'data: {"id": "r"}\n\n', role) == (False, EMPTY, "provider")
    assert _turn(role, chunk({"content": "Hi"}), text="Hi") == (True, "", "")
    odd = chunk({"tool_call": {"name": "writing", "arguments": "{}"}})
    lost = "a call came in a member that the API does not have"
    assert _turn(role, odd) == (False, lost, "harness")
    assert _turn(role, chunk({"content": "Hi"}), odd, text="Hi") == (False, lost, "harness")


def _events(*values: Mapping[str, object]) -> bytes:
    lines = (f"event: {it.get('type', '')}\ndata: {json.dumps(it)}\n\n" for it in values)
    return "".join(lines).encode()


def _response(status: str, **members: object) -> dict[str, object]:
    response = {"id": "r", "object": "response", "status": status, "output": [], **members}
    return {"type": f"response.{status}", "response": response}


_IMAGE: dict[str, object] = {"type": "image_generation_call", "id": "ig", "status": "completed"}
_PART: dict[str, object] = {"type": "image", "data": "UklGRg==", "mime_type": "image/png"}
# The dialect, and a complete response whose only output is not text.
OTHER_OUTPUT: dict[str, bytes] = {
    "openai-responses": _events(
        {"type": "response.output_item.added", "output_index": 0, "item": _IMAGE},
        {"type": "response.output_item.done", "output_index": 0, "item": _IMAGE},
        _response("completed", output=[_IMAGE]),
    ),
    "openai-chat": chunk({"images": [{"type": "image_url", "image_url": {"url": "data:,"}}]})
    + chunk(None, "stop")
    + DONE,
    "mistral": chunk({"content": [{"type": "image_url", "image_url": "data:,"}]}, "stop") + DONE,
    "google-interactions": _events(
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 0, "delta": _PART},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {"status": "completed"}},
    ),
    "gemini": b'data: {"candidates": [{"content": {"parts": [{"inlineData": {"data": "UklG"}}]}, '
    b'"finishReason": "STOP"}]}\n\n',
}


@pytest.mark.parametrize("dialect", OTHER_OUTPUT)
def test_output_that_is_not_text_is_an_answer(dialect: str) -> None:
    body = OTHER_OUTPUT[dialect]
    interaction = Interaction(Request(), 200, (), body, (), dialect=dialect)
    reading = oracle_reading(interaction)
    assert reading.other_output
    assert blame_of_bytes(reading, None) == ""
    (turn,) = judge_subject(LoadedSubject(a_cassette(interaction)), REFERENCE)[0].turns
    assert (turn.success, turn.blame) == (True, "")


def test_the_last_of_two_errors_may_blame_the_request() -> None:
    error = {"type": "error", "error": {"code": "unknown-error", "message": "m"}}
    failed = _response("failed", error={"code": "rate_limit_exceeded", "message": "n"})
    body = _events(error, failed)
    reading = oracle_reading(Interaction(Request(), 200, (), body, (), dialect="openai-responses"))
    assert reading.error == ("unknown-error", "m")
    assert blame_of_bytes(reading, None) == "request"
