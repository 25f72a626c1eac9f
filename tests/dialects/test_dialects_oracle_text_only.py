"""The oracles of openai-completions and tgi: what is special to them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expectation_from, expected_failure
from harness.turns.fold import fold
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read, Request
from tests.dialects.openai_chat_streams import sse
from tests.dialects.test_dialects_text_only import BOTH, EVENTS, completion, token

ROOT = Path(__file__).parents[2] / "cassettes"
SHIPPED = sorted(
    path
    for pattern in ("huggingface/any/tokens*", "*/*/completion*")
    for path in ROOT.glob(f"{pattern}.yaml")
)


def interaction(dialect: str, body: bytes) -> Interaction:
    return Interaction(Request(), 200, (), body, (Read(len(body)),), dialect=dialect)


def assert_agrees(one: Interaction) -> None:
    """Compare what the reading is sure of."""
    reading = oracle_reading(one)
    turn = fold(DIALECTS[one.dialect].read(iter_frames([one.body]), ()))
    if reading.knows("text"):
        assert reading.text == turn.text
    if not reading.knows("end") or reading.calls is None or reading.alternatives:
        return
    assert (expected_failure(reading) is None) == (turn.failure is None)
    if turn.finish is not None:
        assert reading.finish == turn.finish.raw
    if turn.failure is not None and reading.error is not None:
        assert reading.error[1] in turn.failure.message


def quirks(dialect: str, *events: dict[str, Any] | str, tail: bytes = b"") -> set[str]:
    one = interaction(dialect, sse(*events) + tail)
    assert_agrees(one)
    return set(oracle_reading(one).quirks)


def test_events_without_content_are_noted() -> None:
    whole = completion("a", "stop")
    assert quirks("openai-completions", {"choices": None}, whole, "[DONE]") == {
        "CHUNK-CHOICES-NULL"
    }
    assert quirks("openai-completions", whole) == {"SSE-DONE-MISSING"}
    assert quirks("openai-completions", "[DONE]") == {"STREAM-NO-EVENTS"}
    assert quirks("openai-completions", "null", "[DONE]") == {"SSE-DATA-NULL", "STREAM-NO-EVENTS"}
    assert quirks("openai-completions", whole, tail=b'data: {"us') == {
        "SSE-NO-FINAL-BLANK",
        "SSE-DONE-MISSING",
    }


@pytest.mark.parametrize(
    ("tail", "texts", "failures"),
    [
        (b"data: [DONE]\n\n", ["a", "a"], [None, "interrupted"]),
        (b'data: {"choices": [{"text": "b", "finish_reason": "stop"}]}', ["ab", "a"],
         [None, "interrupted"]),
        (sse(completion("", "abort")), ["a", "a"], ["*", None]),
        (sse(completion("", "stop"), completion("b")), ["ab", "a"], [None, None]),
    ],
)  # fmt: skip
def test_ambiguous_ends_have_two_readings(
    tail: bytes, texts: list[str], failures: list[str | None]
) -> None:
    body = sse(completion("a")) + tail
    expected = expectation_from(oracle_reading(interaction("openai-completions", body))).readings
    assert [each.text for each in expected] == texts
    assert [each.failure for each in expected] == failures
    assert all({"text", "failure"} <= each.judged for each in expected)


def _choice(dialect: str, text: str, index: object) -> dict[str, Any]:
    if dialect == "gemini":
        content = {"content": {"parts": [{"text": text}]}, "index": index}
        return {"candidates": [{**content, "finishReason": "STOP"}]}
    member = {"delta": {"content": text}} if dialect == "mistral" else {"text": text}
    return {"choices": [{**member, "index": index, "finish_reason": "stop"}]}


@pytest.mark.parametrize("dialect", ["openai-completions", "mistral", "gemini"])
def test_another_choice_is_another_answer(dialect: str) -> None:
    first, second = _choice(dialect, "a", 0), _choice(dialect, "b", 1)
    reading = oracle_reading(interaction(dialect, sse(first, second)))
    assert (reading.text, reading.calls, reading.unknown) == ("a", (), ())
    assert reading.quirks >= {"GEM-CANDIDATES" if dialect == "gemini" else "N-CHOICES"}
    turned = oracle_reading(interaction(dialect, sse(second, first)))
    assert [turned.text, *(it.text for it in turned.alternatives)] == ["b", "a"]
    for odd in ("1", True):
        assert not oracle_reading(interaction(dialect, sse(_choice(dialect, "a", odd)))).knows(
            "text"
        )


def test_the_message_of_an_error_without_a_type_is_read() -> None:
    body = b"event: error\n" + sse({"message": "gone"})
    assert_agrees(interaction("tgi", body))
    assert oracle_reading(interaction("tgi", body)).error == ("", "gone")


WORDS = st.sampled_from([None, "stop", "length", "eos_token", "eos", "", "error"])
DETAILS = st.none() | st.fixed_dictionaries({"finish_reason": WORDS})
ALIKE = st.builds(completion, st.text(max_size=3), WORDS) | st.builds(
    token,
    st.text(max_size=3),
    special=st.booleans(),
    generated_text=st.none() | st.text(max_size=3),
    details=DETAILS,
)


@given(events=st.lists(ALIKE, max_size=4) | EVENTS, done=st.booleans(), cut=st.integers(0, 3))
@pytest.mark.parametrize("dialect", BOTH)
def test_oracle_agrees_on_hostile_events(
    dialect: str, events: list[Any], *, done: bool, cut: int
) -> None:
    body = sse(*(json.dumps(each) for each in events), *["[DONE]"] * done)
    assert_agrees(interaction(dialect, body[: len(body) - cut]))


@given(ALIKE)
@pytest.mark.parametrize("dialect", BOTH)
def test_oracle_agrees_on_documents(dialect: str, value: object) -> None:
    assert_agrees(interaction(dialect, json.dumps(value).encode()))
