"""Rule USAGE-KEPT: the oracle finds the numbers of tokens, and a client reports no other ones."""

import json
from collections.abc import Iterable, Iterator

import pytest
from msgspec.structs import replace

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.judge import LoadedSubject, judge_subject
from harness.results.finding import Level
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction, Read
from tests.judging.judging_samples import DONE, a_cassette, a_normalizer, an_interaction, chunk

SENT = Usage(412, 58)


def _answer(name: str) -> Interaction:
    """Return a stream of the API with text and the usage `SENT`."""
    row = DIALECTS[name]
    word = next(key for key, value in row.oracle.MEANINGS.items() if value is FinishReason.STOP)
    finish = Finish(FinishReason.STOP, word)
    return row.interaction((TextDelta("Hello"), UsageDelta(SENT), finish))


def _level(
    interaction: Interaction, reported: Usage | None, kind: str = "gateway", **policies: str
) -> Level | None:
    """Return the level of the finding for a client that reports these numbers; None without one."""

    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        yield TextDelta("Hello")
        if reported is not None:
            yield UsageDelta(reported)
        yield Finish(FinishReason.STOP, "stop")

    client = a_normalizer(
        normalize,
        dialects=frozenset({interaction.dialect}),
        kind=kind,
        policies=policies,
        capabilities=frozenset({"aws-framing"}),
    )
    result = judge_subject(LoadedSubject(a_cassette(interaction)), client, cuts="whole")[0]
    assert "usage" in LoadedSubject(a_cassette(interaction)).expectations[0].judged
    return next((it.level for it in result.findings if it.rule == "USAGE-KEPT"), None)


@pytest.mark.parametrize("name", DIALECTS)
def test_wrong_numbers_of_tokens_are_a_finding_in_each_dialect(name: str) -> None:
    interaction = _answer(name)
    assert (oracle_reading(interaction).usages or (None,))[0] == SENT
    for wrong in (
        Usage(413, 58),
        Usage(412, 59),
        Usage(58, 412),
        Usage(412, None),
        Usage(824, 116),
    ):
        assert _level(interaction, wrong) == "MUST", wrong
        assert _level(interaction, wrong, "sdk") == "SHOULD", wrong
        assert _level(interaction, wrong, usage="own") == "SHOULD", wrong
    assert _level(interaction, None) == "SHOULD"
    assert _level(interaction, SENT) is None


def _chat(*members: dict[str, object]) -> Interaction:
    """Return a chat completion with one more chunk for each of `members`."""
    text = chunk({"content": "Hello"}) + chunk(None, "stop")
    more = (b"data: " + json.dumps({"choices": [], **each}).encode() + b"\n\n" for each in members)
    return an_interaction(text + b"".join(more) + DONE)


USAGE = {"prompt_tokens": 18, "completion_tokens": 73}


@pytest.mark.parametrize(
    ("members", "reported", "level"),
    [
        (({"usage": USAGE},), Usage(18, 73), None),
        (({"x_groq": {"usage": USAGE}},), Usage(18, 73), None),
        (({"x_groq": {"usage": USAGE}},), Usage(18, 74), "MUST"),
        (({"choices": [{"index": 0, "delta": {}, "usage": USAGE}]},), Usage(18, 73), None),
        (({"choices": [{"index": 0, "delta": {}, "usage": USAGE}]},), Usage(1, 73), "MUST"),
        (({"usage": {**USAGE, "completion_tokens": 1}}, {"usage": USAGE}), Usage(18, 73), None),
        (({"usage": {**USAGE, "completion_tokens": 1}}, {"usage": USAGE}), Usage(18, 1), "MUST"),
        ((), Usage(18, 73), "MUST"),  # the stream has no counts
        ((), Usage(0, 0), None),
        ((), None, None),
    ],
)
def test_the_last_numbers_count_wherever_a_chunk_has_them(
    members: tuple[dict[str, object], ...], reported: Usage | None, level: Level | None
) -> None:
    assert _level(_chat(*members), reported) == level


def test_tokens_that_an_api_counts_apart_may_be_added() -> None:
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 30}
    candidate = {"content": {"parts": [{"text": "Hello"}], "role": "model"}, "finishReason": "STOP"}
    event = {"candidates": [{**candidate, "index": 0}], "usageMetadata": counts}
    body = b"data: " + json.dumps(event).encode() + b"\r\n\r\n"
    interaction = replace(_answer("gemini"), body=body, reads=(Read(len(body)),))
    assert _level(interaction, Usage(9, 4)) is None
    assert _level(interaction, Usage(9, 34)) is None
    assert _level(interaction, Usage(9, 30)) == "MUST"


def test_a_last_object_without_a_count_may_be_kept_alone() -> None:
    first = {"promptTokenCount": 9, "candidatesTokenCount": 7}
    last = {"promptTokenCount": 87, "thoughtsTokenCount": 14}
    content = {"parts": [{"text": "Hello"}]}
    values = (
        {"candidates": [{"content": content}], "usageMetadata": first},
        {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": last},
    )
    body = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in values)
    interaction = replace(_answer("gemini"), body=body, reads=())
    for right in (Usage(87, 7), Usage(87, 21), Usage(87, 14), Usage(87, None)):
        assert _level(interaction, right) is None, right
    for wrong in (Usage(9, 7), Usage(87, 9), Usage(96, 21)):
        assert _level(interaction, wrong) == "MUST", wrong


def test_counts_in_an_undocumented_place_are_not_judged() -> None:
    odd = oracle_reading(_chat({"meta": {"tokens_used": 91}}))
    assert odd.usages is None
