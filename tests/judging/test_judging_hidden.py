"""What a client declares not to expose is not judged, and shown as not judged."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.judging.expected import NOT_EXPOSED
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.protocol import Hidden, Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallStart,
    call_deltas,
)
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction

SUBJECT = LoadedSubject(
    Cassette(
        "c",
        (
            DIALECTS["openai-chat"].interaction(
                (
                    ReasoningDelta("Hm."),
                    TextDelta("Let me look."),
                    *call_deltas(0, "call_a", "get_weather", '{"city": "Oslo"}'),
                    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
                )
            ),
        ),
        Origin("emulated"),
    )
)


@dataclass
class Without:
    """`reference` with each delta passed through `change`; None drops it."""

    change: Callable[[Delta], Delta | None]

    def __call__(self, interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
        deltas = map(self.change, reference.normalize(interaction, reads))
        return (delta for delta in deltas if delta is not None)


def drops(kind: type) -> Callable[[Delta], Delta | None]:
    return lambda delta: None if isinstance(delta, kind) else delta


def _other_id(delta: Delta) -> Delta:
    return replace(delta, id="") if isinstance(delta, ToolCallStart) else delta


def _other_finish(delta: Delta) -> Delta:
    return Finish(FinishReason.OTHER, "") if isinstance(delta, Finish) else delta


LOSSES: dict[Hidden, Callable[[Delta], Delta | None]] = {
    "text": drops(TextDelta),
    "reasoning": drops(ReasoningDelta),
    "finish": _other_finish,
    "ids": _other_id,
}


def judged(hidden: Hidden, *hides: Hidden) -> Result:
    change = Without(LOSSES[hidden])
    client = Normalizer("n", change, hides=frozenset(hides), dialects=reference.dialects)
    return judge_subject(SUBJECT, client, cuts="quick")[0]


@pytest.mark.parametrize("hidden", LOSSES)
def test_only_what_a_client_hides_is_not_judged(hidden: Hidden) -> None:
    assert judged(hidden).findings != ()
    found = judged(hidden, hidden)
    assert (found.outcome, found.findings) == (Outcome.PASS, ())
    others = tuple(each for each in LOSSES if each != hidden)
    assert judged(hidden, *others).findings == judged(hidden).findings


@pytest.mark.parametrize("reason", [FinishReason.TOOL_CALLS, FinishReason.LENGTH])
def test_a_client_may_hide_the_word_of_the_provider_and_not_its_meaning(
    reason: FinishReason,
) -> None:
    change = Without(lambda it: Finish(reason, "") if isinstance(it, Finish) else it)
    client = Normalizer("n", change, hides=frozenset(("finish_raw",)), dialects=reference.dialects)
    rules = {it.rule for it in judge_subject(SUBJECT, client, cuts="quick")[0].findings}
    assert rules == (set() if reason is FinishReason.TOOL_CALLS else {"FINISH-REASON"})


@pytest.mark.parametrize("hidden", ["text", "reasoning", "finish"])
def test_what_a_client_hides_is_shown_as_not_judged(hidden: Hidden) -> None:
    assert judged(hidden, hidden).turns[0].unjudged == {hidden: NOT_EXPOSED}
    assert judged(hidden).turns[0].unjudged == {}
