"""Members that no dialect reads are named, and calls in them make the turn unjudged."""

import json
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.unread import unread_members
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.results.outcome import Outcome
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    call_deltas,
)
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import a_cassette

REFERENCE = load_normalizer("reference")
TEXT = "It snows in Oslo."
# A dialect, the start of an event with content, and the path of a member put into it.
PLACES = {
    "openai-chat": ('"delta": {', "choices.delta"),
    "anthropic": ('"delta": {', "delta"),
    "gemini": ('"content": {', "candidates.content"),
    "mistral": ('"delta": {', "choices.delta"),
    "cohere": ('"message": {', "delta.message"),
    "ollama": ('"message": {', "message"),
    "openai-responses": ('"item": {', "item"),
    "google-interactions": ('"delta": {', "delta"),
}

_THINKING = ("openai-chat", "anthropic", "gemini", "mistral", "cohere", "ollama")


def _answer(name: str) -> Interaction:
    word = next(k for k, v in DIALECTS[name].oracle.MEANINGS.items() if v is FinishReason.STOP)
    thought = (ReasoningDelta("Look at the weather."),) if name in _THINKING else ()
    return DIALECTS[name].interaction((*thought, TextDelta(TEXT), Finish(FinishReason.STOP, word)))


def _with_member(name: str, member: dict[str, object]) -> Interaction:
    """Return an answer with one more member in its first event with content."""
    answer = _answer(name)
    start = PLACES[name][0].encode()
    added = json.dumps(member)[1:-1].encode()
    assert start in answer.body
    body = answer.body.replace(start + b"}", start + added + b"}", 1)
    if body == answer.body:
        body = answer.body.replace(start, start + added + b", ", 1)
    return replace(answer, body=body, reads=())


def _unread(interaction: Interaction) -> tuple[str, ...]:
    return unread_members(interaction, oracle_reading(interaction))


@pytest.mark.parametrize("name", DIALECTS)
def test_an_answer_of_the_api_has_no_unread_member(name: str) -> None:
    assert _unread(_answer(name)) == ()


@pytest.mark.parametrize("name", PLACES)
def test_text_in_an_unknown_member_is_named_and_the_turn_is_judged(name: str) -> None:
    odd = _with_member(name, {"mood": "calm", "notes": [{"line": "Bring a coat."}], "count": 3})
    place = PLACES[name][1]
    assert set(_unread(odd)) == {f"{place}.mood", f"{place}.notes.line"}
    result, _ = judge_subject(LoadedSubject(a_cassette(odd)), REFERENCE, cuts="whole")
    assert result.outcome is Outcome.PASS


@pytest.mark.parametrize("name", PLACES)
def test_a_call_in_an_unknown_member_is_unjudged(name: str) -> None:
    odd = _with_member(name, {"odd_call": {"name": "get_weather", "arguments": "{}"}})
    for client in (REFERENCE, _calling(name)):
        result, _ = judge_subject(LoadedSubject(a_cassette(odd)), client, cuts="whole")
        assert result.outcome is Outcome.UNJUDGED, result.findings


def _calling(name: str) -> Normalizer:
    """Return a client that reads the call."""

    def normalize(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
        *deltas, end = REFERENCE.normalize(interaction, reads)
        yield from (*deltas, *call_deltas(0, "c1", "get_weather", "{}"), end)

    return replace(REFERENCE, normalize=normalize, streams=False, dialects=frozenset((name,)))
