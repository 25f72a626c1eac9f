"""The strict readings of openai-completions and tgi agree with the readers, or abstain."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expected_failure
from harness.turns.fold import fold
from harness.wire import cassette_file
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
    if reading.text_known:
        assert reading.text == turn.text
    if not reading.end_known or reading.calls is None:
        return
    assert (expected_failure(reading) is None) == (turn.failure is None)
    if turn.finish is not None:
        assert reading.finish == turn.finish.raw
    if turn.failure is not None and reading.error is not None:
        assert reading.error[1] in turn.failure.message


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_agrees_with_the_reader_on_what_ships(path: Path) -> None:
    for one in cassette_file.load_cassette(path).interactions:
        assert_agrees(one)


def test_something_ships() -> None:
    assert len(SHIPPED) >= 50


def quirks(dialect: str, *events: dict[str, Any] | str, tail: bytes = b"") -> set[str]:
    one = interaction(dialect, sse(*events) + tail)
    assert_agrees(one)
    return set(oracle_reading(one).quirks)


def test_it_notes_what_says_nothing() -> None:
    whole = completion("a", "stop")
    assert quirks("openai-completions", {"choices": None}, whole) == {"CHUNK-CHOICES-NULL"}
    assert quirks("openai-completions", "[DONE]") == {"STREAM-NO-EVENTS"}
    assert quirks("openai-completions", "null", "[DONE]") == {"SSE-DATA-NULL", "STREAM-NO-EVENTS"}
    assert quirks("openai-completions", whole, tail=b'data: {"us') == {"SSE-NO-FINAL-BLANK"}


def test_it_reads_the_first_choice_and_abstains() -> None:
    second = {"choices": [{"text": "b", "index": 1}]}
    body = sse(completion("a"), second, completion("c", "stop"))
    reading = oracle_reading(interaction("openai-completions", body))
    assert (reading.text, reading.finish, reading.calls) == ("ac", "stop", None)
    assert reading.quirks == {"N-CHOICES"}


def test_the_words_of_an_error_without_a_kind_are_known() -> None:
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
def test_it_never_raises_and_agrees_with_the_reader_where_it_is_sure(
    dialect: str, events: list[Any], *, done: bool, cut: int
) -> None:
    body = sse(*(json.dumps(each) for each in events), *["[DONE]"] * done)
    assert_agrees(interaction(dialect, body[: len(body) - cut]))


@given(st.binary(max_size=60))
@pytest.mark.parametrize("dialect", BOTH)
def test_it_never_raises_whatever_the_bytes(dialect: str, body: bytes) -> None:
    assert_agrees(interaction(dialect, body))


@given(ALIKE)
@pytest.mark.parametrize("dialect", BOTH)
def test_it_agrees_on_documents(dialect: str, value: object) -> None:
    assert_agrees(interaction(dialect, json.dumps(value).encode()))
