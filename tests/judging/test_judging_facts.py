"""Facts of a turn: what a right normalizer hands on of a model's fault is not its own."""

from collections.abc import Iterable, Iterator

import pytest

from harness.judging.expectation import Expectation, ExpectedCall
from harness.judging.judge import Loaded, judge
from harness.judging.results import Blame
from harness.judging.scenario import Scenario
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta, Finish, FinishReason
from tests.judging.judging_samples import (
    DONE,
    WRITING,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
)

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
    subject = Loaded(cassette, scenario(body) if labelled else None)
    (facts,) = judge(subject, normalizer, cuts="quick")[0].turns
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
def test_a_call_that_the_request_does_not_allow_is_the_models(
    body: bytes,
    labelled: bool,  # noqa: FBT001 - drawn
) -> None:
    assert blamed(body, labelled=labelled) == (False, "model")


@pytest.mark.parametrize("word", ["max_tokens", "MAX_TOKENS", "LENGTH", "sensitive"])
def test_a_turn_cut_short_in_any_spelling_is_the_models(word: str) -> None:
    assert blamed(chunk({"content": "a"}) + chunk(None, word) + DONE) == (False, "model")


@pytest.mark.parametrize("labelled", [True, False])
def test_a_usable_turn_that_came_to_nothing_is_the_normalizers(labelled: bool) -> None:  # noqa: FBT001 - drawn
    assert blamed(GOOD, labelled=labelled) == (True, "")
    assert blamed(GOOD, a_normalizer(nothing), labelled=labelled) == (False, "normalizer")


def test_a_crash_is_the_normalizers_whatever_the_bytes_hold() -> None:
    assert blamed(HALLUCINATED, a_normalizer(crash), labelled=True) == (False, "normalizer")
